"""Whether an attack hides in a trace: for each step that may be delayed, the commands that may close the cycle.

Such a command, e, stands where some rank stands after some of its events, and need not be in the trace itself. It has
an access that conflicts with the source, and comes after the source's command, by the rules (m2) of `proofs/attack.md`.
The run before it is as long as it can be: U without the event that stands where e stands, and without what comes after
that. Only where e waits for a value that commuting updates make, less may do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from pgasrob.analysis.placement import DELAYED, NOW, lower_bounds
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance, Memory
from pgasrob.reference.attack import first_part
from pgasrob.reference.delaying import Delaying, Left, Order, Source
from pgasrob.reference.subsets import MOST_SETS, TooMany, Updates
from pgasrob.robustness.moves import Move
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.effect import captured, take_step
from pgasrob.semantics.mazurkiewicz_trace import (
    Command,
    Entry,
    Event,
    Layer,
    Position,
    Trace,
    passes,
    performed,
    value_after,
)
from pgasrob.semantics.tested_conditions import conditions_of

MOST_FURTHER = 1 << 12
"""The sets of further sources that are tried for one source, whoever waits for it."""

Choosable = Mapping[tuple[int, int, int], int]
"""For a rank, its control state and the occurrence of a remote command the steps that may be the source: a bit set."""


class Candidate(NamedTuple):
    """What ``rank`` may issue after ``events`` of its events."""

    rank: int
    events: int
    position: Position
    command: Command


class Closing:
    """Looks for attacks in one trace.

    ``choosable`` restricts the choice of the source; None: any step of any command. Attribute ``undecided``: the
    sources for which there is too much to choose from, as ``choosable`` has them.
    """

    def __init__(self, instance: Instance, trace: Trace, choosable: Choosable | None = None) -> None:
        self._instance, self._trace, self._choosable = instance, trace, choosable
        self._order = Order(trace)
        self._conditions = conditions_of(instance)
        self.undecided: set[tuple[int, int, int, int]] = set()
        self._sets = 0  # of further sources that have been tried for the source
        self._by_cell: dict[Cell, list[Candidate]] = defaultdict(list)
        for rank, positions in enumerate(trace.positions):
            for events, position in enumerate(positions):
                for command in position.commands:
                    candidate = Candidate(rank, events, position, command)
                    for cell in {made.cell for made in self._accesses(candidate)}:
                        self._by_cell[cell].append(candidate)

    def attacks(self) -> Iterator[list[Move] | None]:
        """For each source the moves of a run with an attack on it; None when there is none."""
        return map(self._attack_on, self.sources())

    def sources(self) -> Iterator[Source]:
        """The steps that may be delayed, last those of operations on the rank's own memory alone: a run in which ranks
        meet says more."""
        for event in sorted(self._trace.events, key=self._stays):
            chosen = -1 if self._choosable is None else self._choosable.get(self._command(event), 0)
            for number in range(len(core.steps_of(event.operands))):
                if chosen >> number & 1:
                    yield self._source(event, number)

    def _stays(self, event: Event) -> bool:
        owner, home = self._instance.owner, self._instance.home[event.rank]
        return all(owner(step.access.cell) == home for step in core.steps_of(event.operands))

    def _command(self, event: Event) -> tuple[int, int, int]:
        position = self._trace.positions[event.rank][event.index]
        return event.rank, position.control, event.transitions[0].occurrence

    def _attack_on(self, source: Source) -> list[Move] | None:
        delaying: Delaying | None = None
        self._sets = 0
        cells = source.access.cell, *sorted(source.turned)
        for candidate in (each for cell in cells for each in self._by_cell.get(cell, ())):
            left_into = self._left_into(source, candidate)
            if not any(conflict(made, left_into) for made in self._accesses(candidate)):
                continue
            if delaying is None:
                delaying = Delaying(self._instance, self._trace, self._order, [source])
            first = self._first_part(delaying, source, candidate, Left({}))
            if first is None:
                continue
            if not candidate.command.waits:
                return self._moves(delaying, candidate, Left({}), first)
            try:
                waiting = self._with_what_it_waits_for(delaying, source, candidate)
            except TooMany:
                rank, control, occurrence = self._command(source.event)
                self.undecided.add((rank, control, occurrence, source.step))
                continue
            if waiting is not None:
                return waiting
        return None

    def _first_part(self, delaying: Delaying, source: Source, candidate: Candidate, without: Left) -> int | None:
        """With how many of its steps ``candidate`` goes before the source and closes the cycle, after U but for
        ``without``; None when it cannot. What it waits for is not looked at."""
        rank, events, _, command = candidate
        without = without.joined([(rank, events)])
        if events and self._is_left(delaying, self._trace.of_rank[rank][events - 1], without):
            return None
        if self._is_left(delaying, source.event, without):
            return None
        operands = command.operands
        accesses, steps = self._accesses(candidate), core.steps_of(operands)
        cells = {each.cell for each in accesses}
        cells.update(one for each in accesses if each.writes for one in self._conditions.of_cell(each.cell))
        attack = delaying.attack(self._left_into(source, candidate), rank, events, without, cells)
        bounds = [NOW] * len(steps)
        if isinstance(operands, core.Transfer):
            bounds = lower_bounds(self._instance, delaying.placement(rank, events), operands)

        def turned(taken: int) -> tuple[list[Access], list[Access]]:
            return self._turned(delaying, candidate, without, taken, attack.done)

        return first_part(rank, accesses[: len(accesses) - len(steps)], steps, bounds, attack, turned)

    def _accesses(self, candidate: Candidate) -> tuple[Access, ...]:
        """The accesses of a candidate, those of a test as `semantics.tested_conditions` has them."""
        operands = candidate.command.operands
        return (*self._conditions.at_issue(operands), *(step.access for step in core.steps_of(operands)))

    def _left_into(self, source: Source, candidate: Candidate) -> Access:
        """What the cycle goes into from ``candidate``: the access of the source, or the condition that it turns."""
        tests = self._conditions.tested(candidate.command.operands)
        return source.access if tests not in source.turned else core.Access(tests, False, True)

    # Conditions that e turns

    def _turned(
        self, delaying: Delaying, candidate: Candidate, without: Left, taken: int, done: Touched
    ) -> tuple[list[Access], list[Access]]:
        """The conditions among those tested that ``candidate`` turns, with its first ``taken`` steps before the source:
        by these, and by its other steps, which come after D."""
        operands, (_, _, position, command) = candidate.command.operands, candidate
        tested = {
            made.cell
            for made in core.accesses_of(operands)
            if made.writes and any(done.read >> each & 1 for each in self._conditions.of_cell(made.cell))
        }
        if not tested or (command.waits and not isinstance(operands, core.Immediate)):
            return [], []
        memory = self._memory(delaying, without, delayed=False)
        now, later = list[Access](), list[Access]()
        if not isinstance(operands, core.Transfer):
            done_so = performed(operands, position.registers, memory)
            chain = () if done_so is None else done_so[2]
            return [each for made in chain for each in self._turns(made.access.cell, made.before, made.after)], []
        carried, changes = captured(operands, memory), False
        for number, step in enumerate(operands.steps):
            cell = step.access.cell
            if number == taken:
                memory = self._memory(delaying, without, delayed=True)
            before = memory[cell]
            memory, carried = take_step(operands.update, step, memory, carried)
            if number < taken:
                now += self._turns(cell, before, memory[cell])
                changes |= step.access.writes
            elif changes and step.access.writes:
                # What D finds then is another matter: any condition may be turned.
                later += [core.Access(each, False, True) for each in self._conditions.of_cell(cell)]
            else:
                later += self._turns(cell, before, memory[cell])
        return now, later

    def _turns(self, cell: Cell, before: int, after: int) -> list[Access]:
        return [core.Access(each, False, True) for each in self._conditions.turned(cell, before, after)]

    def _memory(self, delaying: Delaying, without: Left, delayed: bool) -> Memory:
        """All cells after U but for ``without``: what D does left out, or not where ``delayed``."""
        memory = list(self._instance.memory)
        for cell in range(len(memory)):
            for layer in self._order.cells.layers(cell):
                there = [
                    entry.made
                    for entry in layer.entries
                    if entry.made.access.writes
                    and not self._is_left(delaying, entry.event, without)
                    and (delayed or delaying.is_done(entry))
                ]
                if there and layer.access.commutes:
                    memory[cell] = value_after(layer.before, (made.update for made in there if made.update))
                elif there:
                    memory[cell] = there[-1].after
        return tuple(memory)

    def _moves(self, delaying: Delaying, candidate: Candidate, without: Left, first: int) -> list[Move]:
        """The run with the attack that ``candidate`` ends."""
        rank, events, _, command = candidate
        without = without.joined([(rank, events)])
        there = (event for event in self._trace.events if not self._is_left(delaying, event, without))
        parts = [NOW] * first + [DELAYED] * (len(core.steps_of(command.operands)) - first)
        return [*(self._move(delaying, event) for event in there), (rank, [command.transition], parts)]

    def _is_left(self, delaying: Delaying, event: Event, without: Left) -> bool:
        return delaying.left.has(event.clock) or without.has(event.clock)

    def _move(self, delaying: Delaying, event: Event) -> Move:
        if event.is_barrier:
            return None, event.transitions, event.ranks
        parts = delaying.parts.get(event.number, [NOW] * len(core.steps_of(event.operands)))
        return event.rank, event.transitions, parts

    # A candidate that waits for a value

    def _with_what_it_waits_for(self, delaying: Delaying, source: Source, candidate: Candidate) -> list[Move] | None:
        """The moves as of `_attack_on`, for a candidate that waits for the value of the source's cell.

        What changes the cell before the source has happened then, and what comes after it is in D; so there is nothing
        to choose unless the source is an update. Of those of its kind beside it some may be left out and some delayed
        with it. Raises :class:`TooMany`.
        """
        layer, others = self._beside(source)
        if not others:
            first = self._first_part(delaying, source, candidate, Left({}))
            if first is None or not self._passes(candidate, layer.before):
                return None
            return self._moves(delaying, candidate, Left({}), first)
        updates = [entry.made.update for entry in others]
        assert all(updates), "they are updates of one kind"

        def passes(value: int) -> bool:
            return self._passes(candidate, value)

        every = Updates(layer.before, [each for each in updates if each])
        if not every.any(passes):
            return None
        most = min(MOST_FURTHER, self._sets + MOST_SETS)
        for count in range(len(others) + 1):
            for further in combinations(range(len(others)), count):
                if self._sets == most:
                    raise TooMany
                self._sets += 1
                found = self._with_further(source, candidate, layer, others, further)
                if found is not None:
                    return found
        return None

    def _with_further(
        self, source: Source, candidate: Candidate, layer: Layer, others: Sequence[Entry], further: Sequence[int]
    ) -> list[Move] | None:
        """The moves of a run with the attack, with some of the ``others`` as further sources, by rule (m3') of
        `proofs/attack.md`."""
        sources = [source, *(self._step_of(others[number]) for number in further)]
        delaying = Delaying(self._instance, self._trace, self._order, sources)
        if not delaying.valid:
            return None
        rank, events, _, _ = candidate
        without = Left({rank: events})
        there = [
            entry for entry in others if not self._is_left(delaying, entry.event, without) and delaying.is_done(entry)
        ]
        needed = [each.event.clock for each in sources]
        if events:
            needed.append(self._trace.of_rank[rank][events - 1].clock)
        forced = [entry for entry in there if any(entry.event.is_in(clock) for clock in needed)]
        free = [entry for entry in there if entry not in forced]
        before = value_after(layer.before, (entry.made.update for entry in forced if entry.made.update))
        updates = Updates(before, [entry.made.update for entry in free if entry.made.update])
        for chosen in updates.passing(lambda value: self._passes(candidate, value)):
            out = [entry.event for number, entry in enumerate(free) if number not in chosen]
            left = Left({}).joined((event.rank, event.index) for event in out)
            # With one update others go that come after it.
            rest = [entry for entry in free if not left.has(entry.event.clock)]
            if len(rest) != len(chosen):
                continue
            first = self._first_part(delaying, source, candidate, left)
            if first is not None:
                return self._moves(delaying, candidate, left, first)
        return None

    def _beside(self, source: Source) -> tuple[Layer, list[Entry]]:
        """The layer of the source, and the accesses in it that are updates of its kind beside it."""
        event = source.event
        place = source.step + (core.at_issue(event.operands) is not None)
        layer = self._order.cells.layers(source.access.cell)[self._order.layer_of(event, place)]
        if not source.access.commutes:
            return layer, []
        return layer, [entry for entry in layer.entries if entry.event is not event]

    def _step_of(self, entry: Entry) -> Source:
        assert entry.place is not None
        return self._source(entry.event, entry.place - (core.at_issue(entry.event.operands) is not None))

    @staticmethod
    def _source(event: Event, step: int) -> Source:
        place = step + (core.at_issue(event.operands) is not None)
        turned = frozenset(made.access.cell for made in event.turned if made.by == place)
        return Source(event, step, event.chain[place].access, turned)

    def _passes(self, candidate: Candidate, value: int) -> bool:
        """Whether the value of its cell is what a candidate waits for."""
        return passes(candidate.command.operands, candidate.position, value)
