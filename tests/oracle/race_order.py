"""Which races change how SC runs end, by listing the SC runs after every SC state of a loop-free program.

Two next commands of different ranks race where they access a cell, one of them writes it, not both are atomic, and none
is an await. They matter where the runs after both orders do not end in the same ways. Plain are loads, stores and the
copies of transfers; steps directly follow their issue.
"""

from __future__ import annotations

from typing import NamedTuple

from .semantics import ATOMIC, Event, Machine, Run
from .syntax import Assume, Await, Exit, Program, Statement

Failed = frozenset[tuple[int, int]]
End = tuple[object, ...]


class At(NamedTuple):
    """An SC state, and the assertions (rank, line) that have failed on the way."""

    control: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[tuple[int, ...], ...]
    failed: Failed


class TooLarge(Exception):
    """There are more SC states than wanted."""


class RaceOrder:
    """``racing`` and ``matters``: pairs of lines, of all races between SC states and of those that matter; ``ends``:
    how many different ends there are. Raises :class:`TooLarge` beyond ``most`` states."""

    def __init__(self, program: Program, most: int) -> None:
        self._machine, self._most = Machine(program), most
        self._ends: dict[At, frozenset[End]] = {}
        self.racing: set[tuple[int, int]] = set()
        self.matters: set[tuple[int, int]] = set()
        start = self._machine.initial()
        self.ends = len(self._ends_of(start, frozenset()))
        self.states = len(self._ends)

    def _ends_of(self, run: Run, failed: Failed) -> frozenset[End]:
        at = At(run.control, run.registers, run.memory, failed)
        if at in self._ends:
            return self._ends[at]
        if len(self._ends) >= self._most:
            raise TooLarge
        ways = [*self._ways(run)]
        found = frozenset().union(*(self._ends_of(after, failed | broken) for _, after, broken in ways))
        self._ends[at] = found or frozenset({self._end(run, failed)})
        for rank, one, broken in ways:
            for other_rank, other, also in ways:
                if rank is not None and other_rank is not None and rank < other_rank:
                    self._compare((rank, one, broken), (other_rank, other, also), run, failed)
        return self._ends[at]

    def _ways(self, run: Run):
        """The runs with one command more: of which rank (None: of all), and the assertions that fail by that."""
        for after in self._machine.issues(run):
            events = after.history[len(run.history) :]
            failed = frozenset((each.rank, each.line) for each in events if not each.holds)
            rank = None if events[0].kind == "barrier" else events[0].rank
            yield rank, self._machine.emptied(after), failed

    def _compare(self, first, second, run: Run, failed: Failed) -> None:
        (rank, one, broken), (other_rank, other, also) = first, second
        ours, theirs = self._accesses(run, one, rank), self._accesses(run, other, other_rank)
        if not any(_race(mine, its) for mine in ours for its in theirs):
            return
        lines = tuple(sorted((one.history[len(run.history)].line, other.history[len(run.history)].line)))
        self.racing.add(lines)
        orders = (
            self._then(one, failed | broken, other_rank, _command(run, other)),
            self._then(other, failed | also, rank, _command(run, one)),
        )
        if orders[0] != orders[1]:
            self.matters.add(lines)

    def _then(self, run: Run, failed: Failed, rank: int, command: tuple[str, int, int]) -> frozenset[End]:
        """The ends after ``run`` and the ``command`` of ``rank``; after ``run`` alone where that is blocked."""
        found = frozenset()
        for other, after, broken in self._ways(run):
            if other == rank and _command(run, after) == command:
                found |= self._ends_of(after, failed | broken)
        return found or self._ends_of(run, failed)

    def _accesses(self, run: Run, after: Run, rank: int) -> list[tuple[Event, bool]]:
        """The accesses of the command that ``after`` has and ``run`` has not, and whether each is atomic."""
        events = after.history[len(run.history) :]
        command = next(
            edge.command
            for edge in self._machine.edges(run, rank)
            if edge.command.line == events[0].line and edge.target == after.control[rank]
        )
        waits = isinstance(command, Await)
        return [(each, isinstance(command, ATOMIC)) for each in events if each.place is not None and not waits]

    def _end(self, run: Run, failed: Failed) -> End:
        machine = self._machine
        nexts: list[Statement] = [edge.command for rank in range(machine.nodes) for edge in machine.edges(run, rank)]
        if machine.faults(run):
            ending = "fault"
        elif not nexts:
            ending = "ended"
        elif any(isinstance(each, Exit) for each in nexts):
            ending = "exited"
        else:
            waiting = (machine.edges(run, rank) for rank in range(machine.nodes))
            stopped = all(isinstance(edge.command, Assume) for edges in waiting for edge in edges)
            ending = "stopped" if stopped else "deadlock"
        return ending, run.registers, run.memory, failed


def _command(run: Run, after: Run) -> tuple[str, int, int]:
    """What tells the command that ``after`` has and ``run`` has not from others of its rank."""
    event = after.history[len(run.history)]
    return event.kind, event.line, after.control[event.rank]


def _race(one: tuple[Event, bool], other: tuple[Event, bool]) -> bool:
    (first, atomic), (second, also) = one, other
    return first.place == second.place and (first.writes or second.writes) and not (atomic and also)
