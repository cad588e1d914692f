"""The language server: it gets the texts that an editor has open, and publishes what it finds in them."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, TypeVarTuple
from urllib.parse import unquote
from uuid import uuid4

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from pgasrob import __version__, bounded
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.lsp import edited_program
from pgasrob.lsp.diagnostics import SOURCE, VIOLATION, diagnostics, of_the_whole
from pgasrob.lsp.documents import Documents, path_of
from pgasrob.lsp.edited_program import EditedProgram, Found, unknown
from pgasrob.lsp.hover import promises
from pgasrob.lsp.lens import lenses
from pgasrob.lsp.positions import Places
from pgasrob.lsp.repair_actions import Repaired, actions, repairs
from pgasrob.lsp.settings import COUNTS, DEBOUNCE, GRACE, MOST_AT_ONCE, MOST_TEXT, REPAIR_CHECKS, ROOM, Settings
from pgasrob.render.english import on_nodes
from pgasrob.robustness.limits import size_text

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class ProtocolWithUtf16Columns(LanguageServerProtocol):
    """The protocol, in which columns count UTF-16 code units: as in SARIF, and every client knows them."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Take no other encoding of positions, whatever the client would like better."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))

    def structure_message(self, data: dict[str, Any]) -> Any:
        """What ``data`` is in the protocol. What is wrong with it is the editor's doing, and none of the server's."""
        try:
            return super().structure_message(data)
        except JsonRpcInternalError as error:
            raise JsonRpcInvalidParams() from error


@dataclass(eq=False, slots=True)
class Work:
    """The work on one text of a ``program``: the ``task`` that checks it, what it has ``found``, and the search for
    repairs once the editor has asked for them."""

    program: EditedProgram
    documents: Documents
    found: list[Found] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    repairing: asyncio.Task[list[Repaired]] | None = None

    async def done(self) -> None:
        """Wait until the check has ended, or was given up since the text has changed."""
        if self.task is not None:
            await asyncio.wait([self.task])

    def give_up(self) -> list[asyncio.Task[Any]]:
        """Cancel the tasks, and give them back."""
        tasks = [task for task in (self.task, self.repairing) if task is not None]
        for task in tasks:
            task.cancel()
        return tasks


