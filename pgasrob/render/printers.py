"""Prints results as they come: one JSON object a line, CSV, findings, reports, or rows of a table."""

from __future__ import annotations

import csv
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, cast

from pgasrob.diagnostics import visible
from pgasrob.render import words
from pgasrob.render.baseline import Baseline
from pgasrob.render.findings import first_place, gcc, github, of_result
from pgasrob.render.lines import Glyphs, Line, glyphs_for, paragraph, terminal_width, write
from pgasrob.render.places import dumps
from pgasrob.render.run_json import Witness
from pgasrob.render.table import R, Table, VerdictTable
from pgasrob.render.verdict_json import RaceResult, Result


class Form(ABC, Generic[R]):
    """How results of one kind are presented.

    ``expect``: they are compared with headers. ``list_assumptions``: reports name all that a verdict rests on.
    ``full``: they show every event.
    """

    hint: str
    """What to say below rows some of which have more to show."""

    def __init__(self, expect: bool = False, list_assumptions: bool = False, full: bool = False) -> None:
        self.expect, self.list_assumptions, self.full = expect, list_assumptions, full

    def common(self, result: R) -> dict[str, object]:
        """The first columns of a row."""
        found: dict[str, object] = {"file": result["file"], "nodes": result["nodes"], "verdict": result["verdict"]}
        if self.expect:
            found |= {"expected": result.get("expected"), "as_expected": result.get("as_expected")}
        return found

    @abstractmethod
    def brief(self, result: R, several: bool) -> Iterator[str]:
        """``result`` in lines as compilers print them."""

    @abstractmethod
    def report(self, result: R, width: int, glyphs: Glyphs) -> list[Line]:
        """The report of ``result``."""

    @abstractmethod
    def table(self, files: Sequence[str], width: int, glyphs: Glyphs) -> Table[R]:
        """The table for results of ``files``."""

    @abstractmethod
    def row(self, result: R) -> dict[str, object]:
        """``result`` as a row of a file of values, by the names of its columns."""

    @abstractmethod
    def kept(self, result: R) -> R:
        """``result`` without its runs."""

    @abstractmethod
    def has_more(self, result: R) -> bool:
        """Whether a report shows more of ``result`` than its row."""


class VerdictForm(Form[Result]):
    """Verdicts on robustness."""

    hint = "Counterexamples are shown for a single program or with --verbose."

    def brief(self, result: Result, several: bool) -> Iterator[str]:
        from pgasrob.render.brief import brief

        return brief(result, several)

    def report(self, result: Result, width: int, glyphs: Glyphs) -> list[Line]:
        from pgasrob.render.races_text import with_races

        return with_races(result, width, glyphs, self.list_assumptions, self.full)

    def table(self, files: Sequence[str], width: int, glyphs: Glyphs) -> VerdictTable:
        return VerdictTable(files, width, self.expect, glyphs)

    def row(self, result: Result) -> dict[str, object]:
        line, column, sentence = first_place(result)
        found = {
            "assertions": result["assertions"],
            "deadlock": result["deadlock"],
            "effect": result.get("effect"),
            "line": line,
            "column": column,
            "message": sentence,
        }
        return self.common(result) | found | cast(dict[str, object], result["stats"])

    def kept(self, result: Result) -> Result:
        witness = result["witness"]
        fault: Witness | None = None
        if witness and witness["fault"]:
            fault = {**witness, "computation": [], "memory": [], "standing": [], "source": ""}
        return {**result, "witness": fault, "assertion_run": None, "deadlock_run": None, "effect_run": None}

    def has_more(self, result: Result) -> bool:
        return result["verdict"] == "not robust"


