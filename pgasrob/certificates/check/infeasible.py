"""Checks that no run leads from a source to Found: rules F1 to F6, E1 and E2 of `proofs/reductions.md`, section 2.

The evidence for one source has all that the rules demand, or more: accesses that ranks may have made, and the places
that tainted ranks reach, with the facts that are certain there. It ignores the values of memory, and how other ranks
get to their places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from pgasrob.certificates.check.command_effects import MOST, Command, Facts, Known, Reach, Touch, Touched, Values

PHASES = 4
"""The greatest number of barriers since the choice of the source that is distinguished from greater ones."""
Place = tuple[int, int, int]
"""A tainted rank, its control state, and the barriers since the choice of the source."""


class Way(NamedTuple):
    """Facts that hold at a place: about delayed steps of the rank, and the accesses that are in d."""

    facts: Facts
    delayed: Touched


class Fixpoint(NamedTuple):
    """The evidence for one source: what each rank may have accessed without delay, or at all, and the ways of each
    place."""

    done: Sequence[Set[Touch]]
    made: Sequence[Set[Touch]]
    places: Mapping[Place, Set[Way]]


Demand = tuple[str, Any, Any]
"""A missing piece of evidence: ("done" or "made", the rank, the access), or ("place", the place, the way); or `E`."""
E: Demand = "no command that may close a cycle", None, None
"""The demand that no evidence meets."""


class Infeasible:
    """Checks the evidence that sources are infeasible, given ``values`` that are closed."""

    def __init__(self, values: Values) -> None:
        self.values, self.ranks = values, range(values.instance.nodes)

    def demands(self, command: Command, step: int, known: Fixpoint) -> Iterator[Demand]:
        """What the evidence for a step of ``command`` lacks; nothing when it is closed."""
        if any(len(ways) > MOST for ways in known.places.values()):
            raise ValueError(f"more than {MOST} ways of a place")
        rank, state, _ = command.at
        empty, always = Way(frozenset(), frozenset()), Way(frozenset(), _certain(command.steps[step:]))
        yield from self._issued(known, (rank, state, 0), empty, command, step)  # F1
        positions = [(place, Way(*way), True) for place, ways in known.places.items() for way in ways]
        for other in set(self.ranks) - {rank}:
            states_of_other = frozenset().union(*(phase[other] for phase in self.values.phases if state in phase[rank]))
            positions += [((other, at, 0), always, False) for at in states_of_other]
        arrived: dict[int, set[tuple[Place, Way]]] = defaultdict(set)
        done, made = ([self._of_others(each, other) for other in self.ranks] for each in (known.done, known.made))
        for place, way, tainted in positions:
            other, at, phase = place
            seen = Known(command.steps[step].touches, tainted, done[other], made[other], way.delayed, way.facts)
            for each in self.values.possible(other, at):
                if each.is_barrier:
                    if tainted == (other == rank or phase > 0):
                        arrived[phase].add(((other, each.transition.target, min(phase + 1, PHASES)), way))
                    continue
                if seen.closes(each):  # E1 and E2
                    yield E
                for first, reached in seen.goes_on(each):  # F2 and F4 to F6
                    if reached:
                        yield from self._issued(known, place, way, each, first)
        for ends in arrived.values():  # F3
            if {place[0] for place, _ in ends} >= set(self.ranks):
                yield from (missing for end in ends for missing in self._at(known, *end))

    def _of_others(self, touched: Sequence[Set[Touch]], rank: int) -> Touched:
        """The accesses of other ranks."""
        rest = self.values.case.names[rank].rest
        return frozenset().union(*(each for other, each in enumerate(touched) if other != rank or rest))

    def _issued(self, known: Fixpoint, place: Place, way: Way, command: Command, first: int) -> Iterator[Demand]:
        """The demands of a command that joins T with its steps from ``first`` on delayed."""
        rank, _, phase = place
        now = command.bound + command.steps[:first]
        for name, touched, accesses in (("made", known.made, command.chain), ("done", known.done, now)):
            yield from ((name, rank, touch) for each in accesses for touch in each.touches - touched[rank])
        after = Way(command.after(way.facts, first), way.delayed | _certain(command.steps[first:]))
        yield from self._at(known, (rank, command.transition.target, phase), after)

    def _at(self, known: Fixpoint, place: Place, way: Way) -> Iterator[Demand]:
        if not any(facts <= way.facts and delayed <= way.delayed for facts, delayed in known.places.get(place, ())):
            yield "place", place, way


def _certain(steps: Iterable[Reach]) -> Touched:
    """The accesses of steps that may be to one cell only."""
    return frozenset(touch for each in steps if each.cell is not None for touch in each.touches)
