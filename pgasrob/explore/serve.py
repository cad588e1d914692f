"""Starts the server, opens the page in a browser, and ends on Ctrl-C."""

from __future__ import annotations

import asyncio
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pgasrob.explore.answer_processes import Workers
from pgasrob.explore.app import Shown, application
from pgasrob.explore.request_bounds import HEAD_SECONDS
from pgasrob.scratch_folders import scratch_folder

GRACE = 2
"""Seconds that requests may take once the server is asked to end."""
MOST_CONNECTIONS = 64


class _Protocol(H11Protocol):
    """Closes a connection that brings no head of a request in time, so that idle ones cannot use up all connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._look(silent=False)

    def _look(self, silent: bool) -> None:
        """Close the connection if it waits for a head now and was already waiting, ``silent``, at the last look."""
        if self.transport.is_closing():
            return
        waits = self.conn.their_state is h11.IDLE
        if waits and silent:
            self.transport.close()
        else:
            self.loop.call_later(HEAD_SECONDS, self._look, waits)


class _Server(uvicorn.Server):
    """Calls ``ready`` once it answers requests, and gives up unfinished answers when it is to end."""

    def __init__(self, config: uvicorn.Config, workers: Workers, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._workers, self._ready = workers, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._workers.end()
        await super().shutdown(sockets)


def _open(address: str, folder: Path) -> None:
    """Open ``address`` in the browser, by a page in a ``folder`` that is this user's alone: other users of the machine
    see the arguments of the browser."""
    page = folder / "explorer.html"
    page.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
    webbrowser.open(page.as_uri())


def serve(shown: Shown, port: int, browser: bool, announce: Callable[[str], None]) -> None:
    """Serve ``shown`` on ``port`` (any that is free when 0) of this machine alone until Ctrl-C.

    ``announce`` gets the address once the server answers; ``browser``: open it there. Raises OSError where the port
    is taken, and KeyboardInterrupt at its end.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with listening, scratch_folder() as folder:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
        address = f"http://127.0.0.1:{port}/{token}/"

        def ready() -> None:
            announce(address)
            if browser:
                Thread(target=_open, args=(address, folder), daemon=True).start()  # it may take its time

        workers = Workers()
        config = uvicorn.Config(
            application(shown, port, token, workers),
            log_level="error",
            access_log=False,
            server_header=False,
            http=_Protocol,
            ws="none",
            lifespan="on",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=16 * 1024,
        )
        _Server(config, workers, ready).run(sockets=[listening])
