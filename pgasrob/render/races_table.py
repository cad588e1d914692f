"""Several answers about races in one table, a row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.render import words
from pgasrob.render.lines import Segment
from pgasrob.render.races_json import counted, number_of_pairs
from pgasrob.render.races_text import nothing_expected
from pgasrob.render.run_json import FAULT_CODE
from pgasrob.render.table import Table
from pgasrob.render.verdict_json import RaceResult

ROBUSTNESS = {"robust": "good", "not robust": "bad", "unknown": "open", "error": "bad"}


class RaceTable(Table[RaceResult]):
    """The table of answers about races; the column behind them answers the other question."""

    plain = (
        ("nodes", "{:>7}"),
        ("verdict", "  {:<8}"),
        ("pairs", "{:>6}"),
        ("beside", "  {:<10}"),
        ("states", "{:>8}"),
        ("seconds", "{:>9}"),
    )
    expecting = (
        ("nodes", "{:>6}"),
        ("found", "  {:<9}"),
        ("", " {:<2}"),
        ("expected", " {:<9}"),
        ("pairs", "{:>6}"),
        ("beside", "  {:<10}"),
        ("states", "{:>7}"),
        ("seconds", "{:>8}"),
    )
    verdicts = ("no race", "race", "unknown", "error")

    def cells(self, result: RaceResult) -> list[Segment]:
        other = result.get("robustness")
        beside = (other["verdict"], ROBUSTNESS[other["verdict"]]) if other else ("-", "faint")
        return [(pairs(result), ""), beside]

    def fault(self, result: RaceResult) -> str:
        run = result.get("witness")
        return words.fault(result["file"], run["fault"]) if run and run["fault"] else ""

    def codes(self, results: Sequence[RaceResult]) -> list[str]:
        of_faults = {FAULT_CODE for result in results if self.fault(result)}
        return sorted({*super().codes(results), *of_faults})

    def found(self, result: RaceResult) -> str:
        return counted(result)

    def nothing_expected(self, result: RaceResult) -> str:
        return nothing_expected(result)

    def facts(self, result: RaceResult) -> Iterator[str]:
        other = result.get("robustness")
        if other and (result["verdict"], other["verdict"]) == ("race", "robust"):
            yield "a race and robust all the same"


def pairs(result: RaceResult) -> str:
    """How many pairs of lines race: ``3``, ``1+`` where not all are known, ``-`` without an answer."""
    if result["verdict"] not in ("race", "no race"):
        return "-"
    number = number_of_pairs(result)
    more = "+" * (result["verdict"] == "race" and (not result["all"] or result["reason"] is not None))
    return ("0" if number == "none" else number.partition(" ")[0]) + more
