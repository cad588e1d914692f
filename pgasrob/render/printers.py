"""Printing results as they come: one JSON object a line, full reports, or the rows of a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from pgasrob.render import words
from pgasrob.render.json import Result, Witness
from pgasrob.render.lines import Line, glyphs_for, paragraph, terminal_width, write
from pgasrob.render.places import dumps
from pgasrob.render.table import Table


class Printer:
    """Prints results as they come; ``end`` prints what is about all of them.

    ``strict``: a failing assertion or a deadlock counts as a failure, which ``end`` has to say. ``list_assumptions``:
    reports name all that a verdict rests on. ``full``: they show every event.
    ``several_counts``: programs are checked on several node counts.
    """

    def __init__(
        self,
        files: Sequence[str],
        expect: bool,
        strict: bool = False,
        list_assumptions: bool = False,
        full: bool = False,
        several_counts: bool = False,
    ) -> None:
        self.files = files
        self.expect = expect
        self.strict = strict
        self.list_assumptions = list_assumptions
        self.full = full
        self.several_counts = several_counts
        self.width = terminal_width()
        self.glyphs = glyphs_for(sys.stdout)
        self.results: list[Result] = []
        self.began = time.monotonic()

    def result(self, result: Result) -> None:
        raise NotImplementedError

    def end(self) -> None:
        pass

    def table(self) -> Table:
        return Table(self.files, self.width, self.expect, self.glyphs)

    def write(self, lines: Iterable[Line]) -> None:
        write(lines, sys.stdout)

    def keep(self, result: Result) -> None:
        """Note ``result`` for the end, without its runs: of thousands of programs they would fill the memory."""
        witness = result["witness"]
        fault: Witness | None = None
        if witness and witness["fault"]:
            fault = {**witness, "computation": [], "memory": [], "standing": [], "source": ""}
        without: Result = {**result, "witness": fault, "assertion_run": None, "deadlock_run": None, "effect_run": None}
        self.results.append(without)

    def summary(self, table: Table) -> None:
        self.write(table.end(self.results, time.monotonic() - self.began, self.strict))


class JsonLines(Printer):
    """One object per line and nothing else."""

    def result(self, result: Result) -> None:
        print(dumps(result), flush=True)
        self.keep(result)


class Brief(Printer):
    """A line per result, and nothing else."""

    def result(self, result: Result) -> None:
        from pgasrob.render.brief import brief

        self.write([[(line, "")] for line in brief(result, self.several_counts)])
        self.keep(result)


class Reports(Printer):
    """A report per result, and a table when there are several."""

    def result(self, result: Result) -> None:
        from pgasrob.render.text import verdict_report

        report = verdict_report(result, self.width, self.glyphs, self.list_assumptions, self.full)
        self.write([[]] * bool(self.results) + report)
        self.keep(result)

    def end(self) -> None:
        if len(self.results) > 1:
            table = self.table()
            self.write([[], table.header(), *map(table.row, self.results)])
            self.summary(table)
            return
        if codes := words.codes(self.results):
            self.write([[], *paragraph(words.explained(codes), self.width, "faint")])
        if self.strict and (failing := words.only_strict(self.results, self.expect)):
            self.write([[], *paragraph(failing, self.width, "bad")])


class Rows(Printer):
    """A row per result."""

    def result(self, result: Result) -> None:
        table = self.table()
        self.write([table.header()] * (not self.results) + [table.row(result)])
        self.keep(result)

    def end(self) -> None:
        if not self.results:
            return
        self.summary(self.table())
        if any(result["verdict"] == "not robust" for result in self.results):
            self.write([[("Counterexamples are shown for a single program or with --verbose.", "faint")]])


def printer(
    files: Sequence[str],
    expect: bool,
    as_json: bool,
    verbose: bool,
    strict: bool = False,
    list_assumptions: bool = False,
    full: bool = False,
    brief: bool = False,
    several_counts: bool = False,
) -> Printer:
    """The printer for results of ``files``: a line each when ``brief``, reports for a single file or when ``verbose``
    or when assumptions are to be listed, else rows."""
    if hasattr(sys.stdout, "reconfigure"):
        # A file name or source text that the encoding does not have is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    reports = verbose or list_assumptions or full or len(files) == 1
    kind = JsonLines if as_json else Brief if brief else Reports if reports else Rows
    return kind(files, expect, strict, list_assumptions, full, several_counts)
