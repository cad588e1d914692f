"""Races trace by trace: of each class of SC runs that differ in the order of independent commands one run is enough.

For a maximal trace and a step of it that stops, the *source*, there is a greatest part of the trace that can go on:
what completion rules put after the source stops too, and a command is left out, with all that comes after it, that
waits for a step that has stopped, or makes an access that conflicts with one. The next accesses of ranks along that
part are compared with the source, and with those of other ranks (`proofs/races.md`, section 8). So the interleavings
of programs that are synchronised by barriers, flags or notifications need not be gone through: they have one trace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import combinations
from typing import NamedTuple

from pgasrob.analysis.placement import DELAYED, NOW, Placement, fenced, lower_bounds, placed, wait_is_over
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.races.found import FoundRace, found_fault, found_race
from pgasrob.races.racing_pairs import Next, Pairs, Places, accesses, places
from pgasrob.reference.delaying import Left, Order
from pgasrob.reference.exploration import Exploration
from pgasrob.robustness.engine import TraceByTrace
from pgasrob.robustness.moves import Move, Rerun
from pgasrob.robustness.reasons import StateLimit
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.mazurkiewicz_trace import Command, Event, Trace
from pgasrob.semantics.sequential import FoundFault

MOST_EVENTS = 5_000
"""Events of a run beyond which it is taken to have no end: some seconds."""
MOST_IN_ALL = 4 * MOST_EVENTS
"""Events of all runs beyond which there are too many traces."""


class Candidate(NamedTuple):
    """``next``, an access of the next ``command`` of a rank after so many ``events``."""

    events: int
    command: Command
    next: Next


class Stopping:
    """What remains of a trace when the step number ``step`` of ``source`` stops.

    Attributes: ``left``, what has to be left out; ``parts``: of each operation of the source's rank of which a step
    stops, when its steps happen.
    """

    def __init__(self, instance: Instance, trace: Trace, order: Order, source: Event, step: int) -> None:
        self._instance, self._trace, self._order = instance, trace, order
        self._source, self._step = source, step
        self._cuts: dict[int, int] = {}
        self.left = Left(self._cuts)
        self.parts: dict[int, list[int]] = {}
        self._stopped = Touched()
        self._placements: list[tuple[int, Placement]] = []
        self._waiting = [source.number]
        looked = -1
        while self._waiting:
            number = heappop(self._waiting)
            if number != looked:
                looked = number
                self._look_at(trace.events[number])

    def placement(self, rank: int, events: int) -> Placement:
        """Where the steps of the first ``events`` of ``rank`` lie."""
        if rank != self._source.rank:
            return ()
        return next((placement for number, placement in reversed(self._placements) if number <= events), ())

    def _look_at(self, event: Event) -> None:
        if self.left.has(event.clock):
            return
        rank = self._source.rank
        own = rank in event.ranks
        index = event.clock[rank] - 1 if own else event.index
        is_source = event is self._source
        placement, operands = self.placement(rank, index), event.operands
        issues = own and not event.is_barrier
        parts = list[int]()
        if issues and isinstance(operands, core.Transfer):
            for number, least in enumerate(lower_bounds(self._instance, placement, operands)):
                here = DELAYED if is_source and number == self._step else NOW
                parts.append(max(least, here, *parts[-1:]))
        waits = issues and not wait_is_over(placement, operands)
        happens = event.chain[: len(event.chain) - parts.count(DELAYED)]
        if waits or (not is_source and any(self._stopped.hits(made.access) for made in happens)):
            self._cuts[event.rank] = min(event.index, self._cuts.get(event.rank, event.index))
            return
        if not own:
            return
        if issues:
            after = fenced(placement, operands)
            if isinstance(operands, core.Transfer):
                after = placed(self._instance, placement, operands, parts)
                if not is_source and self._repeats(event, operands, after):
                    self._cuts[rank] = min(index, self._cuts.get(rank, index))
                    return
                self._stop(event, parts)
            if after != placement:
                self._placements.append((index + 1, after))
        if index + 1 < len(self._trace.of_rank[rank]):
            heappush(self._waiting, self._trace.of_rank[rank][index + 1].number)

    def _repeats(self, event: Event, operands: core.Transfer[Cell, int], after: Placement) -> bool:
        """Whether ``event`` is the source's command again, and behind it the same stops where it is the source."""
        source, step = self._source, self._step
        if event.transitions != source.transitions:
            return False
        alone = [NOW] * step + [DELAYED] * (len(operands.steps) - step)
        same = operands.steps[step].access.cell == core.steps_of(source.operands)[step].access.cell
        return same and placed(self._instance, (), operands, alone) == after

    def _stop(self, event: Event, parts: list[int]) -> None:
        """Note the steps that stop, and who conflicts with them later."""
        if DELAYED not in parts:
            return
        self.parts[event.number] = parts
        before = len(event.chain) - len(parts)
        for number, part in enumerate(parts):
            if part == DELAYED:
                made = event.chain[before + number].access
                self._stopped = self._stopped.adding(made)
                for entry in self._order.after(event, before + number):
                    heappush(self._waiting, entry.event.number)


