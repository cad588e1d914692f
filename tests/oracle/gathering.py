"""Reads of several flags of which it does not matter which has been seen first, from their definition.

A cell is a *flag* of a rank when one value alone is written to it but by the rank's own stores: once seen it stays. It
has *settled* with a flag that has been seen when every put that writes it comes before every put of the flag. A read of
a flag that is not there *gathers* when there is a configuration that the rank comes to when all flags are there that it
reads, each once, and to which every other way comes, too, before any command but reads, awaits, assigns and assumes,
and waits for the rank's own operations; each way has seen all of these flags there and waited for the same queues,
reads no other cell that has not settled, whatever that holds, and comes there when they are all raised.

Flags with several values, cells of a rank's own and data put by code with branches are none to the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import NamedTuple

from .control import Edge
from .expressions import Fault, Name, compare, evaluate, wrap
from .operations import Place
from .syntax import (
    Assign,
    Assume,
    Await,
    AwaitAdd,
    CompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Load,
    Notify,
    Program,
    Put,
    Read,
    Signal,
    Statement,
    Store,
    Swap,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
)
from .syntax import Write as WriteStatement

Configuration = tuple[int, tuple[int, ...]]
Seen = tuple[Configuration, frozenset[Place]]
Ways = Callable[[int, Configuration], "Iterator[tuple[Statement, int, dict[str, int]]] | None"]
MOST = 1_500
MOST_BEFORE = 4
CHOOSING = ("set", "compare_swap", "min", "max")


class Write(NamedTuple):
    """A write by `rank`, at its issue or later; None: anywhere, or any value."""

    rank: int
    place: Place | None
    at_issue: bool
    value: int | None


class Flags:
    """For each rank the cells that are flags: the value that arrives, and those before it."""

    def __init__(self, program: Program, automata: list[list[list[Edge]]], names: dict[str, int]) -> None:
        self.automata, self.names = automata, names
        self.initial = [wrap(value) for cell in program.memory for _, value in cell.elements]
        ranks = range(len(automata))
        at = [(rank, state, edge.command) for rank in ranks for state, out in enumerate(automata[rank]) for edge in out]
        known = [write for rank, _, command in at if not isinstance(command, Put) for write in self._of(rank, command)]
        puts = [(rank, state, command) for rank, state, command in at if isinstance(command, Put)]
        moved = [write for rank, _, put in puts for write in self._places(rank, put, "remote", False, None)]
        writes = list(known)
        for rank, state, put in puts:
            for value in self._source(rank, state, put, [*known, *moved]):
                writes += self._places(rank, put, "remote", False, value)
        self.of: list[dict[Place, tuple[int, set[int]]]] = [{} for _ in ranks]
        self.writes, self.bodies = writes, [program.body(rank) for rank in ranks]
        self.fifo = {queue.name for queue in program.queues if not queue.unordered}
        if any(write.place is None for write in writes):
            return
        for rank in ranks:
            for place in {write.place for write in writes}:
                there = [write for write in writes if write.place == place]
                own = {write.value for write in there if write.at_issue and write.rank == rank}
                others = {write.value for write in there if not (write.at_issue and write.rank == rank)}
                before = own | {self.initial[place[1]]}
                if len(others) == 1 and None not in others | own and len(before) <= MOST_BEFORE:
                    self.of[rank][place] = (*others, before)

    def settled(self, rank: int, place: Place, seen: frozenset[Place]) -> bool:
        """Whether nothing arrives at `place` any more when `rank` has seen these flags."""
        writes = [write for write in self.writes if not (write.at_issue and write.rank == rank)]
        if any(write.place is None for write in writes):
            return False
        writers = {write.rank for write in writes if write.place == place}
        raising = {flag: {write.rank for write in writes if write.place == flag} for flag in seen}
        return not writers or any(
            writers == by and len(by) == 1 and self._comes_first(*by, place, flag)
            for flag, by in raising.items()
            if flag in self.of[rank] and self.of[rank][flag][0] not in self.of[rank][flag][1]
        )

    def _comes_first(self, rank: int, place: Place, flag: Place) -> bool:
        """Whether `rank`, in straight code, puts the last time to `place` before it puts to `flag`, with a wait or a
        fence between, or in a FIFO queue."""
        body = self.bodies[rank]
        if not all(isinstance(each, Put | Wait | WaitLocal | Fence | Await | Store) for each in body):
            return False
        puts = {number: put for number, put in enumerate(body) if isinstance(put, Put)}
        to = {number: self._own(self._value(rank, put, "rank"), put, "remote") for number, put in puts.items()}
        queues = {queue: queue in map(Name, self.fifo) for queue in (put.queue for put in puts.values())}
        return all(
            first < second
            and (
                (puts[first].queue == puts[second].queue and queues[puts[first].queue])
                or any(
                    isinstance(each, Wait | Fence)
                    and each.queue == puts[first].queue
                    and (isinstance(each, Wait) or (each.rank is None and each.queue == puts[second].queue))
                    for each in body[first:second]
                )
            )
            for first in puts
            for second in puts
            if to[first] == place and to[second] == flag
        )

    def _of(self, rank: int, command: Statement) -> Iterator[Write]:
        """The writes of a command that is no put."""
        match command:
            case Store():
                yield from self._places(rank, command, "address", True, self._value(rank, command, "value"))
            case Swap():
                yield from self._places(rank, command, "address", True, self._value(rank, command, "operand"))
            case CompareSwap():
                yield from self._places(rank, command, "address", True, self._value(rank, command, "new"))
            case FetchUpdate(operation):
                operand = self._value(rank, command, "operand") if operation in CHOOSING else None
                yield from self._places(rank, command, "address", True, operand)
            case FetchAdd() | AwaitAdd():
                yield from self._places(rank, command, "address", True, None)
            case Read():
                yield Write(rank, self._own(rank, command, "local"), False, None)
            case WriteStatement():
                yield from self._places(rank, command, "remote", False, None)
            case Update(operation) | Notify(operation) | Signal(operation):
                value = self._value(rank, command, "value") if operation in CHOOSING else None
                yield from self._places(rank, command, "remote", False, value)
            case UpdateFrom(operation) if operation != "fetch":
                yield from self._places(rank, command, "remote", False, None)
        if getattr(command, "result", None) is not None:
            yield Write(rank, self._own(rank, command, "result"), False, None)

    def _places(self, rank: int, command: Statement, field: str, at_issue: bool, value: int | None) -> Iterator[Write]:
        address = self._value(rank, command, field)
        owner = rank if getattr(command, "rank", None) is None else self._value(rank, command, "rank")
        ranks, there = range(len(self.automata)), range(len(self.initial))
        if (owner is not None and owner not in ranks) or (address is not None and address not in there):
            return  # it faults
        for each in ranks if owner is None else (owner,):
            yield Write(rank, None if address is None else (each, address), at_issue, value)

    def _own(self, rank: int, command: Statement, field: str) -> Place | None:
        address = self._value(rank, command, field)
        return None if address is None or not 0 <= address < len(self.initial) else (rank, address)

    def _source(self, rank: int, state: int, put: Put, writes: list[Write]) -> set[int | None]:
        """What a put may take from its source: what the rank has stored there, if nobody else writes it."""
        cell = self._own(rank, put, "local")
        there = [write for write in writes if write.place in (cell, None)]
        if cell is None or any(write.rank != rank or not write.at_issue or write.value is None for write in there):
            return {None}
        found: set[tuple[int, int | None]] = set()
        unread: list[tuple[int, int | None]] = [(0, self.initial[cell[1]])]
        while unread:
            here = unread.pop()
            if here not in found:
                found.add(here)
                for edge in self.automata[rank][here[0]]:
                    stored = [write.value for write in self._of(rank, edge.command) if write.place == cell]
                    unread.append((edge.target, stored[0] if stored else here[1]))
        return {value for at, value in found if at == state}

    def _value(self, rank: int, command: Statement, field: str) -> int | None:
        """An operand where it does not depend on registers."""
        try:
            return evaluate(getattr(command, field), self.names | {"me": rank})
        except (KeyError, Fault):
            return None


class Gathers:
    def __init__(
        self, flags: Flags, out: list[list[list[Edge]]], ways: Ways, at: Callable, moved: Callable
    ) -> None:  # fmt: skip
        """``at``: the configuration at a state with these registers; ``moved``: registers with one changed."""
        self.flags, self.out, self.ways, self.at, self.moved = flags, out, ways, at, moved
        self.cut = False
        self.data = 0  # what cells hold that have settled

    def gathers(self, rank: int, place: Place, value: int, early: Configuration, there: Configuration) -> bool:
        """Whether a read of `place` gathers that gives `value`, which leads to `early`; to `there` if it is raised."""
        flags = self.flags.of[rank]
        if place not in flags or value == flags[place][0]:
            return False
        for self.data in (0, 1, 5):
            goals = self._raised(rank, there, place)
            if not any(self._comes_to(rank, (early, frozenset()), goal) for goal in goals):
                return False
        return True

    def _raised(self, rank: int, start: Configuration, place: Place) -> list[Seen]:
        found: list[Seen] = []
        unread = [(start, frozenset({place}))]
        while unread and len(found) < MOST:
            here = unread.pop()
            if here not in found:
                found.append(here)
                unread += [after for after, cell in self._after(rank, here, True) or () if cell not in here[1]]
        self.cut |= len(found) >= MOST
        return found

    def _after(self, rank: int, here: Seen, raised: bool) -> list[tuple[Seen, Place | None]] | None:
        """Where the rank may come at once, with the flag that it looks at; None: to what is none of this. When all is
        ``raised``, what is none of this is left out."""
        found: list[tuple[Seen, Place | None]] = []
        ways = self.ways(rank, here[0])
        for command, target, values in () if ways is None else ways:
            registers = here[0][1]
            match command:
                case Assume():
                    found.append(((self.at(rank, target, registers), here[1]), None))
                case Assign():
                    changed = self.moved(registers, command.register, values["value"])
                    found.append(((self.at(rank, target, changed), here[1]), None))
                case Wait() | WaitLocal():
                    waited = (values["queue"], -1 - isinstance(command, Wait))  # no place
                    found.append(((self.at(rank, target, registers), here[1] | {waited}), None))
                case Load() | Fetch() | Await():
                    place = (values.get("rank", rank), values["address"])
                    register = getattr(command, "register", None)
                    is_data = register is not None and not self._is_tested(rank, target, register)
                    if is_data and self.flags.settled(rank, place, here[1]):
                        fixed = not any(write.place in (place, None) for write in self.flags.writes)
                        holds = self.flags.initial[place[1]] if fixed else self.data
                        read = self.moved(registers, register, holds)
                        found.append(((self.at(rank, target, read), here[1]), None))
                        continue
                    if place not in self.flags.of[rank]:
                        if not raised:
                            return None
                        continue
                    arrives, before = self.flags.of[rank][place]
                    for value in {arrives} if raised or place in here[1] else {arrives, *before}:
                        if isinstance(command, Await) and not compare(command.relop, value, values["value"]):
                            continue
                        after = (
                            registers if isinstance(command, Await) else self.moved(registers, command.register, value)
                        )
                        seen = here[1] | {place} if value == arrives else here[1]
                        found.append(((self.at(rank, target, after), seen), place))
                case _ if not raised:
                    return None
        return None if ways is None and not raised else found

    def _is_tested(self, rank: int, state: int, register: str) -> bool:
        """Whether an assume may look at what `register` holds at `state`."""
        found, unread = {state}, [state]
        while unread:
            for edge in self.out[rank][unread.pop()]:
                if isinstance(edge.command, Assume) and register in _names(edge.command.condition):
                    return True
                if getattr(edge.command, "register", None) != register and edge.target not in found:
                    found.add(edge.target)
                    unread.append(edge.target)
        return False

    def _comes_to(self, rank: int, start: Seen, goal: Seen) -> bool:
        ahead: dict[Seen, list[Seen]] = {}
        unread = [start]
        while unread:
            here = unread.pop()
            if here in ahead:
                continue
            if len(ahead) >= MOST:
                self.cut = True
                return False
            ahead[here] = []
            if here[0][0] == goal[0][0]:
                if here[0] != goal[0] or not here[1] >= goal[1]:
                    return False
                continue
            after = self._after(rank, here, False)
            if after is None or any(cell is not None and cell not in goal[1] for _, cell in after):
                return False
            unread += [each for each, _ in after]
            ahead[here] = [each for each, _ in self._after(rank, here, True) or ()]
        there = {here for here in ahead if here[0] == goal[0]}
        while more := {
            here for here, after in ahead.items() if after and here not in there and there.issuperset(after)
        }:
            there |= more
        return there >= set(ahead)


def _names(expr: object) -> set[str]:
    """The names in an expression."""
    if isinstance(expr, Name):
        return {expr.name}
    parts = [getattr(expr, field.name) for field in fields(expr)] if is_dataclass(expr) else []
    return set[str]().union(*map(_names, parts))
