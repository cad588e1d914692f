"""The forms in which verdicts and answers about races are printed: their reports, rows of CSV, and columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Generic, TypeVar, cast

from pgasrob.diagnostics import visible
from pgasrob.render import races_text, synchronised_text, words
from pgasrob.render.findings import first_place
from pgasrob.render.lines import Glyphs, Line, Segment
from pgasrob.render.races_json import counted, number_of_pairs
from pgasrob.render.run_json import Witness
from pgasrob.render.synchronised_json import is_harmless
from pgasrob.render.synchronised_text import on_all_counts
from pgasrob.render.verdict_json import RaceResult, Result

R = TypeVar("R", Result, RaceResult)

ROBUSTNESS = {"robust": "good", "not robust": "bad", "unknown": "open", "error": "bad"}

Column = tuple[str, str]
"""Name and format of a column after the file; the blanks before a name set it off from the column on its left."""


class Form(ABC, Generic[R]):
    """How results of one kind are presented.

    ``expect``: they are compared with headers. ``list_assumptions``: reports name all that a verdict rests on.
    ``full``: they show every event.
    """

    hint: ClassVar[str]
    """What to say below rows some of which have more to show."""
    plain: ClassVar[tuple[Column, ...]]
    expecting: ClassVar[tuple[Column, ...]]
    """The columns of a table, also with what was expected."""
    verdicts: ClassVar[tuple[str, ...]]
    """All verdicts in the order of the summary."""

    def __init__(self, expect: bool = False, list_assumptions: bool = False, full: bool = False) -> None:
        self.expect, self.list_assumptions, self.full = expect, list_assumptions, full

    @abstractmethod
    def report(self, result: R, width: int, glyphs: Glyphs) -> list[Line]:
        """The report of ``result``."""

    @abstractmethod
    def shows_more(self, result: R) -> bool:
        """Whether the report of ``result`` shows more than a row: a run."""

    @abstractmethod
    def facts(self, result: R) -> dict[str, object]:
        """The columns of a CSV file between the verdict and the place of the first finding."""

    @abstractmethod
    def cells(self, result: R) -> list[Segment]:
        """The cells of a row of a table between the verdict and the cost."""

    @abstractmethod
    def found(self, result: R) -> str:
        """What was found, in the words in which a header says what it expects."""

    @abstractmethod
    def nothing_expected(self, result: R) -> str:
        """Why nothing can be compared with ``result``."""

    @abstractmethod
    def noted(self, result: R) -> Iterator[str]:
        """What the summary of a table counts beside the verdicts."""

    @abstractmethod
    def kept(self, result: R) -> R:
        """``result`` without its runs."""

    def otherwise(self, result: R) -> str:
        """What is not as expected although what was found is."""
        return ""

    def overall(self, results: Sequence[R]) -> str:
        """What ``results`` on several node counts, of one program, come to; "" where nothing sums them up."""
        return ""

    def only_strict(self, results: Sequence[R]) -> str:
        """How many of ``results`` would be good but for `--strict`, "" when there are none."""
        return ""

    def fault(self, result: R) -> str:
        """The fault that makes a program one with an error, "" where there is none."""
        run = result.get("witness")
        return words.fault(result["file"], run["fault"]) if run and run["fault"] else ""

    def codes(self, results: Sequence[R]) -> list[str]:
        """The error codes in ``results``, each once."""
        runs = [run for result in results if (run := result.get("witness")) is not None]
        of_faults = {run["fault"]["code"] for run in runs if run["fault"]}
        return sorted({error["code"] for result in results for error in result["errors"]} | of_faults)

    def row(self, result: R) -> dict[str, object]:
        """``result`` as a row of a CSV file, by the names of its columns."""
        found: dict[str, object] = {"file": result["file"], "nodes": result["nodes"], "verdict": result["verdict"]}
        if self.expect:
            found |= {"expected": result.get("expected"), "as_expected": result.get("as_expected")}
        return found | self.facts(result) | first_place(result) | cast(dict[str, object], result["stats"])


class VerdictForm(Form[Result]):
    """Verdicts on robustness."""

    hint = "Counterexamples are shown for a single program or with --verbose."
    verdicts = ("robust", "not robust", "unknown", "error")
    plain = (
        ("nodes", "{:>7}"), ("verdict", "  {:<10}"), ("SC runs", "  {:<14}"), ("states", "{:>7}"),
        ("seconds", "{:>9}"),
    )  # fmt: skip
    expecting = (
        ("nodes", "{:>6}"), ("found", "  {:<10}"), ("", " {:<2}"), ("expected", " {:<10}"), ("SC runs", " {:<14}"),
        ("states", "{:>7}"), ("seconds", "{:>8}"),
    )  # fmt: skip

    def shows_more(self, result: Result) -> bool:
        found = result.get("synchronised")
        return result["verdict"] == "not robust" or (found is not None and found["answer"] == "no")

    def report(self, result: Result, width: int, glyphs: Glyphs) -> list[Line]:
        return races_text.with_races(result, width, glyphs, self.list_assumptions, self.full)

    def facts(self, result: Result) -> dict[str, object]:
        found, consequences = result.get("synchronised"), result.get("consequences")
        return {
            "synchronised": found["answer"] if found and found["whole"] else None,
            "assertions": result["assertions"],
            "deadlock": result["deadlock"],
            "races": consequences and consequences["answer"],
            "effect": result.get("effect"),
        }

    def cells(self, result: Result) -> list[Segment]:
        return [synchronised_text.of_sc_runs(result)]

    def found(self, result: Result) -> str:
        return result["verdict"]

    def nothing_expected(self, result: Result) -> str:
        return words.nothing_expected(result)

    def noted(self, result: Result) -> Iterator[str]:
        if result["assertions"] == "violated":
            yield "a failing assertion"
        if result["deadlock"] is True:
            yield "a deadlock"
        if result.get("illegal_calls"):
            yield "an illegal call"
        if result.get("faults") == "unknown":
            yield "a fault that cannot be excluded"
        if (races := result.get("consequences")) and races["answer"] == "matters":
            yield "a race that changes the result"
        if result.get("effect") in ("none found", "none"):
            found = result.get("synchronised")
            yield (
                "a harmless violation" if found and is_harmless(found) else "no outcome found that only the network has"
            )

    def overall(self, results: Sequence[Result]) -> str:
        file = {result["file"] for result in results}
        counted = len(results) > 1 and all(isinstance(result["nodes"], int) for result in results)
        return f"{visible(file.pop())}: {on_all_counts(results)}" if len(file) == 1 and counted else ""

    def otherwise(self, result: Result) -> str:
        found = result.get("synchronised")
        return f" {found['summary'] if found else 'unknown'}{words.not_as_expected(result)}"

    def only_strict(self, results: Sequence[Result]) -> str:
        return words.only_strict(results, self.expect)

    def kept(self, result: Result) -> Result:
        witness = result["witness"]
        fault: Witness | None = None
        if witness and witness["fault"]:
            fault = {**witness, "computation": [], "memory": [], "standing": [], "source": ""}
        kept: Result = {**result, "witness": fault, "assertion_run": None, "deadlock_run": None, "effect_run": None}
        if consequences := result.get("consequences"):
            kept["consequences"] = {**consequences, "matters": [], "harmless": []}
        if calls := result.get("illegal_calls"):
            kept["illegal_calls"] = [{**call, "run": None} for call in calls]
        return kept


class RaceForm(Form[RaceResult]):
    """Answers about races, each with the verdict on robustness beside it. ``every_run``: reports show a run to each
    race."""

    hint = "Races are shown for a single program or with --verbose."
    verdicts = ("no race", "race", "unknown", "error")
    plain = (
        ("nodes", "{:>7}"), ("verdict", "  {:<8}"), ("pairs", "{:>6}"), ("beside", "  {:<10}"), ("states", "{:>8}"),
        ("seconds", "{:>9}"),
    )  # fmt: skip
    expecting = (
        ("nodes", "{:>6}"), ("found", "  {:<9}"), ("", " {:<2}"), ("expected", " {:<9}"), ("pairs", "{:>6}"),
        ("beside", "  {:<10}"), ("states", "{:>7}"), ("seconds", "{:>8}"),
    )  # fmt: skip

    def __init__(
        self, expect: bool = False, list_assumptions: bool = False, full: bool = False, every_run: bool = False
    ) -> None:
        super().__init__(expect, list_assumptions, full)
        self.every_run = every_run

    def shows_more(self, result: RaceResult) -> bool:
        return result["verdict"] == "race"

    def report(self, result: RaceResult, width: int, glyphs: Glyphs) -> list[Line]:
        return races_text.race_report(result, width, glyphs, self.list_assumptions, self.full, self.every_run)

    def facts(self, result: RaceResult) -> dict[str, object]:
        other = result.get("robustness")
        return {"pairs": number_of_pairs(result), "robustness": other and other["verdict"]}

    def cells(self, result: RaceResult) -> list[Segment]:
        other = result.get("robustness")
        beside = (other["verdict"], ROBUSTNESS[other["verdict"]]) if other else ("-", "faint")
        return [(pairs(result), ""), beside]

    def found(self, result: RaceResult) -> str:
        return counted(result)

    def nothing_expected(self, result: RaceResult) -> str:
        return races_text.NOTHING_EXPECTED

    def noted(self, result: RaceResult) -> Iterator[str]:
        other = result.get("robustness")
        if other and (result["verdict"], other["verdict"]) == ("race", "robust"):
            yield "a race and robust all the same"

    def kept(self, result: RaceResult) -> RaceResult:
        other = result.get("robustness")
        without = [{**race, "computation": [], "source": "", "sources": {}, "memory": []} for race in result["races"]]
        kept: RaceResult = {**result, "races": without}  # type: ignore[typeddict-item]
        if run := result.get("witness"):
            kept["witness"] = {**run, "computation": [], "memory": [], "standing": [], "source": ""}
        if other:
            kept["robustness"] = VerdictForm().kept(other)
        return kept


def pairs(result: RaceResult) -> str:
    """How many pairs of lines race: ``3``, ``1+`` where not all are known, ``-`` without an answer."""
    if result["verdict"] not in ("race", "no race"):
        return "-"
    number = number_of_pairs(result)
    more = "+" * (result["verdict"] == "race" and (not result["all"] or result["reason"] is not None))
    return ("0" if number == "none" else number.partition(" ")[0]) + more
