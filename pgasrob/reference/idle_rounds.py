"""The traces without rounds of a loop that find everything as it was before."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.reference.exploration import Exploration
from pgasrob.semantics.mazurkiewicz_trace import Event
from pgasrob.semantics.sequential import SequentialState

LONGEST_ROUND = 200
"""Events of a round of a loop that are looked at."""


class WithoutIdleRounds(Exploration):
    """The traces in which no rank goes round a loop a second time while all that it reads there is as it was.

    A round in which a rank polls by calls, and which changes nothing, is followed by another one only when somebody has
    changed what it read. More such rounds are other executions, but have no more races: to leave one out takes actions
    away, and orders between others only where these were ordered through it (`proofs/mpi-model.md`).
    """

    def _goes_on(self, rank: int, state: SequentialState) -> bool:
        events, positions = self._of_rank[rank], self._positions[rank]
        here = positions[-1]
        if any(isinstance(command.operands, core.Barrier) for command in here.commands):
            return True
        for begin in range(len(events) - 1, max(-1, len(events) - LONGEST_ROUND), -1):
            if events[begin].is_barrier:
                return True
            if (positions[begin].control, positions[begin].registers) == (here.control, here.registers):
                return not self._is_idle(rank, events[begin:], state)
        return True

    def _is_idle(self, rank: int, round: Sequence[Event], state: SequentialState) -> bool:
        """Whether what the ``round`` has accessed is as before, and no other rank has changed it on the way.

        Where the rank might have waited for something instead, that may come to be there: such a round is none.
        """
        if any(self._looks[event.number] for event in round):
            return False
        accessed = {made.access.cell for event in round for made in event.chain}
        held: dict[Cell, tuple[int, int]] = {}  # what a cell holds, and who was the last to access it
        first: dict[Cell, int] = {}
        for event in self._run[round[0].number :]:
            for made in event.chain:
                cell = made.access.cell
                if cell not in accessed:
                    continue
                first.setdefault(cell, made.before)
                if cell in held and held[cell][1] != rank and held[cell][0] != made.before:
                    return False
                held[cell] = made.before, event.rank
        return all(
            state.memory[cell] == first[cell] and (by == rank or state.memory[cell] == before)
            for cell, (before, by) in held.items()
        )
