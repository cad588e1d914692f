"""The web application (Starlette): the page, and the routes by which it asks for answers."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import PurePath
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pgasrob.diagnostics import visible
from pgasrob.explore.answer_processes import Turn, Workers
from pgasrob.explore.answers import ANSWERS, Answer
from pgasrob.explore.asked_run import Reads, Refused, asked_run
from pgasrob.explore.example_menu import example, menu
from pgasrob.explore.guard import Guard, refusal
from pgasrob.explore.link import Linked
from pgasrob.explore.rate import owner
from pgasrob.explore.request_bounds import BODY_SECONDS, GONE_SECONDS, MOST_BYTES, MOST_NODES, WORKING_SECONDS
from pgasrob.explore.service import Service
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import Reading
from pgasrob.render.explorer import embedded
from pgasrob.render.page import filled, framed, part

SCRIPTS = ("link.js", "server.js", "runs.js", "editor.js", "panels.js", "live.js", "check.js")


@dataclass(frozen=True, slots=True)
class Shown:
    """The program and the run that the page opens with, and how programs are read. ``file`` is the program's own;
    ``alone``: no program reads any other."""

    file: str
    linked: Linked
    front_end: FrontEnd
    reading: Reading
    alone: bool = False

    @property
    def reads(self) -> Reads:
        """How the texts of the page are read; headers are looked for beside the program's own file."""
        names = {"pgas": "program.pgas", "c": "program.c"}
        if not self.alone:
            names[self.linked.language] = self.file
        return Reads(tuple(names.items()), self.front_end, self.reading, self.alone)


def page(shown: Shown) -> Response:
    """The page. Its security policy runs no script but its own, and lets it connect to no other server."""
    script = "\n".join([part("terms.js"), *(part(name, "explore") for name in SCRIPTS)])
    linked = shown.linked
    opening = {
        "file": "" if shown.alone else shown.file,
        "text": linked.text,
        "language": linked.language,
        "nodes": linked.nodes,
        "run": list(linked.run),
        "mostNodes": MOST_NODES,
        "examples": menu(),
    }
    name = PurePath(shown.file).name
    values = {"file": escape(visible(shown.file)), "name": escape(visible(name)), "opening": embedded(opening)}
    body = filled(part("live.html", "explore"), {**values, "script": script})
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    style = "".join((part("style.css"), part("live.css", "explore"), part("check.css", "explore")))
    text = framed(f"{visible(name)}: explorer", style, body, script, connects=True)
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


async def _body(request: Request) -> Any:
    """The JSON value in the body of ``request``, read up to the bounds: its header may not give the length, or a wrong
    one. Raises :class:`Refused`."""
    body = bytearray()
    try:
        with anyio.fail_after(BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > MOST_BYTES:
                    raise Refused(413, f"its body is larger than {MOST_BYTES:,} bytes")
    except TimeoutError:
        raise Refused(408, f"its body was not there after {BODY_SECONDS:g} s") from None
    except ClientDisconnect:
        raise Refused(400, "its body came to no end") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "its body is no JSON") from None


@dataclass(frozen=True, slots=True)
class _Answering:
    """The response that ``work`` gives. Where that takes its time the client gets a line of JSON now and then that says
    how many requests are ``before`` its own, and the answer as the last line. It is given up soon after the client has
    disconnected: not at once, for a new process costs more than most answers."""

    work: Coroutine[Any, Any, Answer]
    workers: Workers
    turn: Turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found: list[Answer] = []
        begun = False

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            await anyio.sleep(GONE_SECONDS)
            tasks.cancel_scope.cancel()

        async def tell() -> None:
            nonlocal begun
            while True:
                await anyio.sleep(WORKING_SECONDS)
                if not begun:
                    begun = True
                    await send(_start(200, b"application/x-ndjson"))
                before = self.workers.before(self.turn)
                line = json.dumps({"before": before}) + "\n"
                await send({"type": "http.response.body", "body": line.encode(), "more_body": True})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            tasks.start_soon(tell)
            try:
                found.append(await self.work)
            except Refused as refused:
                found.append((refused.status, bytes(refusal(refused).body).decode()))
            tasks.cancel_scope.cancel()
        status, text = found[0] if found else (499, "{}")  # nobody waits for it
        if not begun:
            await send(_start(status, b"application/json"))
        await send({"type": "http.response.body", "body": text.encode()})


def _start(status: int, kind: bytes) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]}


def application(shown: Shown, service: Service, workers: Workers) -> Guard:
    """The application that shows ``shown`` to whom the ``service`` is for; ``workers`` answer."""
    reads = shown.reads

    shown_page = page(shown)

    async def show(request: Request) -> Response:
        return shown_page

    async def answer(request: Request, asked: str) -> Any:
        try:
            run = asked_run(await _body(request), reads)
            turn = workers.turn(asked, owner(request.client.host) if request.client else "")
        except Refused as refused:
            return refusal(refused)
        return _Answering(workers.answer(turn, run), workers, turn)

    async def one_example(request: Request) -> Response:
        try:
            return JSONResponse(example(await _body(request)))
        except Refused as refused:
            return refusal(refused)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(workers.warm_up)
            yield
            tasks.cancel_scope.cancel()

    routes = [
        Route(service.path, show),
        *(Route(f"{service.path}{asked}", partial(answer, asked=asked), methods=["POST"]) for asked in ANSWERS),
        Route(f"{service.path}example", one_example, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), service)