class TracesRaceSearch(TraceByTrace[Exploration]):
    """The races of an instance, trace by trace; a :class:`~pgasrob.races.found.RaceSearch`."""

    def __init__(self, instance: Instance, strict: bool = False) -> None:
        self._instance, self._pairs = instance, Pairs(instance, strict)
        super().__init__(Exploration(instance))
        self.races: dict[Places, FoundRace] = {}
        self.fault: FoundFault | None = None
        self.needs_robust = False

    def run(self) -> Iterator[None]:
        """Search, yielding many times; ends at a fault or when all has been seen."""
        exploration = self.exploration
        if self._faults():  # before its rank does something else
            return
        for trace in exploration.run():
            if self._faults():
                return
            if trace is not None:
                for _ in self._look_at(trace):
                    yield
            if reason := exploration.gives_up(MOST_EVENTS):
                self.gave_up = reason
                return
            if exploration.events > MOST_IN_ALL:
                self.gave_up = StateLimit(MOST_IN_ALL)
                return
            yield

    def _faults(self) -> bool:
        """Whether there is a fault where the run has come to, which is noted."""
        if self.exploration.faults:
            rank, transition, _, _ = self.exploration.faults[0]
            words = list(Rerun(self._instance).words(self.exploration.moves))
            self.fault = found_fault(self._instance, words, rank, transition.occurrence)
        return self.fault is not None

    def _look_at(self, trace: Trace) -> Iterator[None]:
        """Look for races in ``trace``."""
        by_cell: dict[Cell, list[Candidate]] = defaultdict(list)
        for rank, positions in enumerate(trace.positions):
            for events, position in enumerate(positions):
                for command in position.commands:
                    for each in accesses(rank, command.transition, command.operands):
                        by_cell[each.access.cell].append(Candidate(events, command, each))
        for candidates in by_cell.values():
            at_issue = [each for each in candidates if each.next.at_issue]
            for one, other in combinations(at_issue, 2):
                if one.next.rank != other.next.rank and self._pairs.race(one.next, other.next):
                    self._note_both(trace, one, other)
            yield
        order = Order(trace)
        for event in trace.events:
            for number, step in enumerate(core.steps_of(event.operands)):
                transition = event.transitions[0]
                source = accesses(event.rank, transition, event.operands)[-len(core.steps_of(event.operands)) :][number]
                met = [each for each in by_cell[step.access.cell] if conflict(each.next.access, step.access)]
                if met:
                    self._compare(trace, Stopping(self._instance, trace, order, event, number), event, source, met)
                yield

    def _note_both(self, trace: Trace, one: Candidate, other: Candidate) -> None:
        """Note a race of two next accesses, if both may be next at once."""
        where = places(one.next, other.next)
        if where in self.races:
            return
        ranks = ((one.next.rank, one.events), (other.next.rank, other.events))
        pasts = [trace.of_rank[rank][events - 1].clock for rank, events in ranks if events]
        if any(past[rank] > events for past in pasts for rank, events in ranks):
            return
        there = [event for event in trace.events if any(event.is_in(past) for past in pasts)]
        moves = [self._move(event, None) for event in there]
        self._note(where, moves, [one, other])

    def _compare(
        self, trace: Trace, stopping: Stopping, event: Event, source: Next, candidates: Sequence[Candidate]
    ) -> None:
        """Compare the source, a step of ``event``, with the next accesses of ranks."""
        for candidate in candidates:
            rank, events, command = candidate.next.rank, candidate.events, candidate.command
            race, where = self._pairs.race(source, candidate.next), places(source, candidate.next)
            if where in self.races if race else self.needs_robust:
                continue
            without = stopping.left.joined([(rank, events)])
            if without.has(event.clock) or (events and without.has(trace.of_rank[rank][events - 1].clock)):
                continue
            number, parts = 0, list[int]()
            if not candidate.next.at_issue:
                assert isinstance(command.operands, core.Transfer)
                steps = len(command.operands.steps)
                number = candidate.next.number - (len(core.accesses_of(command.operands)) - steps)
                bounds = lower_bounds(self._instance, stopping.placement(rank, events), command.operands)
                if DELAYED in bounds[: number + 1]:
                    continue
                parts = [NOW] * number + [DELAYED] * (steps - number)
            if not race:
                self.needs_robust = True
                continue
            pasts = [event.clock, *([trace.of_rank[rank][events - 1].clock] if events else [])]
            there = [each for each in trace.events if any(each.is_in(past) for past in pasts)]
            moves = [self._move(each, stopping) for each in there]
            if candidate.next.at_issue:
                self._note(where, moves, [candidate])
            else:
                self._note(where, [*moves, (rank, [command.transition], parts)], [])

    def _note(self, where: Places, moves: list[Move], before: Sequence[Candidate]) -> None:
        words = list(Rerun(self._instance).words(moves))
        commands = [(each.next.rank, each.next.transition.occurrence) for each in before]
        self.races[where] = found_race(self._instance, words, commands)

    @staticmethod
    def _move(event: Event, stopping: Stopping | None) -> Move:
        if event.is_barrier:
            return None, event.transitions, event.ranks
        parts = stopping.parts.get(event.number) if stopping else None
        return event.rank, event.transitions, parts or [NOW] * len(core.steps_of(event.operands))
