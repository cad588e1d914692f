"""A recorded call with its operands and its place in the source, and what a rank remembers of earlier calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob.program.commands import Command
from pgasrob.program.declarations import Source
from pgasrob.program.expressions import Const
from pgasrob.program.statements import Line, Span
from pgasrob.recording.events import Recorded
from pgasrob.runtime.record.records import Call, Place
from pgasrob.runtime.record.trace_reader import Trace


class Request(NamedTuple):
    """What completes a request: signals with these ``keys``, then the ``queue`` with this ``number``; ``local``: only
    the completion at home; ``window``: the window and the target of an operation."""

    queue: Const | None = None
    number: int = 0
    local: bool = False
    keys: tuple[tuple[object, ...], ...] = ()
    window: tuple[int, int] | None = None


@dataclass
class RankCalls:
    """The calls of a rank that matter to later ones: pending calls, signals, windows, epochs, requests."""

    pending: Call | None = None
    known: dict[tuple[object, ...], tuple[Recorded, ...]] = field(default_factory=dict)
    used: dict[int, set[tuple[int, int]]] = field(default_factory=dict)  # of a window the targets, numbers of requests
    exclusive: set[tuple[int, int]] = field(default_factory=set)  # windows and ranks that are locked so
    epochs: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)  # of a window: posted, started
    unmet: dict[int, dict[int, int]] = field(default_factory=dict)  # of a window the ranks whose fence is not awaited
    requests: dict[int, Request] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)  # of the requests' queues


class Made(NamedTuple):
    """A call of ``rank``: its operands by name, its ``results`` (none before it returns), and its place in the
    source."""

    rank: int
    call: Call
    named: dict[str, int]
    results: tuple[int, ...]
    span: Span

    def event(self, command: Command, *sizes: int) -> Recorded:
        return Recorded(self.rank, command, self.span, None, sizes)


class Spans:
    """Finds the places of the calls and accesses of ``trace`` in the files of ``source``."""

    def __init__(self, trace: Trace, source: Source) -> None:
        self._lines, self._source = trace.lines(), source
        self._known: dict[Place, Span] = {}

    def of(self, place: Place) -> Span:
        span = self._known.get(place)
        if span is None:
            file, line, _ = self._lines.get(place, ("", 0, ""))
            at = line if not file or file == self._source.file else Line(line, file, file.rpartition("/")[2])
            span = self._known[place] = _in_line(self._source, at)
        return span


def _in_line(source: Source, line: int) -> Span:
    """The span of the statement in a line, since columns of debug information are unreliable."""
    texts = source.lines(line)
    text = texts[line - 1] if 0 < int(line) <= len(texts) else ""
    statement = text.partition("//")[0].rstrip().rstrip(";{").rstrip()
    first = len(statement) - len(statement.lstrip())
    return Span(line, first + 1, line, len(statement) + 1)
