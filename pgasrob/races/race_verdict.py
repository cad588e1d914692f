"""The answer about races for one program and node count, with the runs that lead to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pgasrob.display import Result
from pgasrob.program.count_note import CountNote
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.verdict import Stats, Verdict, Witness

if TYPE_CHECKING:
    from pgasrob.diagnostics import Diagnostic
    from pgasrob.program.assumptions import Assumption
    from pgasrob.robustness.reasons import Reason
    from pgasrob.semantics.race import Race

Answer = Literal["race", "no race", "unknown", "error"]


@dataclass(frozen=True, slots=True, repr=False)
class RaceVerdict(Result):
    """``races``: one per pair of lines (`semantics.race`), the first found first; one alone unless all were asked for,
    and none of a race whose run a limit has left out, of which ``reason`` has the lines.

    ``reason``: why there is no answer, or why the list may not be whole. ``strict``: an await and a value that arrives
    count as a race. ``robustness``: the answer to the other question, where it was asked. ``alike``: as of a
    :class:`~pgasrob.robustness.verdict.Verdict`, how many elements are accessed alike, and how many of them are looked
    at. ``fault``: the run to the fault that makes it an error. ``count_note``: as of such a verdict.
    """

    file: str
    program: str | None
    nodes: int | None
    engine: str
    verdict: Answer
    races: tuple[Race, ...] = ()
    reason: Reason | None = None
    strict: bool = False
    stats: Stats = field(default_factory=Stats)
    reading: Reading = DEFAULT_READING
    errors: tuple[Diagnostic, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    robustness: Verdict | None = None
    alike: tuple[int, int] | None = None
    fault: Witness | None = None
    count_note: CountNote | None = None

    def without_runs(self, reason: Reason | None = None) -> RaceVerdict:
        """The same without its races and its fault, for a ``reason`` that it gives unless it has one."""
        return replace(self, races=(), fault=None, reason=self.reason or reason)
