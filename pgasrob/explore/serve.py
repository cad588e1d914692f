"""Start the server, open the page, end on Ctrl-C."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from threading import Thread

import uvicorn

from pgasrob.explore.app import Shown, application
from pgasrob.explore.worker import Workers

GRACE = 2
"""Seconds that requests may take once the server is told to end."""
MOST_CONNECTIONS = 64


class _Server(uvicorn.Server):
    """Tells when it answers, and gives up what is worked on when it is to end."""

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


def serve(shown: Shown, port: int, browser: bool, told: Callable[[str], None]) -> None:
    """Serve ``shown`` on ``port`` (any that is free when 0) of this machine alone until Ctrl-C.

    ``told`` is called with the address once it answers; ``browser``: open it there. Raises OSError where the port is
    taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
        address = f"http://127.0.0.1:{port}/{token}/"

        def ready() -> None:
            told(address)
            if browser:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # it may take its time

        workers = Workers()
        config = uvicorn.Config(
            application(shown, port, token, workers),
            log_level="error",
            access_log=False,
            server_header=False,
            http="h11",
            ws="none",
            lifespan="on",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=16 * 1024,
        )
        try:
            _Server(config, workers, ready).run(sockets=[listening])
        except KeyboardInterrupt:  # uvicorn hands it on when it has ended
            return
