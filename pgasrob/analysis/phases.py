"""Finds which accesses other ranks may make while a rank is at a control state: those between the same barriers.

All ranks pass a barrier together, so at any time all are between the same two. The analysis pairs the parts of two
ranks' control automata that may be between the same barriers. Pending transfers do not end at a barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    ranks = touched_by_ranks(instance)
    before = list(accumulate(ranks, Touched.joined, initial=Touched()))
    after = list(accumulate(reversed(ranks), Touched.joined, initial=Touched()))[::-1]
    return [before[rank].joined(after[rank + 1]) for rank in range(len(ranks))]


@remembered
def meanwhile_touched(instance: Instance) -> list[list[Touched]]:
    """For each rank and control state (``[rank][state]``) the accesses that other ranks may make, by commands and by
    steps of transfers, between the barriers around that state."""
    # Threads of a rank may be between different barriers. Two ranks have at least one pair of parts.
    if instance.has_threads or instance.nodes * (instance.nodes - 1) > MOST_PAIRS:
        return _without_barriers(instance)
    parts = [_Parts(instance, rank) for rank in range(instance.nodes)]
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
                return _without_barriers(instance)
            for start, others_start in pairs:
                met = others_parts.touched(others_start)
                by_start[start] = by_start.get(start, Touched()).joined(met)
        of_states = [Touched()] * len(own.states)
        for start, touched in by_start.items():
            for state in own.part(start):
                of_states[state] = of_states[state].joined(touched)
        found.append(of_states)
    return found


def _without_barriers(instance: Instance) -> list[list[Touched]]:
    """The coarsest answer: at every control state all accesses of the other ranks."""
    others = touched_by_others(instance)
    return [[others[rank]] * len(automaton.out) for rank, automaton in enumerate(instance.automata)]


class _Parts:
    """The parts of a rank's control automaton that no barrier cuts, each by the state that it begins with."""

    def __init__(self, instance: Instance, rank: int) -> None:
        self._known, self._rank = ranges(instance), rank
        self._pending = pending_transfers(instance, rank)
        self._planes = Planes(len(instance.memory), instance.update_kinds)
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
        """What may be accessed in the part: by commands, and by steps of what is pending."""
        if start not in self._touched:
            bits, planes, part = 0, self._planes, self.part(start)
            for pending in {self._pending[state].touched for state in part}:
                bits |= planes.bits(pending)
            for state in part:
                for each in self.states[state]:
                    bits |= planes.bits(self._known.touched(self._rank, state, each))
            self._touched[start] = planes.touched(bits)
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
