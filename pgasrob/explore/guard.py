"""Refuses requests that are for another address, come from another page, do not know the token, or are too many or too
large.

A page of another origin could send requests to this machine, and with a name of its own that is made to point here
(DNS rebinding) read the answers: the header Host gives the latter away, Origin and Sec-Fetch-Site the former. The
token, a part of every address, keeps out the other users of the machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgasrob.explore.asked_run import Refused
from pgasrob.explore.rate import Rate
from pgasrob.explore.request_bounds import COSTS, MOST_BYTES
from pgasrob.explore.service import Service

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
ENDING = (400, 408, 413)
"""Refusals after which the connection is closed: what follows may be the rest of a body."""


class Guard:
    """Hands the requests of a ``service`` on to ``app``, or refuses them."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service, self._rate = app, service, Rate(service.rate)

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

        try:
            self._look_at(Request(scope))
        except Refused as refused:
            await self._answer(refused)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    def _answer(self, refused: Refused) -> Response:
        if refused.wait:
            return refusal(refused)
        headers = {"Connection": "close"} if refused.status in ENDING else {}
        text = f"pgasrob {self._service.command} refuses this request: {refused}\n"
        return PlainTextResponse(text, refused.status, headers)

    def _look_at(self, request: Request) -> None:
        """Raises :class:`Refused` when the request may not be answered."""
        headers: Mapping[str, str] = request.headers
        hosts, known = request.headers.getlist("host"), self._service.hosts
        if len(hosts) != 1 or (known is not None and hosts[0].lower() not in known):
            named = ", ".join(hosts) or "none"
            this = known[0] if known else "one server"
            raise Refused(403, f"it is for the host {named[:80]!r}, and this is {this} (header Host)")
        origin, schemes = headers.get("origin"), ("http", "https") if known is None else ("http",)
        own = known or hosts
        if origin is not None and origin.lower() not in {
            f"{each}://{host.lower()}" for each in schemes for host in own
        }:
            raise Refused(
                403, f"it comes from a page of {origin[:80]!r}, and other origins are not served (header Origin)"
            )
        opens = request.method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not opens:
            raise Refused(403, "it comes from a page of another origin (header Sec-Fetch-Site)")
        path = request.scope["path"].split("/")  # `request.url` is made of the header Host, too
        first = "".join(path[1:2])
        if self._service.token and not secrets.compare_digest(first.encode(), self._service.token.encode()):
            raise Refused(403, "the token in its address is wrong; open the address that `pgasrob explore` has printed")
        if request.method == "POST":
            _look_at_body(headers)
        asked = path[-1] if request.method == "POST" else ""
        if request.client and (wait := self._rate.wait(request.client.host, COSTS.get(asked, 1))):
            most = f"an address may make {self._service.rate} in a minute (a check counts for {COSTS['check']})"
            raise Refused(429, f"these are too many requests: {most}; ask again in {wait} s", wait)


def _look_at_body(headers: Mapping[str, str]) -> None:
    """Raises :class:`Refused` for headers of a body that is not taken."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"its body is {kind or 'of no type'!r}, and application/json is expected")
    length = headers.get("content-length", "")
    if length and "transfer-encoding" in headers:
        raise Refused(400, "it says twice how long its body is (Content-Length and Transfer-Encoding)")
    if length.isascii() and length.isdigit() and int(length[:18]) > MOST_BYTES:
        raise Refused(413, f"its body has {length[:18]} bytes, and at most {MOST_BYTES:,} are taken")


def refusal(refused: Refused) -> Response:
    """A refusal as the page reads it."""
    said = {"refused": str(refused)} | ({"wait": refused.wait} if refused.wait else {})
    headers = {"Retry-After": str(refused.wait)} if refused.wait else {}
    if refused.status in ENDING:
        headers["Connection"] = "close"
    return JSONResponse(said, refused.status, headers)
