"""Persistent sets: ranks that may be expanded alone, because what the others can do meanwhile does not touch it.

A set of ranks is closed when no access that one of them is about to make conflicts with one that a rank outside could
make before its next barrier. The barrier itself cannot happen while the next command of a rank of the set is another
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import NamedTuple

from pgasrob.analysis.futures import Futures
from pgasrob.analysis.meanwhile import Standing, is_left_alone
from pgasrob.analysis.placement import wait_is_over
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.graphs import reached
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import State
from pgasrob.reference.liveness_reduction import has_ended


class Outlook(NamedTuple):
    """What a rank is about to access, and all that it could access before its next barrier comes.

    ``passing``: the commands that it may ever pass as part of sigma. ``awaited``: for races what counts of ``next`` for
    ranks whose next command is an await.
    """

    next: Touched
    future: Touched
    at_barrier: bool
    passing: list[Transition]
    awaited: Touched | None


Awaited = Callable[[int, Transition, Operands], Touched]
"""What counts of the accesses of a command of a rank for others whose next command is an await."""


def persistent_sets(
    instance: Instance, futures: Futures, state: State, awaited: Awaited | None = None
) -> Iterator[tuple[int, ...]]:
    """The sets of ranks that may be expanded alone when one of their ranks can move, smallest first.

    Of equally large sets that comes first which has been closed from a smaller rank; single ranks that are found only
    by looking at what others may do meanwhile come after the others. ``awaited``: for races, for which it counts that
    the next command of a rank is an await.
    """
    threads = instance.has_threads
    outlooks = {
        rank: _outlook(instance, futures, state, rank, awaited)
        for rank in range(instance.processes)
        if not has_ended(instance, state, rank) and instance.automata[rank].out[state.control[rank]]
    }
    # A set is usable when no rank outside may do what conflicts with the next commands of its members (Lemma 5), and
    # when none of its members can pass a barrier: while a rank stays where it is none can, if it has no other threads.
    demanded = {
        rank: [other for other, theirs in outlooks.items() if other != rank and outlook.next.conflicts(theirs.future)]
        for rank, outlook in outlooks.items()
    }
    seeds = [rank for rank, outlook in outlooks.items() if not outlook.at_barrier]
    closed = dict.fromkeys(tuple(sorted(reached([rank], demanded.__getitem__))) for rank in seeds)
    stays = [ranks for ranks in closed if not (threads and any(outlooks[rank].at_barrier for rank in ranks))]
    usable = sorted((ranks for ranks in stays if len(ranks) < len(outlooks)), key=len)
    yield from (ranks for ranks in usable if len(ranks) == 1)
    if len(outlooks) > 1 and not threads:  # the weaker condition of Lemma 5'
        yield from (
            (rank,) for rank in seeds if (rank,) not in closed and _is_left_alone(instance, state, rank, outlooks)
        )
    yield from (ranks for ranks in usable if len(ranks) > 1)


def _is_left_alone(instance: Instance, state: State, rank: int, outlooks: dict[int, Outlook]) -> bool:
    def passes(other: int, transition: Transition) -> bool:
        return other in outlooks and transition in outlooks[other].passing

    standing = Standing(state.control, state.registers, state.memory)
    return is_left_alone(instance, standing, rank, outlooks[rank].next, passes, outlooks[rank].awaited)


def _outlook(instance: Instance, futures: Futures, state: State, rank: int, awaited: Awaited | None = None) -> Outlook:
    near = far = waiting = Touched()
    passing = []
    for transition, operands in instance.evaluated(rank, state.control[rank], state.registers[rank]):
        own = _touched(operands)
        near, far = near.joined(own), far.joined(own)
        if awaited is not None:
            waiting = waiting.joined(awaited(rank, transition, operands))
        if not _is_blocked(state, rank, operands):
            far = far.joined(futures.before_barrier[rank][transition.target])
            passing.append(transition)
    leaving = instance.automata[rank].out[state.control[rank]]
    barriers = [transition for transition in leaving if isinstance(transition.form, core.Barrier)]
    for transition in barriers if instance.has_threads else ():
        far = far.joined(futures.before_barrier[rank][transition.target])
    return Outlook(near, far, bool(barriers), passing, None if awaited is None else waiting)


def _touched(operands: Operands) -> Touched:
    """What a command accesses, at its issue and in its steps."""
    return reduce(Touched.adding, core.accesses_of(operands), Touched())


def _is_blocked(state: State, rank: int, operands: Operands) -> bool:
    """Whether D keeps a command from being part of sigma for ever: (m3) has no such move, or it waits for a step in
    D."""
    made, attack = core.at_issue(operands), state.attack
    if attack is not None and made is not None and attack.delayed.hits(made):
        return True
    return not wait_is_over(state.placement[rank], operands)