class RaceForm(Form[RaceResult]):
    """Answers about races. ``every_run``: reports show a run to each race."""

    hint = "Races are shown for a single program or with --verbose."

    def __init__(
        self, expect: bool = False, list_assumptions: bool = False, full: bool = False, every_run: bool = False
    ) -> None:
        super().__init__(expect, list_assumptions, full)
        self.every_run = every_run

    def brief(self, result: RaceResult, several: bool) -> Iterator[str]:
        from pgasrob.render.races_text import brief

        return brief(result, several)

    def report(self, result: RaceResult, width: int, glyphs: Glyphs) -> list[Line]:
        from pgasrob.render.races_text import race_report

        return race_report(result, width, glyphs, self.list_assumptions, self.full, self.every_run)

    def table(self, files: Sequence[str], width: int, glyphs: Glyphs) -> Table[RaceResult]:
        from pgasrob.render.races_table import RaceTable

        return RaceTable(files, width, self.expect, glyphs)

    def row(self, result: RaceResult) -> dict[str, object]:
        from pgasrob.render.races_json import number_of_pairs

        line, column, sentence = first_place(result)
        other = result.get("robustness")
        found = {
            "pairs": number_of_pairs(result),
            "robustness": other and other["verdict"],
            "line": line,
            "column": column,
            "message": sentence,
        }
        return self.common(result) | found | cast(dict[str, object], result["stats"])

    def kept(self, result: RaceResult) -> RaceResult:
        other = result.get("robustness")
        without = [{**race, "computation": [], "source": "", "sources": {}, "memory": []} for race in result["races"]]
        kept: RaceResult = {**result, "races": without}  # type: ignore[typeddict-item]
        if run := result.get("witness"):
            kept["witness"] = {**run, "computation": [], "memory": [], "standing": [], "source": ""}
        if other:
            kept["robustness"] = VerdictForm().kept(other)
        return kept

    def has_more(self, result: RaceResult) -> bool:
        return result["verdict"] == "race"


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """How much is printed, and in which ``format``: "text" or a key of :data:`KINDS`.

    As text: a line each when ``brief``, reports for a single file or when ``verbose``, else rows of a table.
    ``strict``: a failing assertion or a deadlock counts as a failure. ``several_counts``: programs are checked on
    several node counts. ``baseline``: findings that are not printed again.
    """

    format: str = "text"
    verbose: bool = False
    brief: bool = False
    strict: bool = False
    several_counts: bool = False
    baseline: Baseline | None = None


class Printer(Generic[R]):
    """Prints results as they come, in a ``form``, by ``options``; ``end`` prints what is about all of them."""

    def __init__(self, files: Sequence[str], form: Form[R], options: PrintOptions) -> None:
        self.form: Form[R] = form
        self.options = options
        self.width = terminal_width()
        self.glyphs = glyphs_for(sys.stdout)
        self.table: Table[R] = form.table(files, self.width, self.glyphs)
        self.results: list[R] = []
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


BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that spreadsheets compute."""


def cell(value: object) -> object:
    """``value`` in a CSV file: truth as in JSON, nothing for None, and no text that a spreadsheet computes."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(BEGINS_A_FORMULA) else value


class JsonLines(Printer[R]):
    """One object per line and nothing else."""

    def result(self, result: R) -> None:
        print(dumps(result), flush=True)
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


class Brief(Printer[R]):
    """A line per result, and nothing else."""

    def result(self, result: R) -> None:
        self.write([[(line, "")] for line in self.form.brief(result, self.options.several_counts)])
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
        codes: list[str] = self.table.codes(self.results)
        failing: str = self.table.only_strict(self.results)
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
        if any(map(self.form.has_more, self.results)):
            self.write([[(self.form.hint, "faint")]])


KINDS: dict[str, type[Printer[Any]]] = {"json": JsonLines, "csv": Csv, "gcc": Findings, "github": Findings}
"""The printers by the formats that are not for people."""


def printer(files: Sequence[str], form: Form[R], options: PrintOptions) -> Printer[R]:
    """The printer for results of ``files``; reports too when ``form`` has more to list than rows have room for."""
    if hasattr(sys.stdout, "reconfigure"):
        # A file name or source text that the encoding does not have is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    reports = options.verbose or form.list_assumptions or form.full or len(files) == 1
    text: type[Printer[R]] = Brief if options.brief else Reports if reports else Rows
    return KINDS.get(options.format, text)(files, form, options)
