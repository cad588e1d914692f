"""The exact answers for one recorded trace: whether an attack hides in it, and which accesses can be next at once.

Written from the definitions of `proofs/recorded-traces.md`; `recording.native` does the same for long traces. Both
look at the order of the trace alone: every run before the last command is an ideal of it, with steps delayed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from pgasrob.analysis.placement import NOW, lower_bounds
from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.races.pairs import Next, Pairs
from pgasrob.races.pairs import step as step_of
from pgasrob.robustness.moves import Move, Rerun, in_two_parts
from pgasrob.robustness.traces.closing import Closing
from pgasrob.robustness.traces.delaying import Delaying, Order, Source
from pgasrob.robustness.traces.trace import Clock, Event, Trace
from pgasrob.semantics.computation import Computation


class Both(NamedTuple):
    """Two accesses that race: both are next after ``moves``, of which the steps in part 1 happen, and no others."""

    one: Next
    other: Next
    moves: list[Move]

    def run(self, instance: Instance) -> Computation:
        """What happens before."""
        computation, parts = in_two_parts(Rerun(instance).words(self.moves))
        return tuple(event for event, part in zip(computation, parts, strict=True) if part == NOW)


class Exact:
    """One trace, which is a run of the straight-line program ``instance`` (`recording.straight`)."""

    def __init__(self, instance: Instance, trace: Trace, strict: bool = False) -> None:
        self._instance, self._trace = instance, trace
        self._pairs = Pairs(instance, strict)

    def attack(self) -> list[Move] | None:
        """The moves of a run with a happens-before cycle; None when there is none. Raises :class:`Undecided`."""
        closing = Closing(self._instance, self._trace)
        found = next((moves for moves in closing.attacks() if moves is not None), None)
        if found is None and closing.undecided:
            raise Undecided
        return found

    def races(self) -> Iterator[Both]:
        """The accesses that are next at once after some ideal, and race."""
        for standing in self._standing.values():
            for number, one in enumerate(standing):
                for other in standing[:number]:
                    if self._pairs.race(other, one) and self._both_stand(other, one):
                        yield Both(other, one, self._moves(None, [other, one]))
        for event in self._trace.events:
            for place, step in enumerate(core.steps_of(event.operands)):
                yield from self._with_pending(Source(event, place, step.access))

    @cached_property
    def _order(self) -> Order:
        return Order(self._trace)

    @cached_property
    def _standing(self) -> dict[Cell, list[Next]]:
        """The accesses that are made at an issue, by cells."""
        found = defaultdict(list)
        for rank, places in enumerate(self._trace.standing):
            for command in (command for standing in places for command in standing.commands):
                made = core.at_issue(command.operands)
                if made is not None:
                    found[made.cell].append(Next(rank, command.transition, 0, made, stands=True))
        return found

    @cached_property
    def _steps(self) -> dict[Cell, list[tuple[Event, int, Next]]]:
        """The steps of the trace, by cells."""
        found = defaultdict(list)
        for event in self._trace.events:
            for place, step in enumerate(core.steps_of(event.operands)):
                next = step_of(event.rank, event.transitions[0], event.operands, place)
                found[step.access.cell].append((event, place, next))
        return found

    def _both_stand(self, one: Next, other: Next) -> bool:
        """Whether there is an ideal after which two ranks stand before these commands."""
        if one.rank == other.rank:
            return False
        return self._past(one)[other.rank] <= _index(other) and self._past(other)[one.rank] <= _index(one)

    def _with_pending(self, source: Source) -> Iterator[Both]:
        """The races of a step that is pending, with what ranks stand before and with steps of later operations."""
        event, place, access = source
        pending = step_of(event.rank, event.transitions[0], event.operands, place)
        stands = [each for each in self._standing.get(access.cell, ()) if self._pairs.race(pending, each)]
        steps = [each for each in self._steps[access.cell] if event.number < each[0].number]
        steps = [each for each in steps if self._pairs.race(pending, each[2])]
        if not stands and not steps:
            return
        delaying = Delaying(self._instance, self._trace, self._order, [source])
        for next in stands:
            index = _index(next)
            if event.clock[next.rank] <= index and not delaying.left.has(self._past(next)):
                yield Both(pending, next, self._moves(delaying, [next]))
        for later, number, next in steps:
            if not delaying.left.has(later.clock) and self._is_next(delaying, later, number):
                yield Both(pending, next, self._until(delaying, event, later, number))

    def _is_next(self, delaying: Delaying, event: Event, number: int) -> bool:
        """Whether a step is next when all that need not be delayed has happened."""
        operands = event.operands
        assert isinstance(operands, core.Transfer)
        bounds = lower_bounds(self._instance, delaying.placement(event.rank, event.index), operands)
        parts = delaying.parts.get(event.number, [NOW] * len(operands.steps))
        return bounds[number] == NOW and all(part == NOW for part in parts[:number])

    def _past(self, next: Next) -> Clock:
        """What has to be there for a rank to stand before the command."""
        index = _index(next)
        return self._trace.of_rank[next.rank][index - 1].clock if index else (0,) * self._instance.nodes

    def _moves(self, delaying: Delaying | None, stands: Sequence[Next]) -> list[Move]:
        """The longest run after which each of ``stands`` stands there."""

        def there(event: Event) -> bool:
            return not any(event.clock[next.rank] > _index(next) for next in stands)

        return [
            self._move(event, delaying)
            for event in self._trace.events
            if there(event) and not (delaying and delaying.left.has(event.clock))
        ]

    def _until(self, delaying: Delaying, first: Event, last: Event, number: int) -> list[Move]:
        """The shortest run after which the source and a step of ``last`` are next."""
        there = [event for event in self._trace.events if event.is_in(first.clock) or event.is_in(last.clock)]
        moves = [self._move(event, delaying) for event in there[:-1]]
        rank, transitions, parts = self._move(last, delaying)
        return [*moves, (rank, transitions, [*parts[:number], *(NOW + 1 for _ in parts[number:])])]

    @staticmethod
    def _move(event: Event, delaying: Delaying | None) -> Move:
        if event.is_barrier:
            return None, event.transitions, []
        parts = [NOW] * len(core.steps_of(event.operands))
        return event.rank, event.transitions, delaying.parts.get(event.number, parts) if delaying else parts


class Undecided(Exception):
    """There are too many updates of one cell of which a command may wait for some."""


def _index(next: Next) -> int:
    """The place of a command among those of its rank: a straight line counts them so."""
    return next.transition.occurrence
