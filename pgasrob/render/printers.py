"""Prints results as they come: one JSON object a line, CSV, findings, reports, or rows of a table."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from pgasrob.diagnostics import visible
from pgasrob.render import words
from pgasrob.render.baseline import Baseline
from pgasrob.render.brief import brief
from pgasrob.render.findings import gcc, github, in_json, of_result
from pgasrob.render.lines import Line, glyphs_for, paragraph, terminal_width, write
from pgasrob.render.result_forms import Form, R
from pgasrob.render.source_places import dumps
from pgasrob.render.table import Table


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """How much is printed, and in which ``format``: "text" or a key of :data:`KINDS`.

    As text: a line each when ``brief``, reports for a single file or when ``verbose``, else rows of a table.
    ``strict``: a failing assertion or a deadlock counts as a failure. ``baseline``: findings that are not printed
    again.
    """

    format: str = "text"
    verbose: bool = False
    brief: bool = False
    strict: bool = False
    baseline: Baseline | None = None


class Printer(Generic[R]):
    """Prints results as they come, in a ``form``, by ``options``; ``end`` prints what is about all of them."""

    def __init__(self, files: Sequence[str], form: Form[R], options: PrintOptions) -> None:
        self.form: Form[R] = form
        self.options = options
        self.width = terminal_width()
        self.glyphs = glyphs_for(sys.stdout)
        self.table: Table[R] = Table(form, files, self.width, self.glyphs)
        self.results: list[R] = []
        self.files = files
        self.whole: list[Any] = []
        self.began = time.monotonic()

    def result(self, result: R) -> None:
        raise NotImplementedError

    def end(self) -> None:
        pass

    def write(self, lines: Iterable[Line]) -> None:
        write(lines, sys.stdout)

    def keep(self, result: R) -> None:
        """Keep ``result`` for the summary without its runs, which would fill the memory."""
        self.results.append(self.form.kept(result))

    def summary(self) -> None:
        self.write(self.table.end(self.results, time.monotonic() - self.began, self.options.strict))
        if overall := self.form.overall(self.results):
            self.write(paragraph(overall, self.width, "heading"))


BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that spreadsheets compute."""


def cell(value: object) -> object:
    """``value`` in a CSV file: truth as in JSON, nothing for None, and no text that a spreadsheet computes or on which
    a terminal acts."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.startswith(BEGINS_A_FORMULA) else visible(value)


class JsonLines(Printer[R]):
    """One object per line and nothing else."""

    def result(self, result: R) -> None:
        print(dumps(in_json(result)), flush=True)
        self.keep(result)


class Csv(Printer[R]):
    """A row of values per result, below one with their names."""

    def result(self, result: R) -> None:
        row = self.form.row(result) | {"settled_by": result["stats"].get("settled_by")}
        writer = csv.DictWriter(sys.stdout, row, lineterminator="\n")
        if not self.results:
            writer.writeheader()
        writer.writerow({name: cell(value) for name, value in row.items()})
        sys.stdout.flush()
        self.keep(result)


FINDING_LINES: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {"gcc": gcc, "github": github}
"""How the formats that list findings print one."""


class Findings(Printer[R]):
    """The lines of each finding that the baseline does not have, and nothing else."""

    def result(self, result: R) -> None:
        for finding in of_result(result):
            if self.options.baseline is None or not self.options.baseline.knows(finding):
                self.write([[(visible(line), "")] for line in FINDING_LINES[self.options.format](finding)])
        self.keep(result)


class Sarif(Printer[R]):
    """One SARIF log of all results, at the end; with the baseline it says which findings are new."""

    def result(self, result: R) -> None:
        self.whole.append(result)
        self.keep(result)

    def end(self) -> None:
        from pgasrob.render.sarif import to_sarif

        log = to_sarif(self.whole)
        known = self.options.baseline
        sys.stdout.write(known.compared(log, self.files) if known else log)


class Brief(Printer[R]):
    """A line per result, and nothing else."""

    def result(self, result: R) -> None:
        self.write([[(line, "")] for line in brief(result)])
        self.keep(result)


class Reports(Printer[R]):
    """A report per result, and a table when there are several."""

    def result(self, result: R) -> None:
        self.write([[]] * bool(self.results) + self.form.report(result, self.width, self.glyphs))
        self.keep(result)

    def end(self) -> None:
        if len(self.results) > 1:
            self.write([[], self.table.header(), *map(self.table.row, self.results)])
            self.summary()
            return
        codes: list[str] = self.form.codes(self.results)
        failing: str = self.form.only_strict(self.results)
        if codes:
            self.write([[], *paragraph(words.explained(codes), self.width, "faint")])
        if self.options.strict and failing:
            self.write([[], *paragraph(failing, self.width, "bad")])


class Rows(Printer[R]):
    """A row per result."""

    def result(self, result: R) -> None:
        self.write([self.table.header()] * (not self.results) + [self.table.row(result)])
        self.keep(result)

    def end(self) -> None:
        if not self.results:
            return
        self.summary()
        if any(map(self.form.shows_more, self.results)):
            self.write([[(self.form.hint, "faint")]])


KINDS: dict[str, type[Printer[Any]]] = {
    "json": JsonLines,
    "csv": Csv,
    "gcc": Findings,
    "github": Findings,
    "sarif": Sarif,
}
"""The printers by the formats that are not for people."""


def printer(files: Sequence[str], form: Form[R], options: PrintOptions) -> Printer[R]:
    """The printer for results of ``files``; reports too when ``form`` has more to list than rows have room for."""
    if hasattr(sys.stdout, "reconfigure"):
        # A file name or source text that the encoding does not have is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    reports = options.verbose or form.list_assumptions or form.full or len(files) == 1
    text: type[Printer[R]] = Brief if options.brief else Reports if reports else Rows
    return KINDS.get(options.format, text)(files, form, options)
