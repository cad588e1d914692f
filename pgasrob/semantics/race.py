"""Two accesses that race, and the run that leads to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pgasrob.program.core import Cell
    from pgasrob.program.statements import Span
    from pgasrob.semantics.replay import Run

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
