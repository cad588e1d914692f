"""Several results in one table, a row each, and the summary below it.

Rows can be printed as results come: the widths of the columns depend on the file names alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic

from pgasrob.diagnostics import visible
from pgasrob.render import words
from pgasrob.render.errors import in_one_line
from pgasrob.render.lines import UNICODE, Glyphs, Line, Segment, paragraph, shorten
from pgasrob.render.result_forms import Form, R

SHORTEST_FILE = 8


class Table(Generic[R]):
    """The table for results of ``files``, at most ``width`` characters wide.

    With ``form.expect`` the verdict found and the one expected stand side by side, `!=` between them when they differ.
    """

    def __init__(self, form: Form[R], files: Iterable[str], width: int = 80, glyphs: Glyphs = UNICODE) -> None:
        self._form: Form[R] = form
        self._expect = form.expect
        self._columns = form.expecting if form.expect else form.plain
        self._width = width
        self._glyphs = glyphs
        others = sum(len(layout.format(name)) for name, layout in self._columns)
        longest = max(map(len, ["file", *map(visible, files)]))
        self._file = min(longest, max(width - others, SHORTEST_FILE))

    def header(self) -> Line:
        """The names of the columns."""
        return self._line("file", [(name, "heading") for name, _ in self._columns], "heading")

    def row(self, result: R) -> Line:
        """The row of one result."""
        nodes, stats = result["nodes"], result["stats"]
        cells: list[Segment] = [("-" if nodes is None else str(nodes), "")]
        if self._expect:
            cells += [(self._form.found(result), result["verdict"]), self._mark(result)]
            cells += [(result.get("expected") or "nothing", "")]
        else:
            cells.append((result["verdict"], result["verdict"]))
        cells += self._form.cells(result)
        cells += [(amount(stats["states"]), ""), (_seconds(stats["seconds"]), "")]
        return self._line(visible(result["file"]), cells)

    def _line(self, file: str, cells: Sequence[Segment], style: str = "") -> Line:
        line: Line = [(f"{shorten(file, self._file, self._glyphs):<{self._file}}", style)]
        for (_, layout), (text, style) in zip(self._columns, cells, strict=True):
            line.append((layout.format(text), style))
        return line

    def end(self, results: Sequence[R], seconds: float, strict: bool = False) -> list[Line]:
        """The lines below the rows: errors, reasons, verdicts other than expected, and the summary.

        With ``strict`` the summary says how many results a failing assertion or a deadlock alone makes fail.
        """
        notes: list[Line] = [line for result in results for line in self._notes(result)]
        lines: list[Line] = [[], *notes] if notes else []
        if codes := self._form.codes([result for result in results if self._surprising(result)]):
            lines += paragraph(words.explained(codes), self._width, "faint")
        lines += [[]]
        lines += paragraph(self._summary(results, seconds), self._width, "heading")
        if self._expect:
            good = sum(bool(result.get("as_expected")) for result in results)
            bad = len(results) - good
            lines += [[(f"{good} as expected, ", "heading"), (f"{bad} not.", "bad" if bad else "heading")]]
        if strict and (failing := self._form.only_strict(results)):
            lines += paragraph(failing, self._width, "bad")
        return lines

    def _surprising(self, result: R) -> bool:
        return not (self._expect and result.get("as_expected"))

    def _notes(self, result: R) -> Iterator[Line]:
        """The lines below the table about ``result``: errors, reason, its node count, and what was expected."""
        where = visible(result["file"])
        if result["nodes"] is not None:
            where += f" (nodes: {result['nodes']})"
        surprising = self._surprising(result)
        fault = self._form.fault(result)
        if surprising:
            for error in result["errors"]:
                yield from paragraph(in_one_line(result["file"], error), self._width, "", "", "    ")
        if surprising and fault:
            yield from paragraph(fault, self._width, "", "", "    ")
        elif surprising and result["reason"] and not (result["verdict"] == "error" and result["errors"]):
            yield from paragraph(f"{where}: {result['verdict']}: {result['reason']}", self._width, "", "", "    ")
        if surprising and (note := result.get("count_note")) and not note["nothing"]:
            yield from paragraph(f"{where}: {note['sentence']}", self._width, "", "", "    ")
        if self._expect and surprising and self._form.found(result) != "unknown":
            expected = result.get("expected")
            wanted = f"expected {expected}" if expected else f"but {self._form.nothing_expected(result)}"
            text = f"{where}: found {self._form.found(result)}, {wanted}"
            if expected == self._form.found(result):
                text = f"{where}: {expected}, as expected, but{self._form.otherwise(result)}"
            yield from paragraph(text, self._width, "bad", "", "    ")

    def _mark(self, result: R) -> Segment:
        if self._form.found(result) == "unknown":
            return "?", "open"
        return ("=", "faint") if result.get("as_expected") else ("!=", "bad")

    def _summary(self, results: Sequence[R], seconds: float) -> str:
        counts: Counter[str] = Counter(result["verdict"] for result in results)
        limits = Counter(limit for each in results if each["verdict"] == "unknown" and (limit := each["limit"]))
        why = {
            "unknown": f" ({', '.join(f'{count} by --{option}' for option, count in limits.items())})" if limits else ""
        }
        found = ", ".join(
            f"{counts[verdict]} {verdict}{why.get(verdict, '')}" for verdict in self._form.verdicts if counts[verdict]
        )
        facts = Counter(fact for result in results for fact in self._form.noted(result))
        more = "".join(f", {count} with {fact}" for fact, count in facts.items())
        things = "1 result" if len(results) == 1 else f"{len(results)} results"
        return f"{things} in {_seconds(seconds)} s: {found or 'none'}{more}."


def amount(count: float) -> str:
    """``count`` in at most five characters: ``999``, ``12.0k``, ``1.23M``."""
    for divisor, unit in ((1, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")):
        scaled = count / divisor
        if scaled < 999.5:
            digits = 0 if not unit or scaled >= 99.95 else 1 if scaled >= 9.995 else 2
            return f"{scaled:.{digits}f}{unit}"
    return f"{count:.0e}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 99.995 else f"{seconds:.0f}"