class Server(LanguageServer):
    """Looks at each open program, again when its text has changed, and publishes what it finds."""

    def __init__(self, settings: Settings) -> None:
        # The whole text with each change: what ends a line is then the editor's business alone.
        super().__init__(
            "pgasrob",
            __version__,
            types.TextDocumentSyncKind.Full,
            protocol_cls=ProtocolWithUtf16Columns,
            converter_factory=default_converter,
        )
        self.settings = settings
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)
        self._answers = asyncio.Semaphore()
        """Hovers, one at a time; they need not wait for checks."""
        self._paths: dict[str, str] = {}
        """The paths of open documents, by URI."""
        self._works: dict[str, Work] = {}
        """The work on each program, by its path."""
        self._published: dict[str, dict[str, list[types.Diagnostic]]] = {}
        """The diagnostics that the editor has, by the path of the program and the URI of the file that they are in."""

    def changed(self, uri: str) -> None:
        """Check a document whose text has changed, and the programs that it may be part of, soon."""
        path = path_of(self.workspace.get_text_document(uri))
        if path is not None:
            self._paths[uri] = path
            self._look_again(path)

    def closed(self, uri: str) -> None:
        """Forget a document that was closed; programs that it is part of are now read from disk."""
        if (path := self._paths.pop(uri, None)) is not None:
            if work := self._works.pop(path, None):
                work.give_up()
            self._publish(path, {})
            self._look_again(path)

    async def give_up(self) -> None:
        """Give up all work."""
        ending = [task for work in self._works.values() for task in work.give_up()]
        self._works.clear()
        await asyncio.gather(*ending, return_exceptions=True)

    async def lenses(self, uri: str) -> list[types.CodeLens]:
        """The code lens with the verdicts on a document, once all are known."""
        if (work := self._work(uri)) is None:
            return []
        await work.done()
        return lenses(work.program.file, work.program.text(), work.found)

    async def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """The hover of the command or call at ``position``: what it promises."""
        if (work := self._work(uri)) is None:
            return None
        places = Places(work.program.text())
        nodes = next((each.nodes for each in work.found if each.nodes), (self.settings.counts or COUNTS)[0])
        try:
            found = await self._bounded(self._answers, promises, work.program, nodes, *places.column(position))
        except (bounded.TooLong, bounded.TooLarge):
            return None
        if found is None:
            return None
        span = found.span
        begin, end = places.position(span.line, span.column), places.position(int(span.end_line), span.end_column)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.text), types.Range(begin, end))

    async def actions(self, uri: str, mended: Sequence[types.Diagnostic]) -> list[types.CodeAction]:
        """Code actions with repairs of the violations ``mended`` of a document; the first call searches for repairs."""
        if not mended or (work := self._work(uri)) is None:
            return []
        await work.done()
        if work.repairing is None:
            work.repairing = asyncio.get_running_loop().create_task(self._repairs(work))
        await asyncio.wait([work.repairing])
        if work.repairing.cancelled():
            return []
        return actions(work.repairing.result(), mended, work.documents.uri, work.program.text)

    def _work(self, uri: str) -> Work | None:
        path = self._paths.get(uri)
        return None if path is None else self._works.get(path)

    def _look_again(self, path: str) -> None:
        documents = Documents(self.workspace.text_documents.values())
        for each in documents.programs_with(path):
            if work := self._works.get(each):
                work.give_up()
            program = EditedProgram(each, tuple(documents.texts_for(each).items()), self.settings)
            work = self._works[each] = Work(program, documents)
            work.task = asyncio.get_running_loop().create_task(self._look_at(work))

    async def _look_at(self, work: Work) -> None:
        """Check a text, once nothing has changed for a while, and publish what is found."""
        await asyncio.sleep(DEBOUNCE)
        path, texts = work.program.file, dict(work.program.texts)
        here = work.documents.uri(path)
        if (size := len(texts[path])) > MOST_TEXT:
            much = f"The text has {size:,} characters, and at most {MOST_TEXT:,} are looked at while it is edited: ask"
            self._publish(path, {here: [of_the_whole(f"{much} `pgasrob check` about it.")]})
            return
        try:
            async for each in self._found(work.program):
                work.found.append(each)
                self._publish(path, diagnostics(work.found, path, work.documents.uri, texts))
            if not work.found:
                self._publish(path, {here: []})
        except Exception as error:
            found = internal_error(error, path)
            self._publish(path, {here: [of_the_whole(f"{found.message}; {found.hint}", found.code)]})
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, traceback.format_exc()))

    async def _found(self, program: EditedProgram) -> AsyncIterator[Found]:
        """The findings on one node count after the other, up to the first without a verdict."""
        nodes = None
        try:
            counts = await self._bounded(self._at_once, edited_program.node_counts, program)
            if counts is None:
                return
            async with progress(self, f"Checking {os.path.basename(program.file)}") as show:
                for nodes in counts:
                    begun = partial(show, on_nodes(nodes).strip())
                    found = await self._bounded(self._at_once, edited_program.findings, program, nodes, begun=begun)
                    yield found
                    if found.verdict in ("unknown", "error"):
                        return
        except bounded.TooLong as limit:
            yield unknown(nodes, str(limit))
        except bounded.TooLarge:
            yield unknown(nodes, f"it took more memory than {size_text(self.settings.memory)}")

    async def _repairs(self, work: Work) -> list[Repaired]:
        """The repairs of a program, on the node counts on which its verdict is known."""
        name = os.path.basename(work.program.file)
        counts = [each.nodes for each in work.found if each.nodes and each.verdict in ("robust", "not robust")]
        try:
            async with progress(self, f"Looking for repairs of {name}"):
                found = await self._bounded(self._at_once, repairs, work.program, counts, checks=REPAIR_CHECKS)
        except (bounded.TooLong, bounded.TooLarge):
            found = []
        if not found:
            message = f"No repair of {name} was found within the limits; `pgasrob repair` says what was tried."
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))
        return found

    async def _bounded(
        self,
        at_once: asyncio.Semaphore,
        work: Callable[[*Ts], T],
        *arguments: *Ts,
        begun: Callable[[], None] = lambda: None,
        checks: int = 1,
    ) -> T:
        """What ``work`` gives in another process, within the limits of so many ``checks``; ``begun`` is called when its
        turn has come."""
        async with at_once:
            begun()
            seconds, memory = checks * self.settings.seconds + GRACE, self.settings.memory + ROOM
            return await bounded.run(seconds, memory, work, *arguments)

    def _publish(self, path: str, found: dict[str, list[types.Diagnostic]]) -> None:
        """Publish what is ``found`` in the program in the file ``path``, in place of what was published before."""
        before = self._published.get(path, {})
        self._published[path] = found
        for uri in {**before, **found}:
            version = document.version if (document := self.workspace.text_documents.get(unquote(uri))) else None
            # A header may be part of several programs.
            all_ = [each for of_program in self._published.values() for each in of_program.get(uri, ())]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, all_, version))


@asynccontextmanager
async def progress(server: LanguageServer, title: str) -> AsyncIterator[Callable[[str], None]]:
    """A context in which the editor shows the ``title`` and what was said last; nothing where it cannot."""
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


def server(settings: Settings) -> Server:
    """The server, which has not begun yet."""
    made = Server(settings)

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
        made.changed(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        made.closed(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        return await made.lenses(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await made.hover(params.text_document.uri, params.position)

    @made.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    async def action(params: types.CodeActionParams) -> list[types.CodeAction]:
        mended = [each for each in params.context.diagnostics if (each.source, each.code) == (SOURCE, VIOLATION)]
        return await made.actions(params.text_document.uri, mended)

    @made.feature(types.SHUTDOWN)
    async def ended(params: None) -> None:
        await made.give_up()

    return made
