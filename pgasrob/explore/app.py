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

from pgasrob.diagnostics import visible
from pgasrob.explore.answer_processes import Workers
from pgasrob.explore.answers import ANSWERS, Answer
from pgasrob.explore.asked_run import Refused, asked_run
from pgasrob.explore.guard import Guard
from pgasrob.explore.link import Linked
from pgasrob.explore.request_bounds import BODY_SECONDS, MOST_BYTES, MOST_NODES
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import Reading
from pgasrob.render.explorer import embedded
from pgasrob.render.page import filled, framed, part

SCRIPTS = ("link.js", "server.js", "runs.js", "editor.js", "panels.js", "live.js")


@dataclass(frozen=True, slots=True)
class Shown:
    """The program and the run that the page opens with, and how programs are read. ``file`` is the program's own."""

    file: str
    linked: Linked
    front_end: FrontEnd
    reading: Reading

    @property
    def names(self) -> dict[str, str]:
        """The file name of a text in the page, by language; headers are looked for beside the program's own file."""
        others = {"pgas": "program.pgas", "c": "program.c"}
        return {**others, self.linked.language: self.file}


def page(shown: Shown) -> Response:
    """The page. Its security policy runs no script but its own, and lets it connect to no other server."""
    script = "\n".join(part(name, "explore") for name in SCRIPTS)
    linked = shown.linked
    opening = {
        "file": shown.file,
        "text": linked.text,
        "language": linked.language,
        "nodes": linked.nodes,
        "run": list(linked.run),
        "mostNodes": MOST_NODES,
    }
    name = PurePath(shown.file).name
    values = {"file": escape(visible(shown.file)), "name": escape(visible(name)), "opening": embedded(opening)}
    body = filled(part("live.html", "explore"), {**values, "script": script})
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    style = part("style.css") + part("live.css", "explore")
    text = framed(f"{visible(name)}: explorer", style, body, script, connects=True)
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


async def _body(request: Request) -> bytes:
    """The body of ``request``, read up to the bounds: its header may not give the length, or a wrong one. Raises
    :class:`Refused`."""
    body = b""
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
    return body


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """What ``work`` gives; it is given up when the client disconnects. Raises :class:`Refused`."""
    found: list[Answer] = []
    refused: list[Refused] = []
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            found.append(await work)
        except Refused as why:
            refused.append(why)
        tasks.cancel_scope.cancel()
    if found:
        return found[0]
    raise refused[0] if refused else Refused(499, "nobody waits for the answer")


def application(shown: Shown, port: int, token: str, workers: Workers) -> Guard:
    """The application for ``shown`` at ``port`` of this machine, with ``token`` in each address; ``workers`` answer."""

    async def show(request: Request) -> Response:
        return page(shown)

    async def answer(request: Request, asked: str) -> Response:
        try:
            try:
                value = json.loads(await _body(request))
            except (ValueError, RecursionError):
                raise Refused(400, "its body is no JSON") from None
            run = asked_run(value, shown.names, shown.front_end, shown.reading)
            status, text = await _unless_gone(request, workers.answer(asked, run))
        except Refused as refused:
            return JSONResponse({"refused": str(refused)}, refused.status)
        return Response(text, status, media_type="application/json")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(workers.warm_up)
            yield
            tasks.cancel_scope.cancel()

    routes = [
        Route(f"/{token}/", show),
        *(Route(f"/{token}/{asked}", partial(answer, asked=asked), methods=["POST"]) for asked in ANSWERS),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), port, token)
