"""A recorded call with its operands and its place in the source, and what a rank remembers of earlier calls."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
    used: dict[int, set[tuple[int, int]]] = field(default_factory=dict)  # of a window the targets, numbers of requests
    exclusive: set[tuple[int, int]] = field(default_factory=set)  # windows and ranks that are locked so
    epochs: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)  # of a window: posted, started
    unmet: dict[int, dict[int, int]] = field(default_factory=dict)  # of a window the ranks whose fence is not awaited
    requests: dict[int, Request] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)  # of the requests' queues

    def noted(self) -> object:
        """A copy of all but the pending call."""
        return copy.deepcopy(replace(self, pending=None))


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


MOST_LINES = 12
"""Lines that a call may go over."""


class Instruction(Line):
    """A place in a program without debug information, as the number of a line in a made-up text of its calls."""

    def __new__(cls, number: int, file: str, name: str) -> Instruction:
        made = super().__new__(cls, number, file, name)
        assert isinstance(made, Instruction)
        return made

    def __str__(self) -> str:
        return self.name


class Spans:
    """Finds the places of the calls and accesses of ``trace`` in the files of ``source``; those that have no line get
    lines in ``made_up``, the text of a file that is called as the program."""

    def __init__(self, trace: Trace, source: Source, made_up: dict[str, str], program: str) -> None:
        self._lines, self._source, self._made_up, self._program = trace.lines(), source, made_up, program
        self._known: dict[tuple[Place, str], Span] = {}
        self._of_line: dict[tuple[str, int], list[Place]] = defaultdict(list)
        for place in sorted(self._lines):
            self._of_line[self._lines[place][:2]].append(place)

    def of_call(self, place: Place, function: str) -> Span:
        """The call of the ``function`` there: debug information has its line alone."""
        span = self._known.get((place, function))
        if span is None:
            line = self._line(place) or self._instruction(place, f"{function}(...)" if function else "")
            here = self._of_line[self._lines.get(place, ("", 0, ""))[:2]]
            turn = here.index(place) if place in here else 0
            span = _call(self._source, line, function, turn) or _in_line(self._source, line)
            self._known[place, function] = span
        return span

    def of_access(self, place: Place, variable: str, stores: bool) -> Span:
        """The statement there that has the ``variable``, and assigns to it if it ``stores``."""
        word = f"{variable} stored" if stores else variable
        span = self._known.get((place, word))
        if span is None:
            line = self._line(place) or self._instruction(place, "a store" if stores else "a load")
            span = self._known[place, word] = _statement(_in_line(self._source, line), self._source, variable, stores)
        return span

    def _instruction(self, place: Place, text: str) -> int:
        """A line in the made-up text."""
        if place == Place(0, 0) or not text:
            return 0
        before = self._made_up.get(self._program, "")
        self._made_up[self._program] = f"{before}{text}\n"
        return Instruction(before.count("\n") + 1, self._program, f"{place.offset:#x} of {self._program}")

    def _line(self, place: Place) -> int:
        file, line, _ = self._lines.get(place, ("", 0, ""))
        return line if not file or file == self._source.file else Line(line, file, file.rpartition("/")[2])


def _in_line(source: Source, line: int) -> Span:
    """The span of the statements in a line, since columns of debug information are unreliable."""
    texts = source.lines(line)
    text = texts[line - 1] if 0 < int(line) <= len(texts) else ""
    statement = text.partition("//")[0].rstrip().rstrip(";{").rstrip()
    first = len(statement) - len(statement.lstrip())
    return Span(line, first + 1, line, len(statement) + 1)


def _call(source: Source, line: int, function: str, turn: int) -> Span | None:
    """The call of a function that begins in a line, to its last bracket; of several one, by their ``turn``."""
    texts = source.lines(line)[int(line) - 1 : int(line) - 1 + MOST_LINES] if line else []
    found = [*re.finditer(rf"\b{re.escape(function)}\s*\(", texts[0])] if texts and function else []
    if not found:
        return None
    begin = found[0 if turn >= len(found) else turn]
    depth, at = 0, begin.end() - 1
    for number, text in enumerate(texts):
        for column in range(at, len(text)):
            depth += {"(": 1, ")": -1}.get(text[column], 0)
            if not depth and text[column] == ")":
                last = line if not number else _further(line, number)
                return Span(line, begin.start() + 1, last, column + 2)
        at = 0
    return None


def _further(line: int, lines: int) -> int:
    return Line(line + lines, line.file, line.name) if isinstance(line, Line) else line + lines


def _statement(span: Span, source: Source, variable: str, stores: bool) -> Span:
    """The one of the statements at ``span`` that has the variable; all of them where there are none or several."""
    text = source.line(span.line) if span.line else ""
    text = text[: span.end_column - span.column]
    pieces = [*_pieces(text)]
    word = re.escape(variable)
    for pattern in ([rf"(?<![\w.>]){word}\b[^=;]*=(?!=)"] if stores else []) + [rf"\b{word}\b"]:
        found = [each for each in pieces if re.search(pattern, text[each[0] : each[1]])]
        if len(found) == 1 and len(pieces) > 1 and word:
            ((begin, end),) = found
            return Span(span.line, span.column + begin, span.line, span.column + end)
    return span


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """From where to where the statements of a line, and what is before a block, go."""
    depth, begin = 0, 0
    for at, character in enumerate(f"{text};"):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character in ";{}" and depth <= 0:
            piece = text[begin:at]
            if piece.strip():
                yield begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())
            begin = at + 1
