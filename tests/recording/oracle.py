"""The recorded runs by their definition: the computations of the straight-line program that go as the trace says, to
its end or with one command more (`proofs/recorded-traces.md`). Everything is followed step by step, so it is slow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from pgasrob.automata.automaton import Reached
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.races.racing_pairs import Next, Pairs, next_at_issue
from pgasrob.robustness.definition import DefinitionState, HappensBeforeSpace
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.computation import POPS, has_steps
from pgasrob.semantics.mazurkiewicz_trace import Trace
from pgasrob.semantics.state_space import Letter, Operation, StateSpace

Made = tuple[int, int, int]
"""An access: the rank, the place of its command among those of the rank, its own place in the chain of the command."""


class Recorded(NamedTuple):
    """``pending``: the commands of the operations of each rank that are not finished. ``made``: the accesses so far.
    ``last``: the command that need not go as the trace says."""

    x: DefinitionState
    pending: tuple[tuple[int, ...], ...]
    made: frozenset[Made]
    last: tuple[int, int] | None = None


class RecordedRuns:
    """The automaton of these computations; with ``prefixes`` of those of the whole trace, without one command more."""

    def __init__(self, instance: Instance, trace: Trace, prefixes: bool) -> None:
        self.instance, self._trace, self._prefixes = instance, trace, prefixes
        self._space, self._x = HappensBeforeSpace(instance), StateSpace(instance)
        self.initial = Recorded(self._space.initial, ((),) * instance.nodes, frozenset())
        accesses = [
            ((entry.event.rank, entry.event.index, entry.place or 0), entry.made.access) for entry in trace.entries()
        ]
        self._before = {
            key: {other for other, earlier in accesses[:place] if other[:2] != key[:2] and conflict(earlier, access)}
            for place, (key, access) in enumerate(accesses)
        }

    def is_final(self, state: Recorded) -> bool:
        return state.x[2]

    def successors(self, state: Recorded) -> Iterator[tuple[tuple[Letter, ...], Recorded]]:
        for word, target in self._space.successors(state.x):
            kind, rank, cell, which, last, *_ = word[0]
            pending = list(state.pending)
            if kind in POPS:
                index = pending[rank][which]
                left = next(
                    entry.left
                    for place, entry in enumerate(
                        each for each in state.x[0].pending[rank] if isinstance(each, Operation)
                    )
                    if place == which
                )
                made = (rank, index, self._chain(rank, index) - len(left))
                if last:
                    pending[rank] = (*pending[rank][:which], *pending[rank][which + 1 :])
                if (rank, index) == state.last:
                    yield word, state._replace(x=target, pending=tuple(pending))
                elif self._before[made] <= state.made:
                    yield word, state._replace(x=target, pending=tuple(pending), made=state.made | {made})
                continue
            if state.last is not None:
                continue
            index = state.x[0].control[rank]
            if has_steps(kind):
                pending[rank] = (*pending[rank], index)
            if kind != "barrier" and not self._prefixes:
                yield word, Recorded(target, tuple(pending), state.made, (rank, index))
            if self._may_be_there(state, rank, index):
                made = (rank, index, 0)
                if cell is None:
                    yield word, Recorded(target, tuple(pending), state.made)
                elif self._before[made] <= state.made:
                    yield word, Recorded(target, tuple(pending), state.made | {made})

    def _may_be_there(self, state: Recorded, rank: int, index: int) -> bool:
        """Whether a command of the trace comes after none that is missing."""
        if index >= len(self._trace.of_rank[rank]):
            return False
        if self._prefixes:
            return True
        clock = self._trace.of_rank[rank][index].clock
        itself = set(range(self.instance.nodes)) if self._trace.of_rank[rank][index].is_barrier else {rank}
        issued = state.x[0].control
        return all(issued[other] >= count - (other in itself) for other, count in enumerate(clock))

    def _chain(self, rank: int, index: int) -> int:
        ((transition,),) = [self.instance.automata[rank].out[index]]
        return len(core.accesses_of(transition.form))

    def next(self, state: Recorded) -> Iterator[Next]:
        for rank in range(self.instance.nodes):
            yield from next_at_issue(self.instance, rank, state.x[0].control[rank], state.x[0].registers[rank])
            place = 0
            for position, entry in enumerate(state.x[0].pending[rank]):
                if isinstance(entry, Operation):
                    if self._x.step(state.x[0], rank, position) is not None:
                        index = state.pending[rank][place]
                        ((transition,),) = [self.instance.automata[rank].out[index]]
                        number = self._chain(rank, index) - len(entry.left)
                        yield Next(rank, transition, number, entry.left[0].access, at_issue=False)
                    place += 1


class TooLarge(Exception):
    """There are more states than anybody wants to follow."""


def answers(instance: Instance, trace: Trace, strict: bool, most: int) -> tuple[bool, set[frozenset[Made]]]:
    """Whether there is a cycle, and the accesses that race. Raises :class:`TooLarge`."""
    attacks, prefixes = (RecordedRuns(instance, trace, prefixes) for prefixes in (False, True))
    pairs = Pairs(instance, strict)
    reached, races = Reached(attacks), set[frozenset[Made]]()
    cyclic = False
    for state in reached.expand():
        cyclic = cyclic or attacks.is_final(state)
        if len(reached) > most:
            raise TooLarge
    reached = Reached(prefixes)
    for state in reached.expand():
        if len(reached) > most:
            raise TooLarge
        if not reached.midway:
            for one, other in combinations(prefixes.next(state), 2):
                if not (one.at_issue and other.at_issue and one.rank == other.rank) and pairs.race(one, other):
                    races.add(frozenset(map(key_of, (one, other))))
    return cyclic, races


def key_of(next: Next) -> Made:
    return next.rank, next.transition.occurrence, next.number
