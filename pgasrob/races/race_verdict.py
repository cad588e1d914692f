"""The answer about races for one program and node count, with the runs that lead to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pgasrob.display import Result
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.verdict import Stats

if TYPE_CHECKING:
    from pgasrob.diagnostics import Diagnostic
    from pgasrob.program.assumptions import Assumption
    from pgasrob.program.core import Cell
    from pgasrob.program.statements import Span
    from pgasrob.robustness.reasons import Reason
    from pgasrob.robustness.verdict import Verdict, Witness
    from pgasrob.semantics.replay import Run

Answer = Literal["race", "no race", "unknown", "error"]
RaceKind = Literal["local buffer", "remote", "local"]
"""``local buffer``: a rank's own access and what a pending operation of the same rank does to its memory. ``remote``:
at least one of the two is made by a rank to the memory of another one. ``local``: both by ranks to their own
memory."""


@dataclass(frozen=True, slots=True)
class RacingAccess:
    """One of the two: the access of the command ``occurrence`` of ``rank``, which is written at ``span``.

    ``access`` is what it does: "read", "write", or "read and write"; ``atomic`` the type that it is atomic in, after
    "by" what it does where that counts, "" for a plain one. ``operation``: which of the rank's issued commands in the
    run it belongs to, where it is a step of a pending operation; None where it is the next command of its rank.
    """

    rank: int
    occurrence: int
    span: Span
    access: Literal["read", "write", "read and write"]
    cell: Cell
    atomic: str = ""
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses that are both next after ``run``, an SC run in which the operations stop that have to."""

    kind: RaceKind
    accesses: tuple[RacingAccess, RacingAccess]
    run: Run

    @property
    def lines(self) -> tuple[int, int]:
        """The pair of lines of the source that race: where the two commands begin, the earlier line first.

        Races are counted by it: columns, ranks, cells, kinds, iterations and calls make no further pairs, a line may be
        paired with itself, and a line of another file (:class:`~pgasrob.program.statements.Line`) is another one.
        """
        first, second = sorted(access.span.line for access in self.accesses)
        return first, second


@dataclass(frozen=True, slots=True, repr=False)
class RaceVerdict(Result):
    """``races``: one per pair of lines (`Race.lines`), the first found first; one alone unless all were asked for.

    ``reason``: why there is no answer, or why the list may not be whole. ``strict``: an await and a value that arrives
    count as a race. ``robustness``: the answer to the other question, where it was asked. ``alike``: as of a
    :class:`~pgasrob.robustness.verdict.Verdict`, how many elements are accessed alike, and how many of them are looked
    at. ``fault``: the run to the fault that makes it an error.
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

    def without_runs(self, reason: Reason | None = None) -> RaceVerdict:
        """The same without its races and its fault, for a ``reason`` that it gives unless it has one."""
        return replace(self, races=(), fault=None, reason=self.reason or reason)
