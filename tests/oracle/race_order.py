"""Which races change how SC runs end, by listing the SC runs after every SC state of a loop-free program.

Two next commands of different ranks, or threads of one, race where they access a cell, one of them writes it, not both
are atomic, and none is an await, or fetches from its own memory, what the other one writes: by its steps, from another
rank or atomically, not as another thread stores. They matter where the runs after both orders do
not end in the same ways. Plain are loads, stores and the copies of transfers; steps directly follow their issue.

An end is how a run ends, the final values, and which assertions have failed on the way. Where it is said which reads
are looked at, final values are those of memory, and what was read there counts in place of registers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from .readings import Reading
from .semantics import ATOMIC, Event, Machine, Run
from .syntax import Assume, Await, Exit, Fetch, Program, Statement

Shown = frozenset[tuple[int, ...]]
End = tuple[object, ...]

BY_VALUE = Reading(waits="value")
"""Which accesses race is a matter of each command as it is written."""


class At(NamedTuple):
    """An SC state, and the assertions that have failed on the way (rank, line), and what was read there (rank, line,
    value)."""

    control: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[tuple[int, ...], ...]
    shown: Shown


class TooLarge(Exception):
    """There are more SC states than wanted."""


class RaceOrder:
    """``racing`` and ``matters``: pairs of lines, of all races between SC states and of those that matter; ``ends``:
    how many different ends there are; ``looked_at``: the reads (rank, line) at whose values the program looks, None:
    registers count. Raises :class:`TooLarge` beyond ``most`` states."""

    def __init__(self, program: Program, most: int, looked_at: Collection[tuple[int, int]] | None = None) -> None:
        self._machine, self._most, self._looked_at = Machine(program, None, BY_VALUE), most, looked_at
        self._ends: dict[At, frozenset[End]] = {}
        self.racing: set[tuple[int, int]] = set()
        self.matters: set[tuple[int, int]] = set()
        start = self._machine.initial()
        self.ends = len(self._ends_of(start, frozenset()))
        self.states = len(self._ends)

    def _ends_of(self, run: Run, shown: Shown) -> frozenset[End]:
        at = At(run.control, run.registers, run.memory, shown)
        if at in self._ends:
            return self._ends[at]
        if len(self._ends) >= self._most:
            raise TooLarge
        ways = [*self._ways(run)]
        found = frozenset().union(*(self._ends_of(after, shown | seen) for _, after, seen in ways))
        self._ends[at] = found or frozenset({self._end(run, shown)})
        for rank, one, seen in ways:
            for other_rank, other, also in ways:
                if rank is not None and other_rank is not None and rank < other_rank:
                    self._compare((rank, one, seen), (other_rank, other, also), run, shown)
        self._note_awaits(run, ways)
        return self._ends[at]

    def _note_awaits(self, run: Run, ways) -> None:
        """Note the races of awaits that do not hold: what they wait for may be a race, and cannot change anything."""
        machine = self._machine
        for process, home in enumerate(machine.homes):
            for number, edge in enumerate(machine.edges(run, process)):
                if not isinstance(edge.command, Await):
                    continue
                place = home, machine.operands(run, process, number)["address"]
                looks = Event("await", process, 0, place, edge.command.line, home=home), False, True
                for other, after, _ in ways:
                    if other not in (None, process) and any(
                        _race(looks, its) for its in self._accesses(run, after, other)
                    ):
                        line = after.history[len(run.history)].line
                        self.racing.add(tuple(sorted((edge.command.line, line))))

    def _ways(self, run: Run):
        """The runs with one command more: of which rank (None: of all), and what it shows."""
        for after in self._machine.issues(run):
            events = after.history[len(run.history) :]
            shown: set[tuple[int, ...]] = {(each.rank, each.line) for each in events if not each.holds}
            rank = None if events[0].kind == "barrier" else events[0].rank
            if rank is not None and (rank, events[0].line) in (self._looked_at or ()):
                register = self._machine.register_index[self._command_of(run, after, rank).register]
                shown.add((rank, events[0].line, after.registers[rank][register]))
            yield rank, self._machine.emptied(after), frozenset(shown)

    def _compare(self, first, second, run: Run, shown: Shown) -> None:
        (rank, one, seen), (other_rank, other, also) = first, second
        ours, theirs = self._accesses(run, one, rank), self._accesses(run, other, other_rank)
        if not any(_race(mine, its) for mine in ours for its in theirs):
            return
        lines = tuple(sorted((one.history[len(run.history)].line, other.history[len(run.history)].line)))
        self.racing.add(lines)
        orders = (
            self._then(one, shown | seen, other_rank, _command(run, other)),
            self._then(other, shown | also, rank, _command(run, one)),
        )
        if orders[0] != orders[1]:
            self.matters.add(lines)

    def _then(self, run: Run, shown: Shown, rank: int, command: tuple[str, int, int]) -> frozenset[End]:
        """The ends after ``run`` and the ``command`` of ``rank``; after ``run`` alone where that is blocked."""
        found = frozenset()
        for other, after, seen in self._ways(run):
            if other == rank and _command(run, after) == command:
                found |= self._ends_of(after, shown | seen)
        return found or self._ends_of(run, shown)

    def _accesses(self, run: Run, after: Run, rank: int) -> list[tuple[Event, bool, bool]]:
        """The accesses of the command that ``after`` has and ``run`` has not, whether each is atomic, and whether it
        looks what is in the memory of its rank, or waits for that."""
        events, command = after.history[len(run.history) :], self._command_of(run, after, rank)
        looks, home = isinstance(command, Fetch | Await), self._machine.homes[rank]
        return [
            (each, isinstance(command, ATOMIC), looks and each.place[0] == home)
            for each in events
            if each.place is not None
        ]

    def _command_of(self, run: Run, after: Run, rank: int) -> Any:
        line = after.history[len(run.history)].line
        return next(
            edge.command
            for edge in self._machine.edges(run, rank)
            if edge.command.line == line and edge.target == after.control[rank]
        )

    def _end(self, run: Run, shown: Shown) -> End:
        machine = self._machine
        nexts: list[Statement] = [
            edge.command for rank in range(len(machine.homes)) for edge in machine.edges(run, rank)
        ]
        if machine.faults(run):
            ending = "fault"
        elif not nexts:
            ending = "ended"
        elif any(isinstance(each, Exit) for each in nexts):
            ending = "exited"
        else:
            waiting = (machine.edges(run, rank) for rank in range(len(machine.homes)))
            stopped = all(isinstance(edge.command, Assume) for edges in waiting for edge in edges)
            ending = "stopped" if stopped else "deadlock"
        return ending, run.registers if self._looked_at is None else None, run.memory, shown


def _command(run: Run, after: Run) -> tuple[str, int, int]:
    """What tells the command that ``after`` has and ``run`` has not from others of its rank."""
    event = after.history[len(run.history)]
    return event.kind, event.line, after.control[event.rank]


def _race(one: tuple[Event, bool, bool], other: tuple[Event, bool, bool]) -> bool:
    (first, atomic, looks), (second, also, also_looks) = one, other
    if first.place != second.place or (atomic and also):
        return False
    return (first.writes and not (also_looks and _arrives(first, atomic))) or (
        second.writes and not (looks and _arrives(second, also))
    )


def _arrives(event: Event, atomic: bool) -> bool:
    """Whether what is written comes by a step, from another rank, or atomically."""
    return atomic or event.is_step or event.place[0] != event.home
