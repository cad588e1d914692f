"""Tells the editor what is being looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer


@asynccontextmanager
async def progress(server: LanguageServer, title: str) -> AsyncIterator[Callable[[str], None]]:
    """A context in which the editor shows the ``title`` and what was told last; nothing where it cannot."""
    if not get_capability(server.client_capabilities, "window.work_done_progress", False):
        yield lambda message: None
        return
    token, shown = str(uuid4()), server.work_done_progress
    # The answer comes whether the work is still wanted or not.
    await asyncio.shield(shown.create_async(token))
    shown.begin(token, types.WorkDoneProgressBegin(title))
    try:
        yield lambda message: shown.report(token, types.WorkDoneProgressReport(message=message))
    finally:
        shown.end(token, types.WorkDoneProgressEnd())
        del shown.tokens[token]
