"""Finds which accesses other ranks may make while a rank is at a control state: those between the same barriers.

All ranks pass a barrier together, so at any time all are between the same two. The analysis pairs the parts of two
ranks' control automata that may be between the same barriers. Pending transfers do not end at a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import accumulate

from pgasrob.analysis.pending import pending_transfers
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.program import core
from pgasrob.program.graphs import reached
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

MOST_PAIRS = 200_000
"""Pairs of parts that are examined before the analysis gives up, and pairs all accesses of ranks with all others."""


@remembered
def touched_by_ranks(instance: Instance) -> list[Touched]:
    """What each rank may access in all, by commands and by steps of transfers."""
    known = ranges(instance)
    return [
        reduce(
            Touched.joined,
            (known.touched(rank, state, each) for state, leaving in enumerate(automaton.out) for each in leaving),
            Touched(),
        )
        for rank, automaton in enumerate(instance.automata)
    ]


@remembered
def touched_by_others(instance: Instance) -> list[Touched]:
    """For each rank what the other ranks may access in all."""
    return _of_others(touched_by_ranks(instance))


def _of_others(ranks: list[Touched]) -> list[Touched]:
    before = list(accumulate(ranks, Touched.joined, initial=Touched()))
    after = list(accumulate(reversed(ranks), Touched.joined, initial=Touched()))[::-1]
    return [before[rank].joined(after[rank + 1]) for rank in range(len(ranks))]


Noted = Callable[[int, Iterable[int]], Touched]
"""What a rank may do at some of its control states, by commands and by steps of what is pending there."""


@remembered
def meanwhile_touched(instance: Instance) -> list[list[Touched]]:
    """For each rank and control state (``[rank][state]``) the accesses that other ranks may make, by commands and by
    steps of transfers, between the barriers around that state."""
    known, planes = ranges(instance), Planes(len(instance.memory), instance.update_kinds)

    def accesses(rank: int, states: Iterable[int]) -> Touched:
        bits, pending, out = 0, pending_transfers(instance, rank), instance.automata[rank].out
        for of_pending in {pending[state].touched for state in states}:
            bits |= planes.bits(of_pending)
        for state in states:
            for each in out[state]:
                bits |= planes.bits(known.touched(rank, state, each))
        return planes.touched(bits)

    return meanwhile(instance, accesses)


def meanwhile(instance: Instance, noted: Noted) -> list[list[Touched]]:
    """For each rank and control state what the other ranks may do, of what is ``noted``, between the barriers around
    that state."""
    # Threads of a rank may be between different barriers. Two ranks have at least one pair of parts.
    if instance.has_threads or instance.nodes * (instance.nodes - 1) > MOST_PAIRS:
        return _without_barriers(instance, noted)
    parts = [_Parts(instance, rank, noted) for rank in range(instance.nodes)]
    found: list[list[Touched]] = []
    left = MOST_PAIRS
    for rank, own in enumerate(parts):
        by_start: dict[int, Touched] = {}
        for other, others_parts in enumerate(parts):
            if other == rank:
                continue
            pairs = _together(own, others_parts, left)
            left -= len(pairs or ())
            if pairs is None:
                return _without_barriers(instance, noted)
            for start, others_start in pairs:
                met = others_parts.touched(others_start)
                by_start[start] = by_start.get(start, Touched()).joined(met)
        of_states = [Touched()] * len(own.states)
        for start, touched in by_start.items():
            for state in own.part(start):
                of_states[state] = of_states[state].joined(touched)
        found.append(of_states)
    return found


def _without_barriers(instance: Instance, noted: Noted) -> list[list[Touched]]:
    """The coarsest answer: at every control state whatever the other ranks do."""
    states = [range(len(automaton.out)) for automaton in instance.automata]
    others = _of_others([noted(rank, of_rank) for rank, of_rank in enumerate(states)])
    return [[found] * len(of_rank) for found, of_rank in zip(others, states, strict=True)]


class _Parts:
    """The parts of a rank's control automaton that no barrier cuts, each by the state that it begins with."""

    def __init__(self, instance: Instance, rank: int, noted: Noted) -> None:
        self._known, self._rank, self._noted = ranges(instance), rank, noted
        self.states = instance.automata[rank].out
        self._found: dict[int, frozenset[int]] = {}
        self._touched: dict[int, Touched] = {}

    def part(self, start: int) -> frozenset[int]:
        """The states reached from ``start`` without passing a barrier."""
        if start not in self._found:
            self._found[start] = frozenset(reached([start], self._in_part))
        return self._found[start]

    def _in_part(self, state: int) -> Iterator[int]:
        for each in self.states[state]:
            if not isinstance(each.form, core.Barrier) and self._known.named(self._rank, state, each).possible:
                yield each.target

    def barriers(self, start: int) -> Iterator[tuple[str, int]]:
        """The names of the barriers that end the part, and where they lead."""
        for state in sorted(self.part(start)):
            for each in self.states[state]:
                if isinstance(each.form, core.Barrier):
                    yield each.form.name, each.target

    def touched(self, start: int) -> Touched:
        """What may be done in the part, of what is noted."""
        if start not in self._touched:
            self._touched[start] = self._noted(self._rank, self.part(start))
        return self._touched[start]


def _together(one: _Parts, other: _Parts, most: int) -> set[tuple[int, int]] | None:
    """The parts of two ranks that may come between the same barriers; None where there are more than ``most``."""
    found, stack = {(0, 0)}, [(0, 0)]
    while stack:
        stop_point()
        first, second = stack.pop()
        barriers = set(other.barriers(second))
        for name, target in set(one.barriers(first)):
            for other_name, other_target in barriers:
                pair = target, other_target
                if name == other_name and pair not in found:
                    found.add(pair)
                    stack.append(pair)
        if len(found) > most:
            return None
    return found
