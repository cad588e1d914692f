"""Small witnesses: a violating computation without the commands that its violation does not need.

A command is left out with all its events, and the operations after it are numbered anew. A violating computation is
*irreducible* when leaving out any of its commands, one or several, never gives a violating computation of the program.
A search through all choices of commands, from left to right, finds the fewest that do: what it finds is irreducible.
Most commands need no choice, because every cycle passes through them or because the control automata have no way around
them; choices that behave alike from here on are one (`proofs/small-witnesses.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import Violation
from pgasrob.robustness.needed_commands import Commands, Cycles, Item, Ways, everything, items_of
from pgasrob.semantics.computation import Event, has_steps, writes
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import ReplayError, Run, replay
from pgasrob.semantics.state_space import State, StateSpace
from pgasrob.stop_points import stop_point

MOST_EFFORT = 20_000
"""Events tried up to which the fewest commands are looked for: a fraction of a second."""

EVERY: Commands = -1
MANY = 16
"""Processes beyond which what one cycle does not need is left out at once, before anything is tried."""
PIECES = 8
IN_A_ROW = 24
"""When that is too much: commands in a row that are tried by themselves, and the share of one such trial."""


class Shrunk(NamedTuple):
    """A violation, whether it is known to be irreducible (None: it is not known), and its run, if it has been replayed
    and found to be one."""

    violation: Violation
    irreducible: bool | None = None
    run: Run | None = None


def without_others(violation: Violation, kept: Commands) -> Violation:
    """``violation`` with the events of the commands ``kept`` alone, operations numbered anew.

    The parts stay. So do the marks and the cycle type when no marked event goes; else both are dropped.
    """
    numbers: dict[tuple[int, int], int] = {}
    issued: dict[int, int] = {}
    events: list[Event] = []
    places = [
        place for place, command in enumerate(HappensBefore(violation.computation).commands) if kept >> command & 1
    ]
    for event in (violation.computation[place] for place in places):
        if not event.is_step:
            numbers[event.issued] = issued[event.rank] = issued.get(event.rank, -1) + 1
        events.append(event._replace(operation=numbers[event.issued]))
    parts, marks = violation.parts, violation.marks
    staying = set(places)
    right = marks is not None and not any(mark for place, mark in enumerate(marks) if place not in staying)
    return Violation(
        tuple(events),
        None if parts is None else tuple(parts[place] for place in places),
        tuple(marks[place] for place in places) if marks is not None and right else None,
        violation.cycle_type if right else None,
    )


class Choice(NamedTuple):
    """Which commands have been kept so far, the state that they lead to, and per rank those with steps to come."""

    kept: Commands
    state: State
    pending: tuple[tuple[int, ...], ...]

    @property
    def cost(self) -> tuple[int, Commands]:
        """Fewer commands are better, then earlier ones."""
        return self.kept.bit_count(), self.kept


class _Follower(StateSpace):
    """X(P, N), along given events."""

    def first(self) -> Choice:
        return Choice(0, self.initial, ((),) * self.instance.processes)

    def follow(self, choice: Choice, item: Item) -> Choice | None:
        """``choice`` with ``item``, which belongs to a command that is kept; None when it is not possible here."""
        event = item.events[0]
        kept = choice.kept | 1 << item.command
        if event.kind == "barrier":
            state = self._barrier(choice.state, item.events)
            return None if state is None else Choice(kept, state, choice.pending)
        rank, pending = event.rank, choice.pending[event.rank]
        which = pending.index(item.command) if event.is_step else event.occurrence
        possible = self.steps_of if event.is_step else self.issues_of
        for (letter,), state in possible(choice.state, rank):
            if (letter.kind, letter.cell, letter.which) != (event.kind, event.cell, which):
                continue
            if event.is_step and letter.last:
                pending = pending[:which] + pending[which + 1 :]
            elif has_steps(event.kind):
                pending = (*pending, item.command)
            return Choice(kept, state, (*choice.pending[:rank], pending, *choice.pending[rank + 1 :]))
        return None

    def _barrier(self, state: State, events: Sequence[Event]) -> State | None:
        control = list(state.control)
        for event in events:
            leaving = self.instance.automata[event.rank].out[state.control[event.rank]]
            target = next((edge.target for edge in leaving if edge.occurrence == event.occurrence), None)
            if target is None:
                return None
            control[event.rank] = target
        return state._replace(control=tuple(control))


class _Live:
    """What the rest of a computation depends on in a choice. Choices that agree on it go on alike."""

    def __init__(self, items: Sequence[Item], cycles: Cycles) -> None:
        self._cycles = cycles
        events = [(place, event) for place, item in enumerate(items) for event in item.events]
        written = {event.cell for _, event in events if writes(event.kind)}
        self._issues: dict[int, int] = {}  # rank -> the last place at which it issues a command
        self._reads: dict[int, int] = {}  # cell that is written somewhere -> the last place at which it is read
        for place, event in events:
            if not event.is_step:
                self._issues[event.rank] = place
            # The update of an atomic reads although it counts as a write.
            if event.cell is not None and event.cell in written and event.kind not in ("store", "popc"):
                self._reads[event.cell] = place

    def after(self, place: int) -> Callable[[Choice], Hashable]:
        """What gives the part of a choice that the events after ``place`` depend on."""
        going = _picking([rank for rank, last in self._issues.items() if last > place])
        read = _picking([cell for cell, last in self._reads.items() if last > place])
        core = self._cycles.core

        def seen(choice: Choice) -> Hashable:
            control, registers, memory, pending = choice.state
            return (
                going(control),
                going(registers),
                read(memory),
                pending,
                choice.pending,
                choice.kept & core,
            )

        return seen


def _picking(places: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
    """What picks the items at ``places``."""
    return itemgetter(*places) if places else lambda _: ()


class Shrinking:
    """The search for the fewest commands of ``violation`` that are a violating computation of ``instance``.

    ``run`` yields now and then; after it ``found`` is the result. When there are too many choices to try (more than
    ``most`` events), choices of one rank and of a few commands in a row are tried by themselves. ``effort`` are the
    events tried.
    """

    def __init__(self, instance: Instance, violation: Violation, most: int = MOST_EFFORT) -> None:
        self.violation = violation
        self._space = _Follower(instance)
        self._focused: bool | None = None
        self._search = _Fewest(self._space, violation)
        self._most = most
        # A state holds the memory of all nodes.
        self._weight = 1 + len(instance.memory) // 1_000
        self.effort = 0
        self.found = Shrunk(violation)

    def run(self) -> Iterator[None]:
        """Search, yielding after every event."""
        focused = self._space.instance.processes > MANY and self.focus()
        yield from self._leave_out(EVERY, self._most)
        if self.found.irreducible:
            return
        if not focused and self.focus():
            yield from self._leave_out(EVERY, self._most)
            if self.found.irreducible:
                return
        before, end = self.found.violation, self.effort + self._most
        for tried in self._search.walk(len(self._search.items)):
            self.effort += tried * self._weight
            if self.effort > end:
                return
            yield
        for piece in self._pieces():
            if self.effort >= end:
                break
            yield from self._leave_out(piece, self._most // PIECES)
        if self.found.violation is not before:
            yield from self._leave_out(EVERY, self._most)

    @property
    def replayed(self) -> bool:
        """Whether it is known that the violation is one: a shorter one of it has been replayed."""
        return bool(self._focused)

    def focus(self) -> bool:
        """Keep the commands of one short cycle and those without which their ranks, or those that pass a barrier with
        them, do not come there, if that is a run: values may take ranks elsewhere. Whether it is."""
        if self._focused is None:
            self._focused = self._focus()
        return self._focused

    def _focus(self) -> bool:
        fewer = self._search.around_one_cycle()
        if fewer is None:
            return False
        try:
            run = replay(self._space.instance, fewer.computation)
        except ReplayError:
            return False
        if not run.complete or HappensBefore.of(run).cycle is None:
            return False
        self._search, self.found = _Fewest(self._space, fewer), Shrunk(fewer, None, run)
        return True

    def _leave_out(self, optional: Commands, most: int) -> Iterator[None]:
        """Leave out as many of the ``optional`` commands as possible, unless that takes more than ``most``."""
        search, end = self._search, self.effort + most
        for tried in search.run(optional):
            self.effort += tried * self._weight
            if self.effort > end:
                return
            yield
        if search.kept is None:  # the engine's run is no violation, which the replay will say
            return
        if search.kept != search.everything:
            self._search = search.without_others()
        run = self.found.run if self._search.violation is self.found.violation else None
        self.found = Shrunk(self._search.violation, True if optional == EVERY else None, run)

    def _pieces(self) -> Iterator[Commands]:
        """Sets of commands to leave out separately: from the end, a few in a row; then those of a rank."""
        end = self._search.everything.bit_length()
        while end > 0:
            stop_point()
            start = max(0, min(end, self._search.everything.bit_length()) - IN_A_ROW)
            yield (1 << end) - (1 << start)
            end = start and start + IN_A_ROW // 2
        for rank in range(self._space.instance.processes):
            items = self._search.items
            yield sum({1 << item.command for item in items if [event.rank for event in item.events] == [rank]})


class _Fewest:
    """The search through all choices of some commands of a violation.

    ``kept`` afterwards: the best choice, None when there is none at all. ``path`` has the choice to keep everything,
    before the first ``items`` of the computation, if it is known.
    """

    def __init__(self, space: _Follower, violation: Violation, path: Sequence[Choice] = ()) -> None:
        self._space = space
        self.violation = violation
        self.items = items_of(violation.computation)
        self.everything = everything(self.items)
        self._cycles = Cycles(self.items)
        self._ways = Ways(space.instance, self.items)
        self._path = list(path) or [space.first()]
        self.kept: Commands | None = None

    def without_others(self) -> _Fewest:
        """The search in what has been kept."""
        assert self.kept is not None
        first = next(place for place, item in enumerate(self.items) if not self.kept >> item.command & 1)
        return _Fewest(self._space, without_others(self.violation, self.kept), self._path[: first + 1])

    def around_one_cycle(self) -> Violation | None:
        """The violation with the commands alone that are needed for one cycle, one of the shortest, for all that
        control automata say; None where these are all, or there is no cycle."""
        if not self._cycles.core:
            return None
        needed = Ways(self._space.instance, self.items).take(sum(1 << command for command in self._cycles.shortest()))
        return None if needed == self.everything else without_others(self.violation, needed)

    def walk(self, end: int) -> Iterator[int]:
        """Continue the path up to the item at ``end``, if that is possible."""
        for item in self.items[len(self._path) - 1 : end]:
            after = self._space.follow(self._path[-1], item)
            if after is None:
                return
            self._path.append(after)
            yield 1

    def run(self, optional: Commands) -> Iterator[int]:
        """Search for a choice that leaves out ``optional`` commands only.

        It yields after every event how many have been tried for it.
        """
        self.kept = None
        items, cycles = self.items, self._cycles
        if not cycles.core:
            return
        needed = self.everything & ~optional
        for command in cycles.one():
            if not cycles.among(self.everything & ~(1 << command)):
                needed |= 1 << command
            yield cycles.size // 20
        self._needed = needed = self._ways.take(needed)
        if needed == self.everything:
            self.kept = needed
            return
        start = next(place for place, item in enumerate(items) if not needed >> item.command & 1)
        yield from self.walk(start)
        if len(self._path) <= start:
            return
        choices = [self._path[start]]
        live = _Live(items, cycles)
        for place, item in enumerate(items[start:], start):
            best: dict[Hashable, Choice] = {}
            afters = [after for choice in choices for after in self._next(choice, item)]
            seen = live.after(place) if len(afters) > 1 else None
            for after in afters:
                key = seen and seen(after)
                if key not in best or after.cost < best[key].cost:
                    best[key] = after
            yield len(choices)
            choices = list(best.values())
        complete = [choice for choice in choices if self._space.is_final(choice.state)]
        if complete:
            self.kept = min(complete, key=lambda choice: choice.cost).kept

    def _next(self, choice: Choice, item: Item) -> Iterator[Choice]:
        """``choice`` with or without ``item``, where that is possible and can still become a violation."""
        command, events = item
        if events[0].is_step:
            after = self._space.follow(choice, item) if choice.kept >> command & 1 else choice
            if after is not None:
                yield after
            return

        def leads_on(after: Choice) -> bool:
            return all(self._ways.lead_on(event.rank, command, after.state.control[event.rank]) for event in events)

        kept = self._space.follow(choice, item)
        if kept is not None and leads_on(kept):
            yield kept
        undecided = self.everything >> command + 1 << command + 1
        if not self._needed >> command & 1 and leads_on(choice) and self._cycles.among(choice.kept | undecided):
            yield choice
