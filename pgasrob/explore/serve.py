"""Starts the server, opens the page in a browser, and ends on Ctrl-C."""

from __future__ import annotations

import logging
import socket
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Thread

import uvicorn

from pgasrob.explore.answer_processes import Workers
from pgasrob.explore.app import Shown, application
from pgasrob.explore.connections import Protocol
from pgasrob.explore.service import Service
from pgasrob.scratch_folders import scratch_folder

GRACE = 2
"""Seconds that requests may take once the server is asked to end."""


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
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # that answers are given up now is no error
        self._workers.end()
        await super().shutdown(sockets)


def _open(address: str, folder: Path) -> None:
    """Open ``address`` in the browser, by a page in a ``folder`` that is this user's alone: other users of the machine
    see the arguments of the browser."""
    page = folder / "explorer.html"
    page.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
    webbrowser.open(page.as_uri())


def serve(shown: Shown, service: Service, browser: bool, announce: Callable[[str], None]) -> None:
    """Serve ``shown`` as ``service`` says until Ctrl-C.

    ``announce`` gets the address once the server answers; ``browser``: open it there. Raises OSError where the port
    is taken or the host is not this machine, and KeyboardInterrupt at its end.
    """
    family, kind, protocol, _, where = socket.getaddrinfo(
        service.host, service.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as listening, ExitStack() as stack:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        service = replace(service, port=listening.getsockname()[1])
        address = f"http://{service.written}:{service.port}{service.path}"

        folder = stack.enter_context(scratch_folder()) if browser else None  # else nothing is written

        def ready() -> None:
            announce(address)
            if folder is not None:
                Thread(target=_open, args=(address, folder), daemon=True).start()  # it may take its time

        # asyncio warns where a process is killed that has just ended by itself: `Popen.kill` has waited for it then.
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        workers = Workers(service)
        config = uvicorn.Config(
            application(shown, service, workers),
            log_level="error",
            access_log=False,
            server_header=False,
            http=Protocol,
            ws="none",
            lifespan="on",
            proxy_headers=bool(service.behind),
            forwarded_allow_ips=service.behind,
            limit_concurrency=service.connections,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=16 * 1024,
        )
        _Server(config, workers, ready).run(sockets=[listening])
