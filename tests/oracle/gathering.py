"""Reads of several flags of which it does not matter which has been seen first, from their definition.

A cell is a *flag* of a rank when one value alone is written to it but by the rank's own stores: once seen it stays. A
read of a flag that is not there *gathers* when there is a configuration that the rank comes to when all flags are there
that it reads, each once, and to which every other way comes, too, before any command but reads, awaits, assigns and
assumes; each way has seen all of these flags there, reads no other cell, and comes there once they have all been raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .control import Edge
from .expressions import compare, evaluate, wrap
from .operations import Place, issued
from .syntax import Assign, Assume, Await, Fetch, Load, Program, Put, Statement, Store

Configuration = tuple[int, tuple[int, ...]]
Seen = tuple[Configuration, frozenset[Place]]
Ways = Callable[[int, Configuration], "Iterator[tuple[Statement, int, dict[str, int]]] | None"]
MOST = 1_500
MOST_BEFORE = 4
CHOOSING = ("set", "compare_swap", "min", "max")


class Flags:
    """For each rank the cells that are flags: the value that arrives, and those before it."""

    def __init__(self, program: Program, automata: list[list[list[Edge]]], names: dict[str, int]) -> None:
        self.automata, self.names = automata, names
        self.initial = [wrap(value) for cell in program.memory for _, value in cell.elements]
        ranks = range(len(automata))
        commands = [(rank, at, edge.command) for rank in ranks for at, out in enumerate(automata[rank]) for edge in out]
        known = [(rank, *each) for rank, _, command in commands for each in self._direct(rank, command)]
        self.of: list[dict[Place, tuple[int, set[int]]]] = [{} for _ in ranks]
        copied = [(rank, *each) for rank, at, command in commands for each in self._copies(rank, at, command, known)]
        writes = known + copied
        if any(place is None for _, place, _, _ in writes):
            return
        for rank in ranks:
            for place in {place for _, place, _, _ in writes}:
                own = {value for by, to, now, value in writes if to == place and now and by == rank}
                others = {value for by, to, now, value in writes if to == place and not (now and by == rank)}
                before = own | {self.initial[place[1]]}
                if len(others) == 1 and None not in others | own and len(before) <= MOST_BEFORE:
                    self.of[rank][place] = (*others, before)  # type: ignore[assignment]

    def _direct(self, rank: int, command: Statement) -> Iterator[tuple[Place | None, bool, int | None]]:
        """Place, whether at the issue, and value of the writes of a command whose value its text says."""
        if isinstance(command, Put):
            return
        if isinstance(command, Store) or hasattr(command, "register") or type(command).__name__ == "AwaitAdd":
            writes = isinstance(command, Store) or not isinstance(command, Load | Fetch | Assign)
            operation = "set" if isinstance(command, Store) or type(command).__name__ == "Swap" else "?"
            field = {"Store": "value", "Swap": "value", "CompareSwap": "new"}.get(type(command).__name__)
            if type(command).__name__ == "FetchUpdate":
                operation, field = command.operation, "value"  # type: ignore[attr-defined]
            if type(command).__name__ == "CompareSwap":
                operation = "compare_swap"
            if writes:
                owner = rank if getattr(command, "rank", None) is None else self._value(rank, command, "rank")
                value = self._value(rank, command, field) if field and operation in CHOOSING else None
                address = self._value(rank, command, "address")
                for each in range(len(self.automata)) if owner is None else (owner,):
                    yield (None if address is None else (each, address)), True, value
            return
        fields = {
            field: self._value(rank, command, field) for field in command.exprs if getattr(command, field) is not None
        }
        if not hasattr(command, "queue") or "remote" not in fields:
            return
        for each in range(len(self.automata)) if fields["rank"] is None else (fields["rank"],):
            numbers = {field: -1 if value is None else value for field, value in fields.items()} | {"rank": each}
            operation = issued(command, rank, numbers)
            for step, place in operation.chain:
                if step in ("popb", "popc"):
                    set_by_text = step == "popb" and "value" in fields and operation.update in CHOOSING
                    yield (None if place[1] == -1 else place), False, fields["value"] if set_by_text else None

    def _copies(
        self, rank: int, at: int, command: Statement, known: list
    ) -> Iterator[tuple[Place | None, bool, int | None]]:
        """The same of a put: what its source may hold where the rank is."""
        if not isinstance(command, Put):
            return
        local, to, owner = (self._value(rank, command, field) for field in ("local", "remote", "rank"))
        source = None if local is None else (rank, local)
        values: set[int | None] = {None}
        others = any(place is None or (place == source and not (now and by == rank and value is not None))
                     for by, place, now, value in known)  # fmt: skip
        reached = any(isinstance(edge.command, Put) and self._value(by, edge.command, "remote") in (None, local)
                      and self._value(by, edge.command, "rank") in (None, rank)
                      for by, table in enumerate(self.automata) for out in table for edge in out)  # fmt: skip
        if source is not None and not others and not reached:
            values = {value for state, value in self._held(rank, source) if state == at}
        for each in range(len(self.automata)) if owner is None else (owner,):
            for value in values:
                yield (None if to is None else (each, to)), False, value

    def _held(self, rank: int, cell: Place) -> set[tuple[int, int | None]]:
        """The control states of the rank, each with what it may have in a cell that it alone stores to."""
        found, unread = set(), [(0, self.initial[cell[1]])]
        while unread:
            here = unread.pop()
            if here in found:
                continue
            found.add(here)
            for edge in self.automata[rank][here[0]]:
                stored = [value for place, _, value in self._direct(rank, edge.command) if place == cell]
                unread.append((edge.target, stored[0] if stored else here[1]))  # type: ignore[arg-type]
        return found

    def _value(self, rank: int, command: Statement, field: str) -> int | None:
        """An operand where it does not depend on registers."""
        try:
            return evaluate(getattr(command, field), self.names | {"me": rank})
        except (KeyError, ArithmeticError):
            return None


class Gathers:
    def __init__(self, flags: Flags, ways: Ways, at: Callable, moved: Callable) -> None:
        """``at``: the configuration at a state with these registers; ``moved``: registers with one changed."""
        self.flags, self.ways, self.at, self.moved = flags, ways, at, moved
        self.cut = False

    def gathers(self, rank: int, place: Place, value: int, early: Configuration, there: Configuration) -> bool:
        """Whether a read of `place` gathers that gives `value`, which leads to `early`; to `there` if it is raised."""
        flags = self.flags.of[rank]
        if place not in flags or value == flags[place][0]:
            return False
        return any(self._comes_to(rank, (early, frozenset()), goal) for goal in self._raised(rank, there, place))

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
                case Load() | Fetch() | Await():
                    place = (values.get("rank", rank), values["address"])
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
                if here != goal:
                    return False
                continue
            after = self._after(rank, here, False)
            if after is None or any(cell is not None and cell not in goal[1] for _, cell in after):
                return False
            unread += [each for each, _ in after]
            ahead[here] = [each for each, _ in self._after(rank, here, True) or ()]
        there = {goal}
        while more := {
            here for here, after in ahead.items() if after and here not in there and there.issuperset(after)
        }:
            there |= more
        return start in there and there >= set(ahead)
