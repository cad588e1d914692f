"""The traces of the maximal SC runs of an instance, one run of each.

Dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronsson, Jonsson, Sagonas, *Source sets: a
foundation for optimal dynamic partial order reduction*, JACM 2017). A run is followed to its end; for each event, and
for each next command that a rank is left with, the events are looked up before which it could have been issued,
and it is seen to that a run is followed later in which it is. What waits for a value is never tried where it is not
enabled (as in Jonsson, Lang, Sagonas, *Awaiting for Godot*, FMCAD 2022): it is found out from the trace what would have
to be left out of it for the value to be there. That may be several updates that commute with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob.analysis.line_up import Behind
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Registers, barriers_of
from pgasrob.reference.subsets import TooMany, greatest_kept
from pgasrob.robustness.moves import Move
from pgasrob.robustness.reasons import Reason, RunTooLong, TooManyUpdates
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.mazurkiewicz_trace import (
    Cells,
    Clock,
    Command,
    Entry,
    Event,
    Layer,
    Made,
    Position,
    Trace,
    enabled,
    passes,
    performed,
    value_after,
)
from pgasrob.semantics.sequential import SequentialState
from pgasrob.semantics.state_space import behind
from pgasrob.semantics.tested_conditions import conditions_of

BARRIER = -1
"""In place of a rank: all ranks, which take part in barriers."""
EVERYTHING = -1
"""In place of a cell: who may pass a barrier or do something else depends on whatever the others do."""

Footprint = tuple[Access, ...]
Part = tuple[tuple[tuple[int, ...], ...], ...]
"""A part of an exploration: see :meth:`Exploration.split`; the empty one is the whole."""


class Choice(NamedTuple):
    """What may come next: commands of ``rank``, or of all ``ranks`` whose next command is a barrier."""

    rank: int
    commands: tuple[Command, ...]
    ranks: tuple[int, ...]

    @property
    def key(self) -> tuple[int, ...]:
        return (self.rank, *(command.transition.occurrence for command in self.commands))


class Faulty(NamedTuple):
    """A next command of ``rank`` that cannot be evaluated with its ``registers``."""

    rank: int
    transition: Transition
    fault: Fault
    registers: Registers


@dataclass(slots=True)
class Node:
    """A state on the way. ``ranks``: whose commands are to be tried here; ``done``: the choices that have been, in
    their order; ``asleep``: those that have been tried before, in a run that comes to the same; ``alone``: the ranks to
    whose next commands, all of them awake at first, no other rank can ever make a difference, nor they to it."""

    state: SequentialState
    choices: list[Choice]
    ranks: set[int]
    asleep: dict[tuple[int, ...], Footprint]
    alone: list[int]
    done: dict[tuple[int, ...], None] = field(default_factory=dict)

    def next_choice(self) -> Choice | None:
        for choice in self.choices:
            if choice.rank in self.ranks and choice.key not in self.done and choice.key not in self.asleep:
                return choice
        return None

    def begin_with_all(self, processes: int) -> None:
        """Have every command be tried; or those of the rank alone of which some have been, where it is enough to try
        these."""
        tried = {rank for rank, *_ in self.done}
        private = len(tried) == 1 and not tried.isdisjoint(self.alone)
        self.ranks = tried if private else {BARRIER, *range(processes)}


def independent(one: Footprint, other: Footprint) -> bool:
    return not any(conflict(made, its) for made in one for its in other)


class Exploration:
    """Goes through the traces.

    Attributes: ``events`` (looked at so far), ``traces``, ``redundant`` (runs given up since they come to what has been
    followed), ``faults`` (next commands of some rank that cannot be evaluated), ``gave_up`` (there are too many updates
    that somebody may wait for). ``part``: what of the exploration to go through, as ``split`` of another one has given
    it away: of each node on the way the keys of what has been tried there. ``by_condition``: whether awaits are tests
    of their conditions (`proofs/waiting.md`, section 7), where the instance is read so; else they are read by value.
    ``behind``: for each process behind whom it comes (`analysis.line_up`); () for traces in whatever order.
    """

    def __init__(
        self,
        instance: Instance,
        part: Part = (),
        by_condition: bool = False,
        behind: Sequence[Behind | None] = (),
    ) -> None:
        self.instance, self._base = instance, max(0, len(part) - 1)
        self._behind = behind or (None,) * instance.processes
        self._conditions = conditions_of(instance) if by_condition else None
        self.events = self.traces = self.redundant = 0
        self.gave_up = False
        self._mixed = any(
            len(leaving) > 1 and any(isinstance(each.form, core.Barrier) for each in leaving)
            for automaton in instance.automata
            for leaving in automaton.out
        )
        nodes = instance.processes
        self._run: list[Event] = []
        self._of_rank: list[list[Event]] = [[] for _ in range(nodes)]
        self._positions: list[list[Position]] = [[] for _ in range(nodes)]
        self._cells = Cells()
        self._looks: list[tuple[Access, ...]] = []
        self.faults: list[Faulty] = []
        for rank in range(nodes):
            self._enter(rank, 0, instance.registers)
        start = SequentialState((0,) * nodes, (instance.registers,) * nodes, instance.memory)
        self._nodes: list[Node] = []
        self._nodes.append(self._node(start, {}))
        for place, tried in enumerate(part):
            if place:
                self._go(next(reversed(self._nodes[-1].done)))
            node = self._nodes[-1]
            choices = {choice.key: choice for choice in node.choices}
            for key in tried:
                node.done[key] = None
                node.asleep[key] = self._footprint(choices[key])
        if part:
            self._nodes[-1].begin_with_all(nodes)
            self.faults.clear()

    def split(self) -> Part | None:
        """Give away what there is to try at the first node where there is more than what is being followed; None where
        there is nothing. As all is tried there, by somebody, nobody has to ask for more above."""
        for place, node in enumerate(self._nodes[self._base : -1], start=self._base):
            ranks = node.ranks
            node.begin_with_all(self.instance.processes)
            more, node.ranks = node.next_choice(), ranks
            if more is not None:
                self._base = place + 1
                return tuple(tuple(each.done) for each in self._nodes[: place + 1])
        return None

    def run(self) -> Iterator[Trace | None]:
        """The traces; None after every other event."""
        if not self._run and self._ends(self._nodes[0]):
            yield self._trace()
        while len(self._nodes) > self._base:
            node = self._nodes[-1]
            choice = node.next_choice()
            if choice is None:
                self._nodes.pop()
                if self._nodes:
                    self._take_back()
                continue
            node.done[choice.key] = None
            self._find_races(choice)
            node.asleep[choice.key] = self._footprint(choice)
            self._go(choice.key)
            self.events += 1
            if self._ends(self._nodes[-1]):
                yield self._trace()
            else:
                yield None

    def _go(self, key: tuple[int, ...]) -> None:
        """Go on by the choice with this ``key``, which has been noted at the last node."""
        node = self._nodes[-1]
        choice = next(each for each in node.choices if each.key == key)
        asleep = {
            key: its
            for key, its in node.asleep.items()
            if key[0] not in (BARRIER, *choice.ranks) and independent(its, node.asleep[choice.key])
        }
        state = self._issue(node.state, choice)
        self._nodes.append(self._node(state, self._still_asleep(asleep, state)))

    def _still_asleep(
        self, asleep: dict[tuple[int, ...], Footprint], state: SequentialState
    ) -> dict[tuple[int, ...], Footprint]:
        """Those ``asleep`` that do not conflict with the last event where they come after it, in ``state``, either: of
        two adds that are only compared the second one may turn a condition, whichever that is."""
        event = self._run[-1]
        counts = isinstance(event.operands, core.Immediate) and event.operands.access.counts
        if self._conditions is None or not counts:
            return asleep
        found, made = dict[tuple[int, ...], Footprint](), self._accesses(event)
        for rank, occurrence in asleep:
            commands = self._positions[rank][-1].commands
            command = next(each for each in commands if each.transition.occurrence == occurrence)
            its = (*self._own(rank, command, state), *self._looks_of(rank, command))
            if independent(its, made):
                found[rank, occurrence] = its
        return found

    @property
    def state(self) -> SequentialState:
        """Where the run is."""
        return self._nodes[-1].state

    @property
    def length(self) -> int:
        """The events of the run."""
        return len(self._run)

    @property
    def last(self) -> Event | None:
        """The last event of the run."""
        return self._run[-1] if self._run else None

    @property
    def moves(self) -> list[Move]:
        """The run so far."""
        return [
            (None, event.transitions, event.ranks)
            if event.is_barrier
            else (event.rank, event.transitions, [1] * len(core.steps_of(event.operands)))
            for event in self._run
        ]

    def _trace(self) -> Trace:
        return Trace(self._run, self._of_rank, self._positions)

    def _ends(self, node: Node) -> bool:
        """Whether the run that has come to ``node`` ends there, and is a trace that has not been seen."""
        if node.ranks:
            return False
        # What has been disabled will not be issued, so this is where it is met.
        for rank in range(self.instance.processes):
            for command in self._positions[rank][-1].commands:
                if command.waits:
                    self._find_earlier(rank, command)
        if node.choices:
            self.redundant += 1
            return False
        self.traces += 1
        return True

    # States

    def _enter(self, rank: int, control: int, registers: Registers) -> None:
        """Note that the run has led ``rank`` to ``control``, with its next commands or their faults."""
        commands = []
        position = Position(control, registers, ())
        for transition in self.instance.automata[rank].out[control]:
            try:
                commands.append(Command(transition, self.instance.operands(rank, transition, registers)))
            except Fault as fault:
                self.faults.append(Faulty(rank, transition, fault, registers))
        self._positions[rank].append(position._replace(commands=tuple(commands)))

    def _node(self, state: SequentialState, asleep: dict[tuple[int, ...], Footprint]) -> Node:
        nodes = self.instance.processes
        choices = [
            Choice(rank, (command,), (rank,))
            for rank in range(nodes)
            if self._goes_on(rank, state) and not self._comes_too_early(rank)
            for command in self._positions[rank][-1].commands
            if enabled(command, self._positions[rank][-1], state.memory)
        ]
        arrivals = [
            [(each.operands.name, (rank, each)) for each in own[-1].commands if isinstance(each.operands, core.Barrier)]
            for rank, own in enumerate(self._positions)
        ]
        barriers = [
            Choice(BARRIER, tuple(command for _, command in passing), tuple(rank for rank, _ in passing))
            for passing in barriers_of(self.instance.by_rank(arrivals))
        ]
        choices += barriers
        after = self._run[-1].rank if self._run else BARRIER
        return Node(state, choices, _begun_with(choices, asleep, after), asleep, self._alone(choices, asleep))

    def _goes_on(self, rank: int, state: SequentialState) -> bool:
        """Whether ``rank`` is to go on now, where it can; one that does not has to look at what would make it."""
        return True

    def _comes_too_early(self, rank: int) -> bool:
        """Whether ``rank`` would come to a cell before the one behind which it comes."""
        behind, done = self._behind[rank], len(self._of_rank[rank])
        return behind is not None and done == behind.place and len(self._of_rank[behind.rank]) <= done

    def _is_behind(self, rank: int, event: Event) -> bool:
        """Whether the next command of ``rank`` comes behind ``event`` in whatever run is followed."""
        behind = self._behind[rank]
        if behind is None or len(self._of_rank[rank]) != behind.place:
            return False
        return self._of_rank[behind.rank][behind.place] is event

    def _alone(self, choices: Sequence[Choice], asleep: Collection[tuple[int, ...]]) -> list[int]:
        """The ranks whose next commands, all of them awake, no other rank can ever make a difference to, nor they to
        it: it is enough to try those of one."""
        sleepy = {rank for rank, *_ in asleep}
        return [
            rank
            for rank in dict.fromkeys(choice.rank for choice in choices if choice.rank not in (BARRIER, *sleepy))
            if not any(
                command.waits
                or isinstance(command.operands, core.Barrier)
                or core.accesses_of(command.operands)
                or self._looks_of(rank, command)
                for command in self._positions[rank][-1].commands
            )
        ]

    def _issue(self, state: SequentialState, choice: Choice) -> SequentialState:
        """Go on by ``choice``."""
        clock = self._past(choice)
        if choice.rank == BARRIER:
            after = tuple(count + (rank in choice.ranks) for rank, count in enumerate(clock))
            transitions = tuple(command.transition for command in choice.commands)
            first, form = choice.ranks[0], choice.commands[0].operands
            event = Event(len(self._run), first, transitions, form, after, (), choice.ranks)
            self._run.append(event)
            self._looks.append(())
            passing = tuple(zip(choice.ranks, transitions, strict=True))
            for rank, transition in passing:
                self._of_rank[rank].append(event)
                self._enter(rank, transition.target, state.registers[rank])
            return state._replace(control=behind(state.control, passing))
        rank, ((transition, operands),), _ = choice
        done = performed(operands, state.registers[rank], state.memory)
        assert done is not None, "it is enabled"
        registers, memory, chain = done
        chain, turned = self._with_conditions(operands, chain)
        after = (*clock[:rank], clock[rank] + 1, *clock[rank + 1 :])
        event = Event(len(self._run), rank, (transition,), operands, after, chain, choice.ranks, turned)
        looks = self._looks_of(rank, choice.commands[0])
        self._run.append(event)
        self._of_rank[rank].append(event)
        for look in looks:  # first, with what was there: what is left out with it is the whole event
            held = state.memory[look.cell] if 0 <= look.cell < len(state.memory) else 0
            self._cells.enter(Entry(event, None, Made(look, held)))
        for place, made in enumerate(event.made):
            self._cells.enter(Entry(event, place, made))
        self._looks.append(looks)
        self._enter(rank, transition.target, registers)
        control = (*state.control[:rank], transition.target, *state.control[rank + 1 :])
        files = (*state.registers[:rank], registers, *state.registers[rank + 1 :])
        return SequentialState(control, files, memory)

    def _take_back(self) -> None:
        event, looks = self._run.pop(), self._looks.pop()
        for access in (*(made.access for made in event.made), *looks):
            self._cells.leave(access.cell)
        for rank in event.ranks:
            self._of_rank[rank].pop()
            self._positions[rank].pop()

    # What depends on what

    def _looks_of(self, rank: int, issued: Command) -> tuple[Access, ...]:
        """What a rank looks at beside the accesses of the command that it issues: the values that others of its
        commands wait for."""
        commands = self._positions[rank][-1].commands
        looks = [
            core.Access(self._waits_for(command).cell, True, False)
            for command in commands
            if command is not issued and command.waits and isinstance(command.operands, core.Immediate)
        ]
        if self._mixed:
            mixed = any(isinstance(command.operands, core.Barrier) for command in commands)
            looks.append(core.Access(EVERYTHING, not mixed, mixed))
        return tuple(looks)

    def _footprint(self, choice: Choice) -> Footprint:
        if choice.rank == BARRIER:
            return ()
        (command,) = choice.commands
        return (*self._own(choice.rank, command, self.state), *self._looks_of(choice.rank, command))

    def _own(self, rank: int, command: Command, state: SequentialState) -> Footprint:
        """The accesses of a command, and the conditions that it turns, were it next in ``state``."""
        if self._conditions is None:
            return core.accesses_of(command.operands)
        done = performed(command.operands, self._positions[rank][-1].registers, state.memory)
        if done is None:
            return self._conditions.at_issue(command.operands)
        chain, turned = self._with_conditions(command.operands, done[2])
        return tuple(made.access for made in chain + turned)

    def _waits_for(self, command: Command) -> Access:
        """The access of a command that waits for a value, or for a condition."""
        assert isinstance(command.operands, core.Immediate)
        if self._conditions is None:
            return command.operands.access
        return self._conditions.at_issue(command.operands)[-1]

    def _with_conditions(
        self, operands: core.Operands, chain: tuple[Made, ...]
    ) -> tuple[tuple[Made, ...], tuple[Made, ...]]:
        """The accesses of a command, those of a test as `semantics.tested_conditions` has them, and the conditions
        that they turn."""
        if self._conditions is None:
            return chain, ()
        turned = tuple(
            Made(core.Access(condition, False, True), made.before, None, made.after, place)
            for place, made in enumerate(chain)
            if made.access.writes and not made.access.commutes
            for condition in self._conditions.turned(made.access.cell, made.before, made.after)
        )
        if isinstance(operands, core.Immediate) and operands.access.tests:
            update = operands.update and operands.update._replace(expected=None)
            accesses = self._conditions.at_issue(operands)
            chain = tuple(
                chain[0]._replace(access=access, update=update if access.commutes else None) for access in accesses
            )
        return chain, turned

    def _last(self, rank: int) -> Clock:
        """The past of the next event of ``rank`` by its own events."""
        own = self._of_rank[rank]
        return own[-1].clock if own else (0,) * self.instance.processes

    def _past(self, choice: Choice) -> Clock:
        """The events that come before ``choice`` in the trace, were it next."""
        if choice.rank == BARRIER:
            return _joined([self._last(rank) for rank in choice.ranks])
        met = [entry.event.clock for access in self._footprint(choice) for entry in self._cells.met_by(access)]
        return _joined([self._last(choice.rank), *met])

    # Races

    def _find_races(self, choice: Choice) -> None:
        """See to the runs in which ``choice``, or another command of its rank, comes before some event so far."""
        rank = choice.rank
        if rank == BARRIER:
            # Everything of everybody comes before it; but who waits for a value as well may have had it before.
            for each, places in enumerate(self._positions):
                for command in places[-1].commands:
                    if command.waits:
                        self._find_earlier(each, command)
            return
        (command,) = choice.commands
        for other in self._positions[rank][-1].commands:
            if other.waits:
                self._find_earlier(rank, other)
        last = self._last(rank)
        waits = isinstance(command.operands, core.Immediate) and not command.operands.access.counts and command.waits
        own = self._own(rank, command, self.state)
        if waits:  # what it waits for has been seen to; not what it turns, if it changes its cell
            own = tuple(access for access in own if access.cell != self._waits_for(command).cell)
        met = {
            entry.event.number: entry.event
            for access in (*own, *self._looks_of(rank, command))
            for entry in self._cells.met_by(access)
            if not entry.event.is_in(last)
        }
        for event in met.values():
            between = any(event is not other and event.is_in(other.clock) for other in met.values())
            if not between and not self._is_behind(rank, event) and self._passes_without(rank, command, event):
                self._reverse([event], choice)

    def _passes_without(self, rank: int, command: Command, event: Event) -> bool:
        """Whether ``command`` is enabled when ``event`` and all that comes after it are left out."""
        operands = command.operands
        if not command.waits or not isinstance(operands, core.Immediate):
            return True
        value = self.state.memory[operands.access.cell]
        for layer in self._cells.layers(self._waits_for(command).cell):
            kept = [entry for entry in layer.entries if not event.is_in(entry.event.clock)]
            if len(kept) < len(layer.entries):
                value = value_after(layer.before, (entry.made.update for entry in kept if entry.made.update))
                break
        return passes(operands, self._positions[rank][-1], value)

    def _find_earlier(self, rank: int, command: Command) -> None:
        """See to the runs in which ``command``, which waits for a value, comes before some event so far."""
        operands = command.operands
        assert isinstance(operands, core.Immediate)
        position, last = self._positions[rank][-1], self._last(rank)
        choice = Choice(rank, (command,), (rank,))
        access = self._waits_for(command)
        for layer in reversed(self._cells.layers(access.cell)):
            if not conflict(layer.access, access):
                continue
            free = [entry for entry in layer.entries if not entry.event.is_in(last)]
            found = False
            try:
                every = list(self._left_out(layer, free, operands, position))
            except TooMany:
                self.gave_up, every = True, []
            for out in every:
                found = True
                self._reverse([entry.event for entry in out], choice)
            if found or len(free) < len(layer.entries):
                return

    @staticmethod
    def _left_out(
        layer: Layer, free: Sequence[Entry], operands: core.Operands, position: Position
    ) -> Iterator[list[Entry]]:
        """What of ``free`` may be left out of ``layer``, with all layers after it, so that what waits passes."""
        if not layer.access.commutes:
            if passes(operands, position, layer.before):
                yield from ([entry] for entry in free)
            return
        rest = (entry.made.update for entry in layer.entries if entry not in free and entry.made.update)
        before = value_after(layer.before, rest)
        for kept in greatest_kept(before, free, lambda value: passes(operands, position, value)):
            yield [entry for entry in free if entry not in kept]

    def _reverse(self, out: Sequence[Event], choice: Choice) -> None:
        """See to it that a run is followed with ``choice`` before the events ``out``, and without what comes after
        them: from where the first of them was issued, by somebody who is the first to go on there."""
        first = min(event.number for event in out)
        if first < self._base:
            return
        node = self._nodes[first]
        there = [event for event in self._run[first:] if not any(each.is_in(event.clock) for each in out)]
        counts = Counter(rank for event in self._run[:first] for rank in event.ranks)
        initials: list[int] = []
        seen: set[int] = set()
        for event in there:
            who = BARRIER if event.is_barrier else event.rank
            if seen.isdisjoint(event.ranks) and all(
                count - (rank in event.ranks) <= counts[rank] for rank, count in enumerate(event.clock)
            ):
                initials.append(who)
            seen.update(event.ranks)
        footprint = (*self._footprint(choice), *self._may_turn(choice))
        made = tuple(access for event in there for access in self._accesses(event))
        if choice.rank not in seen and independent(footprint, made):
            initials.append(choice.rank)
        if node.ranks.isdisjoint(initials):
            whole = [rank for rank in initials if rank == BARRIER or not self._sleeps_in_part(node, rank, counts[rank])]
            # What sleeps may be woken by another rank, and is gone when its own one goes on.
            node.ranks |= set(whole[-1:]) or {BARRIER, *range(self.instance.processes)}

    def _sleeps_in_part(self, node: Node, rank: int, count: int) -> bool:
        """Whether some commands of ``rank``, after so many events, slept at ``node`` from the beginning, some not."""
        keys = {(rank, command.transition.occurrence) for command in self._positions[rank][count].commands}
        return not keys.isdisjoint(slept := node.asleep.keys() - node.done) and not keys <= slept

    def _accesses(self, event: Event) -> Footprint:
        return (*(made.access for made in event.made), *self._looks[event.number])

    def _may_turn(self, choice: Choice) -> Iterator[Access]:
        """The conditions that a command may turn where it comes earlier: which it does depends on what its cells hold
        there."""
        if self._conditions is None:
            return
        for command in choice.commands:
            for made in core.accesses_of(command.operands):
                if made.writes and not made.commutes:
                    yield from (core.Access(each, False, True) for each in self._conditions.of_cell(made.cell))

    def gives_up(self, longest: int) -> Reason | None:
        """Why it does not go on: for itself, or since it has come to a run of more than ``longest`` events."""
        if self.gave_up:
            return TooManyUpdates()
        return RunTooLong(longest) if self.length > longest else None


def _begun_with(choices: Sequence[Choice], asleep: Collection[tuple[int, ...]], last: int) -> set[int]:
    """Whose commands to try first where there are these ``choices``.

    One rank is enough, the next after the ``last`` one, so that no rank goes round a loop while the others stand still.
    It must not be one that has been left with some of its commands only: what somebody else does may wake the
    others, and they are gone when the rank goes on. All are tried where a barrier is one way to go on, but for ranks
    that do not pass it.
    """
    awake = [choice.rank for choice in choices if choice.key not in asleep]
    sleepy = {choice.rank for choice in choices if choice.key in asleep}
    passing = {BARRIER}.union(*(choice.ranks for choice in choices if choice.rank == BARRIER))
    wholly = [rank for rank in awake if rank not in sleepy | passing]
    if not wholly:
        return set(awake)
    return {min(wholly, key=lambda rank: (rank <= last, rank))}


def _joined(clocks: Sequence[Clock]) -> Clock:
    return tuple(map(max, *clocks)) if len(clocks) > 1 else clocks[0]
