"""All executions of a program: one for each Mazurkiewicz trace of its runs (`reference.exploration`)."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pgasrob.program.commands import Assume, Mark
from pgasrob.program.instance import Instance
from pgasrob.races.mpi.actions import Execution
from pgasrob.races.mpi.execution import execution_of
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.twins import traces_without_idle_rounds

MOST_EVENTS = 2_000
"""Of a run; one that goes on is taken to have no end."""
MOST_EXECUTIONS = 10_000


class GaveUp(Exception):
    """Not all executions are known; the text says why."""


def executions(instance: Instance, timeout: float | None = None, *, stuck: bool = False) -> Iterator[Execution]:
    """The executions of a marked program; ``stuck``: those that end in a deadlock, too. Raises :class:`GaveUp`, after
    ``timeout`` seconds too, and :class:`~pgasrob.races.mpi.execution.NotCovered`."""
    begun, count, exploration = time.monotonic(), 0, traces_without_idle_rounds(instance)
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
        commands = [[each.command for each in leaving] for leaving in left]
        if any(all(isinstance(each, Assume) and not isinstance(each, Mark) for each in rank) for rank in commands):
            continue  # a guess of the front end was wrong: there is no such run
        space = SequentialSpace(instance)
        stays = space.standstill.stays(exploration.state)
        polls = stays is not None and any(stay.how == "spins" for stay in stays)
        if not stuck and not polls and space.is_deadlock(exploration.state):
            raise GaveUp("the ranks can wait for each other for ever")
        count += 1
        execution = execution_of(instance, trace.events)
        execution.moves = exploration.moves
        yield execution
