"""All executions of a program: one for each Mazurkiewicz trace of its runs (`robustness.traces`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from pgasrob.program import core
from pgasrob.program.commands import Assume, Command, Mark
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.races.mpi.actions import Execution
from pgasrob.races.mpi.execution import execution_of
from pgasrob.robustness.traces.exploration import Exploration
from pgasrob.robustness.traces.trace import Event
from pgasrob.semantics.sequential import SequentialSpace, SequentialState

LONGEST_ROUND = 200
"""Events of a round of a loop that are looked at."""
MOST_EVENTS = 2_000
"""Of a run; one that goes on is taken to have no end."""
MOST_EXECUTIONS = 10_000


class WithoutIdleRounds(Exploration):
    """The traces in which no rank goes round a loop a second time while all that it reads there is as it was.

    A round in which a rank polls by calls, and which changes nothing, is followed by another one only when somebody has
    changed what it read. More such rounds are other executions, but have no more races: to leave one out takes actions
    away, and orders between others only where these were ordered through it (`proofs/mpi-model.md`).
    """

    def _goes_on(self, rank: int, state: SequentialState) -> bool:
        events, standing = self._of_rank[rank], self._standing[rank]
        here = standing[-1]
        if any(isinstance(command.operands, core.Barrier) for command in here.commands):
            return True
        for begin in range(len(events) - 1, max(-1, len(events) - LONGEST_ROUND), -1):
            if events[begin].is_barrier:
                return True
            if (standing[begin].control, standing[begin].registers) == (here.control, here.registers):
                return not self._is_idle(rank, events[begin:], state)
        return True

    def _is_idle(self, rank: int, round: Sequence[Event], state: SequentialState) -> bool:
        """Whether what the ``round`` has accessed is as before, and nobody else has changed it on the way.

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


class GaveUp(Exception):
    """Not all executions are known; the text says why."""


def executions(instance: Instance, timeout: float | None = None) -> Iterator[Execution]:
    """The executions of a marked program. Raises :class:`GaveUp`, after ``timeout`` seconds too, and
    :class:`~pgasrob.races.mpi.execution.NotCovered`."""
    begun, count, exploration = time.monotonic(), 0, WithoutIdleRounds(instance)
    for trace in exploration.run():
        if exploration.faults:
            rank, transition, fault, _ = exploration.faults[0]
            raise GaveUp(f"rank {rank} faults in line {transition.span.line}: {fault}")
        if exploration.gave_up or exploration.length > MOST_EVENTS or count == MOST_EXECUTIONS:
            raise GaveUp(
                f"there are more than {MOST_EXECUTIONS:,} executions, or some of more than {MOST_EVENTS:,} events"
            )
        if timeout is not None and time.monotonic() - begun > timeout:
            raise GaveUp(f"the time is up ({timeout:g} s)")
        if trace is None:
            continue
        left = [of.out[at] for of, at in zip(instance.automata, exploration.state.control, strict=True) if of.out[at]]
        if any(all(_is_guess(each.command) for each in leaving) for leaving in left):
            continue  # a guess of the front end was wrong: there is no such run
        if SequentialSpace(instance).is_deadlock(exploration.state):
            raise GaveUp("the ranks can wait for each other for ever")
        execution = execution_of(instance, trace.events)
        execution.ended = not left
        count += 1
        yield execution


def _is_guess(command: Command) -> bool:
    return isinstance(command, Assume) and not isinstance(command, Mark)
