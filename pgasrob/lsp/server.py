"""The server: what the editor tells of, and what it is told."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import AsyncIterator, Callable, Generator
from functools import partial
from typing import Any, TypeVar, TypeVarTuple
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from pgasrob import __version__, bounded
from pgasrob.lsp import look
from pgasrob.lsp.diagnostics import diagnostics, of_the_whole
from pgasrob.lsp.documents import Documents, path_of
from pgasrob.lsp.look import Found, Question, unknown
from pgasrob.lsp.progress import progress
from pgasrob.lsp.settings import DEBOUNCE, GRACE, MOST_AT_ONCE, MOST_TEXT, ROOM, Settings
from pgasrob.render.english import on_nodes
from pgasrob.robustness.limits import size_text

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Protocol(LanguageServerProtocol):
    """The protocol, in which columns count UTF-16 code units: as in SARIF, and every client knows them."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Take no other encoding of positions, whatever the client would like better."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))


class Server(LanguageServer):
    """Looks at each open program, again when its text has changed, and tells what it finds."""

    def __init__(self, settings: Settings) -> None:
        # The whole text with each change: what ends a line is then the editor's business alone.
        super().__init__(
            "pgasrob",
            __version__,
            types.TextDocumentSyncKind.Full,
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )
        self.settings = settings
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)
        self._paths: dict[str, str] = {}
        """Of what is open, by the URI."""
        self._looking: dict[str, asyncio.Task[None]] = {}
        """By the path of the program."""
        self._told: dict[str, dict[str, list[types.Diagnostic]]] = {}
        """By the path of the program, and the URI of the file that they are in."""

    @property
    def documents(self) -> Documents:
        return Documents(self.workspace.text_documents.values())

    def changed(self, uri: str) -> None:
        """There is another text of a document: look at it, and at what it may be part of, soon."""
        path = path_of(self.workspace.get_text_document(uri))
        if path is not None:
            self._paths[uri] = path
            self._look_again(path)

    def closed(self, uri: str) -> None:
        """A document is not open any more: what is on the disk counts."""
        if (path := self._paths.pop(uri, None)) is not None:
            self._give_up(path)
            self._tell(path, {})
            self._look_again(path)

    async def give_up(self) -> None:
        """Look at nothing any more."""
        looking = list(self._looking.values())
        for path in list(self._looking):
            self._give_up(path)
        await asyncio.gather(*looking, return_exceptions=True)

    def _look_again(self, path: str) -> None:
        for each in self.documents.programs_with(path):
            self._give_up(each)
            self._looking[each] = asyncio.get_running_loop().create_task(self._look_at(each))

    def _give_up(self, path: str) -> None:
        if looking := self._looking.pop(path, None):
            looking.cancel()

    async def _look_at(self, path: str) -> None:
        """Look at the program in the file ``path``, once nothing has changed for a while, and tell what is found."""
        await asyncio.sleep(DEBOUNCE)
        documents = self.documents
        texts = documents.texts_for(path)
        question = Question(path, tuple(texts.items()), self.settings)
        if (size := len(texts[path])) > MOST_TEXT:
            much = f"The text has {size:,} characters, and at most {MOST_TEXT:,} are looked at while it is edited: ask"
            self._tell(path, {documents.uri(path): [of_the_whole(f"{much} `pgasrob check` about it.")]})
            return
        found: list[Found] = []
        try:
            async for each in self._found(question):
                found.append(each)
                self._tell(path, diagnostics(found, path, documents.uri, texts))
            if not found:
                self._tell(path, {documents.uri(path): []})
        except Exception as error:
            self._tell(path, {documents.uri(path): [of_the_whole(f"Internal error, please report it: {error!r}")]})
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, traceback.format_exc()))

    async def _found(self, question: Question) -> AsyncIterator[Found]:
        """What there is on each node count, as far as it is known: where a limit is reached none comes after it."""
        nodes = None
        try:
            counts = await self._bounded(look.counts, question)
            if counts is None:
                return
            async with progress(self, f"Checking {os.path.basename(question.file)}") as show:
                for nodes in counts:
                    found = await self._bounded(
                        look.look, question, nodes, begun=partial(show, on_nodes(nodes).strip())
                    )
                    yield found
                    if found.verdict in ("unknown", "error"):
                        return
        except bounded.TooLong:
            yield unknown(nodes, f"it took longer than {self.settings.seconds:g} s")
        except bounded.TooLarge:
            yield unknown(nodes, f"it took more memory than {size_text(self.settings.memory)}")

    async def _bounded(self, work: Callable[[*Ts], T], *arguments: *Ts, begun: Callable[[], None] = lambda: None) -> T:
        """What ``work`` gives in another process, within the limits; ``begun`` is called when there is one for it."""
        async with self._at_once:
            begun()
            seconds, memory = self.settings.seconds + GRACE, self.settings.memory + ROOM
            return await bounded.run(seconds, memory, work, *arguments)

    def _tell(self, path: str, told: dict[str, list[types.Diagnostic]]) -> None:
        """Tell the editor what there is of the program in the file ``path``, and no more of what was told before."""
        before = self._told.get(path, {})
        self._told[path] = told
        for uri in {**before, **told}:
            version = document.version if (document := self.workspace.text_documents.get(unquote(uri))) else None
            # A header may be part of several programs.
            all_ = [each for of_program in self._told.values() for each in of_program.get(uri, ())]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, all_, version))


def server(settings: Settings) -> Server:
    """The server, which has not begun yet."""
    made = Server(settings)

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        made.changed(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        made.changed(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        made.closed(params.text_document.uri)

    @made.feature(types.SHUTDOWN)
    async def ended(params: None) -> None:
        await made.give_up()

    return made
