"""An editor for tests: a client of pytest-lsp that talks to `pgasrob lsp`, and waits for what is published."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

PATIENCE = 120
"""Seconds after which a test gives up: nothing takes that long, however busy the machine."""

Published = Sequence[types.Diagnostic]


class Editor(LanguageClient):
    """Its texts are never on the disk unless a test has put them there."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.published: dict[str, tuple[int | None, Published]] = {}
        """By URI: the version that the latest diagnostics are about, and these."""
        self.shown: list[str] = []
        """What was shown of progress."""
        self._news = asyncio.Condition()

        async def published(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self.published[params.uri] = params.version, params.diagnostics
                self._news.notify_all()

        async def progress(params: types.ProgressParams) -> None:
            async with self._news:
                if (message := params.value.get("message")) is not None:
                    self.shown.append(message)
                self._news.notify_all()

        others = {types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: published, types.PROGRESS: progress}
        register_lsp_features(self, {**DEFAULT_CLIENT_FEATURES, **others})

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until this holds of what has been published."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(holds)

    async def begin(self, encodings: Sequence[str] | None = None) -> types.InitializeResult:
        """Say hello, as Visual Studio Code does."""
        capabilities = client_capabilities("visual-studio-code")
        assert capabilities.general
        capabilities.general.position_encodings = encodings
        return await self.initialize_session(types.InitializeParams(capabilities=capabilities))

    def open(self, path: Path | str, text: str, language: str | None = None) -> str:
        """Open a text, the first version; gives its URI."""
        uri = path.as_uri() if isinstance(path, Path) else path
        language = language or ("pgas" if uri.endswith(".pgas") else "c")
        self.published.pop(uri, None)
        self.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text)))
        return uri

    def change(self, uri: str, text: str, version: int) -> None:
        """Another version of the text."""
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def close(self, uri: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def findings(self, uri: str, version: int = 1) -> Published:
        """The first diagnostics of this version."""
        await self.until(lambda: self.published.get(uri, (None, ()))[0] == version)
        return self.published[uri][1]


def server(*options: str) -> ClientServerConfig:
    """How a server is started, with options of the command."""
    return ClientServerConfig([sys.executable, "-m", "pgasrob", "lsp", *options], client_factory=Editor)


@asynccontextmanager
async def started(*options: str) -> AsyncIterator[Editor]:
    """An editor with a server of its own, which ends as it should."""
    editor = await server(*options).start()
    assert isinstance(editor, Editor) and editor._server
    await editor.begin()
    yield editor
    await editor.shutdown_session()
    assert editor._server.returncode == 0
    await editor.stop()
