"""Refuses requests that are for another address, come from another page, do not know the token, or are too large.

A page of another origin could send requests to this machine, and with a name of its own that is made to point here
(DNS rebinding) read the answers: the header Host gives the latter away, Origin and Sec-Fetch-Site the former. The
token, a part of every address, keeps out the other users of the machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgasrob.explore.request_bounds import MOST_BYTES

NAMES = ("127.0.0.1", "localhost")
ALWAYS = {
    b"cache-control": b"no-store",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}
"""Headers of every answer, unless it has its own."""


class Guard:
    """Hands requests on to ``app``, at ``port`` of this machine with ``token`` in each address, or refuses them."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = [f"{name}:{port}" for name in NAMES]
        self._origins = [f"http://{host}" for host in self._hosts]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                missing = [(name, value) for name, value in ALWAYS.items() if name not in own]
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        request = Request(scope)
        refused = self._refused(request)
        if refused:
            status, why = refused
            headers = {"Connection": "close"} if status == 413 else {}
            answer = PlainTextResponse(f"pgasrob explore refuses this request: {why}\n", status, headers)
            await answer(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _refused(self, request: Request) -> tuple[int, str] | None:
        """The status of HTTP and the reason of a refusal; None when the request may be answered."""
        headers: Mapping[str, str] = request.headers
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            named = ", ".join(hosts) or "none"
            return 403, f"it is for the host {named[:80]!r}, and this is {self._hosts[0]} (header Host)"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return 403, f"it comes from a page of {origin[:80]!r}, and other origins are not served (header Origin)"
        opens = request.method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not opens:
            return 403, "it comes from a page of another origin (header Sec-Fetch-Site)"
        token = request.url.path.split("/")[1]
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return 403, "the token in its address is wrong; open the address that `pgasrob explore` has printed"
        if request.method == "POST":
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                return 415, f"its body is {kind or 'of no type'!r}, and application/json is expected"
            length = headers.get("content-length", "")
            if length.isascii() and length.isdigit() and int(length[:18]) > MOST_BYTES:
                return 413, f"its body has {length[:18]} bytes, and at most {MOST_BYTES:,} are taken"
        return None
