"""Sources from which nothing leads to Found: the rules F1 to F6, E1 and E2 of `proofs/reductions.md`, section 2.

The evidence for one source has what its rules demand, or more: accesses that ranks may have made, and the places that
tainted ranks come to, with what is certain of them there. The values of memory and the way of the others do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pgasrob.certificates.check.names import Case
from pgasrob.certificates.check.order import Facts, Touch, Touched, after, blocks, late, meets, ways
from pgasrob.certificates.check.values import Command, Commands, Reach, may_hit, must_hit, waited_for
from pgasrob.program import core

Phase = Sequence[frozenset[int]]
"""For each rank the control states that it may be in between two barriers."""
Source = tuple[int, int, int, int]
"""Rank, control state, place of the transition there, number of the step."""
Place = tuple[int, int, int]
"""A tainted rank, its control state, and the barriers since the choice of the source."""
Accesses = dict[Touch, set[int]]
"""By cell and way the ranks that may have made an access."""


class Way(NamedTuple):
    """What is certain at a place: of delayed steps of the rank, and accesses that are in d."""

    facts: Facts
    delayed: Touched


@dataclass
class Fixpoint:
    """The evidence for one source: what ranks may have accessed without delay (``done``), or at all (``made``), and the
    ways of each place, of which none is in a phase after ``last``."""

    last: int
    done: Accesses = field(default_factory=dict)
    made: Accesses = field(default_factory=dict)
    places: dict[Place, set[Way]] = field(default_factory=dict)


Demand = tuple[str, Any, Any]
"""What is missing: ("done" or "made", the access, the rank), or ("place", the place, the way); or `E`."""
E: Demand = "no command that may close a cycle", None, None
"""What cannot be put there."""


def phase_demands(commands: Commands, phases: Sequence[Phase], back: int) -> Iterator[tuple[int, int, int]]:
    """The (phase, rank, control state) that are missing in ``phases``; behind the last comes that with number
    ``back``."""
    yield from ((0, rank, 0) for rank in range(len(commands)) if 0 not in phases[0][rank])
    for number, phase in enumerate(phases):
        leaving = [[each for state in phase[rank] for each in own[state]] for rank, own in enumerate(commands)]
        passed = all(any(isinstance(each.operands, core.Barrier) for each in its) for its in leaving)
        for rank, command in ((rank, each) for rank, its in enumerate(leaving) for each in its if each.possible):
            is_barrier, into = isinstance(command.operands, core.Barrier), number
            if is_barrier:
                into = number + 1 if number + 1 < len(phases) else back
            if command.target not in phases[into][rank] and (passed or not is_barrier):
                yield into, rank, command.target


class Infeasible:
    """What is asked of the evidence, with closed ``phases``."""

    def __init__(self, case: Case, commands: Commands, phases: Sequence[Phase]) -> None:
        self.case, self.instance, self.commands, self.phases = case, case.instance, commands, phases
        self.waited_for = waited_for(case, commands)

    def company(self, rank: int, state: int) -> list[frozenset[int]]:
        """Where each rank may be while ``rank`` is before ``state``."""
        together = [phase for phase in self.phases if state in phase[rank]]
        return [frozenset().union(*(phase[other] for phase in together)) for other in range(self.instance.nodes)]

    def demands(self, source: Source, known: Fixpoint) -> Iterator[Demand]:
        """What is missing in the evidence for ``source``; nothing when it is closed."""
        rank, state, number, step = source
        company, command = self.company(rank, state), self.commands[rank][state][number]
        if not company[rank] or not command.possible:
            return
        chosen = command.steps[step]
        yield from self._issue(known, rank, 0, Way(frozenset(), frozenset()), command, step)  # F1
        always = Way(frozenset(), _certain(command.steps[step:]))
        for place, found in list(known.places.items()):
            for way in list(found):
                for each in self.commands[place[0]][place[1]]:
                    if each.possible and not isinstance(each.operands, core.Barrier):
                        yield from self._go_on(known, chosen, place, way, each)
        yield from self._barriers(known, rank, company, always)
        for other in (each for each in range(self.instance.nodes) if each != rank):
            for each in (each for at in company[other] for each in self.commands[other][at] if each.possible):
                yield from self._join(known, chosen, other, always, each)

    def _go_on(self, known: Fixpoint, chosen: Reach, place: Place, way: Way, command: Command) -> Iterator[Demand]:
        """E1 and F2: a tainted rank issues a command."""
        is_late = late(self.instance, way.facts, command.operands)
        if any(may_hit(each, chosen) for each in command.bound + command.steps[: _first(is_late)]):
            yield E
        if blocks(way.facts, command.operands):
            return
        if not any(must_hit(each, way.delayed) for each in command.bound):
            hit = [must_hit(each, way.delayed) for each in command.steps]
            yield from self._issue(known, place[0], place[2], way, command, min(_first(hit), _first(is_late)))

    def _barriers(self, known: Fixpoint, rank: int, company: list[frozenset[int]], always: Way) -> Iterator[Demand]:
        """F3"""
        for phase in {0, *(at for _, _, at in known.places)}:
            arrived: list[set[tuple[int, Way]]] = [set() for _ in company]
            for (tainted, state, at), found in list(known.places.items()):
                if at == phase and (tainted == rank or phase):
                    arrived[tainted].update((to, way) for to in self._behind(tainted, [state]) for way in found)
            if phase == 0 and arrived[rank]:
                for other in (each for each in range(len(company)) if each != rank):
                    arrived[other] = {(to, always) for to in self._behind(other, company[other])}
            for other, ends in enumerate(arrived) if all(arrived) else ():
                for to, way in ends:
                    yield from self._at(known, (other, to, min(phase + 1, known.last)), way)

    def _behind(self, rank: int, states: Iterable[int]) -> set[int]:
        """The control states behind barriers."""
        leaving = (each for state in states for each in self.commands[rank][state])
        return {each.target for each in leaving if isinstance(each.operands, core.Barrier)}

    def _join(self, known: Fixpoint, chosen: Reach, rank: int, always: Way, command: Command) -> Iterator[Demand]:
        """E2, and F4 to F6: a command of a rank that is not tainted."""
        in_done = [self._by_others(each, known.done, rank) for each in command.chain]
        in_made = [self._by_others(each, known.made, rank) for each in command.chain]
        for place, reach in enumerate(command.chain):
            if may_hit(reach, chosen) and (any(in_done[: place + 1]) or any(in_made[place + 1 :])):
                yield E
        steps, bound = command.steps, len(command.bound)
        if not any(must_hit(each, always.delayed) for each in command.bound):
            first = _first([must_hit(each, always.delayed) for each in steps])
            hitting = [place for place in range(len(steps)) if in_made[bound + place]]
            if any(in_done):
                yield from self._issue(known, rank, 0, always, command, first)
            elif hitting:
                yield from self._issue(known, rank, 0, always, command, min(first, hitting[-1]))
        for place, each in enumerate(steps):
            alike = each.access.commutes and each.access.commutes == chosen.access.commutes
            if alike and each.cells & chosen.cells & self.waited_for:
                yield from self._issue(known, rank, 0, always, command, place)

    def _issue(
        self, known: Fixpoint, rank: int, phase: int, way: Way, command: Command, first: int
    ) -> Iterator[Demand]:
        """A command that is reached, whose steps from ``first`` on are delayed for certain."""
        for reach in command.chain:
            yield from self._accessed("made", known.made, rank, reach)
        for reach in command.bound + command.steps[:first]:
            yield from self._accessed("done", known.done, rank, reach)
        facts = after(self.instance, way.facts, command.operands, first)
        further = Way(facts, way.delayed | _certain(command.steps[first:]))
        yield from self._at(known, (rank, command.target, phase), further)

    def _accessed(self, name: str, known: Accesses, rank: int, reach: Reach) -> Iterator[Demand]:
        for cell in reach.cells:
            for way in ways(reach.access):
                if rank not in known.get((cell, way), ()):
                    yield name, (cell, way), rank

    def _at(self, known: Fixpoint, place: Place, way: Way) -> Iterator[Demand]:
        found = known.places.get(place, ())
        if not any(each.facts <= way.facts and each.delayed <= way.delayed for each in found):
            yield "place", place, way

    def _by_others(self, reach: Reach, known: Accesses, rank: int) -> bool:
        """Whether an access may hit one that another rank has made."""
        conflicting = [way for way in ("r", "w", *self.instance.update_kinds) if meets(reach.access, way)]
        own = () if self.case.names[rank].rest else (rank,)
        return any(known.get((cell, way), set()).difference(own) for cell in reach.against for way in conflicting)


def _certain(steps: Iterable[Reach]) -> Touched:
    """The accesses of steps that may be to one cell only."""
    return frozenset((each.cell, way) for each in steps if each.cell is not None for way in ways(each.access))


def _first(delayed: Sequence[bool]) -> int:
    return next((number for number, each in enumerate(delayed) if each), len(delayed))
