"""Where in the sources the calls and accesses of a trace stand."""

from __future__ import annotations

from pgasrob.program.declarations import Source
from pgasrob.program.statements import Line, Span
from pgasrob.runtime.record.records import Place, Trace


class Spans:
    """The spans of the places in ``trace``; ``source``: its first file, and the others."""

    def __init__(self, trace: Trace, source: Source) -> None:
        self._lines, self._source = trace.lines(), source
        self._known: dict[Place, Span] = {}

    def of(self, place: Place) -> Span:
        span = self._known.get(place)
        if span is None:
            file, line, _ = self._lines.get(place, ("", 0, ""))
            told = line if not file or file == self._source.file else Line(line, file, file.rpartition("/")[2])
            span = self._known[place] = _in_line(self._source, told)
        return span


def _in_line(source: Source, line: int) -> Span:
    """The statement in a line: debug information has no columns that can be relied on."""
    texts = source.lines(line)
    text = texts[line - 1] if 0 < int(line) <= len(texts) else ""
    statement = text.partition("//")[0].rstrip().rstrip(";{").rstrip()
    first = len(statement) - len(statement.lstrip())
    return Span(line, first + 1, line, len(statement) + 1)
