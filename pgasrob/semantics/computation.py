"""Computations: sequences of events (the paper, section 2.3)."""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.instance import Cell

POPS = frozenset(("popa", "popb", "popc", "popd"))
"""The kinds of steps: read a source, update a destination, write a result, read what a compare_swap expects."""


class Event(NamedTuple):
    """An event of a computation.

    ``operation`` counts the issued events of its rank from 0, in program order; a step (:data:`POPS`) carries the
    operation of the command that issued it. ``occurrence`` is that command's place in the control automaton of its
    rank, ``cell`` the flat number of the cell accessed, None for an event that accesses none.
    """

    kind: str
    rank: int
    operation: int
    cell: Cell | None
    occurrence: int

    @property
    def is_step(self) -> bool:
        return self.kind in POPS

    @property
    def issued(self) -> tuple[int, int]:
        """The command this event belongs to, as (rank, operation)."""
        return self.rank, self.operation


Computation = tuple[Event, ...]
