"""Which awaits are tests of their condition, and of which conditions (the design: section 2; `proofs/waiting.md`, 7).

These are the awaits of a cell whose address is known and that no commuting update of any process may be of, and which
compare it with what can be told beforehand: what is made of registers that only assigns ever set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .control import Edge
from .expressions import Binary, Expr, Fault, Name, Unary, compare, evaluate
from .operations import Place
from .polling import _live, _mentioned
from .readings import COMMUTING, Reading
from .syntax import (
    Assign,
    Assume,
    Await,
    Fetch,
    FetchAdd,
    Load,
    Notify,
    Signal,
    Statement,
    TestedAdd,
    Update,
    UpdateFrom,
)

if TYPE_CHECKING:
    from .semantics import Machine

MOST, MOST_VALUES = 4_000, 64
Condition = tuple[str, int]  # how a cell is compared, and with what


class Conditions:
    """The tests of the awaits of a machine; `of` has for each place the conditions that are tested there."""

    def __init__(self, machine: Machine, reading: Reading) -> None:
        self.machine = machine
        self.of: dict[Place, set[Condition]] = {}
        self._tests: dict[tuple[int, Await], set[int]] = {}
        self._polls: dict[tuple[int, Statement], tuple[Condition, Condition]] = {}
        if reading.waits == "value":
            return
        commands = [
            (process, edge.command)
            for process, table in enumerate(machine.automata)
            for edges in table
            for edge in edges
        ]
        updated = updated_addresses(machine, reading)
        for process, command in commands:
            if isinstance(command, TestedAdd):
                place = self._constant(process, command.rank), self._constant(process, command.address)
                self.of.setdefault(place, set()).add((command.relop, command.value))
            if isinstance(command, Load | Fetch) and (branches := self.branches(process, command)):
                place = self._place(process, command)
                if None not in (*place, *updated) and place[1] not in updated:
                    self._polls[process, command] = branches
                    self.of.setdefault(place, set()).update(branches)
            if isinstance(command, Await) and None not in updated:
                address = self._constant(process, command.address)
                values = self._values(process, command)
                if address is not None and address not in updated and values and len(values) <= MOST_VALUES:
                    self._tests[process, command] = values
                    conditions = self.of.setdefault((machine.homes[process], address), set())
                    conditions |= {(command.relop, value) for value in values}

    def tested(self, process: int, command: Statement, value: int) -> Condition | None:
        """The condition that an await of `process` tests by comparing with `value`."""
        if not isinstance(command, Await) or value not in self._tests.get((process, command), ()):
            return None
        return command.relop, value

    def polled(self, process: int, command: Statement, fails: Callable[[int], bool]) -> Condition | None:
        """The condition that a read of `process` tests where it `fails` unless it holds."""
        if self.machine.polls is None:  # a failed read is an event like any other
            return None
        values = self.machine.polls.values
        for relop, value in self._polls.get((process, command), ()):
            if all(fails(each) != compare(relop, each, value) for each in values):
                return relop, value
        return None

    def branches(self, process: int, command: Statement) -> tuple[Condition, Condition] | None:
        """The two outcomes of the comparison that comes next, wherever the command stands, if nothing else is done with
        what it brings."""
        table, names = self.machine.automata[process], self._names(process)
        targets = {edge.target for edges in table for edge in edges if edge.command == command}
        if len(targets) != 1:
            return None
        return _branches(table, targets.pop(), command.register, names)

    def _place(self, process: int, command: Statement) -> tuple[int | None, int | None]:
        rank = getattr(command, "rank", None)
        home = self.machine.homes[process] if rank is None else self._constant(process, rank)
        return home, self._constant(process, command.address)

    def _names(self, process: int) -> dict[str, int]:
        return self.machine.names | {"me": self.machine.homes[process]}

    def _constant(self, process: int, expr: Expr) -> int | None:
        return _constant(expr, self._names(process))

    def _values(self, process: int, command: Await) -> set[int]:
        """What the await may compare with; none where that cannot be told."""
        names, table = self._names(process), self.machine.automata[process]
        needed, open_ = set[str](), _mentioned(command.value, names)
        while open_:
            register = open_.pop()
            needed.add(register)
            for each in (edge.command for edges in table for edge in edges):
                if getattr(each, "register", None) == register:
                    if not isinstance(each, Assign):
                        return set()
                    open_ |= _mentioned(each.value, names) - needed
        start = 0, tuple((register, 0) for register in sorted(needed))
        seen, unread, found = {start}, [start], set[int]()
        while unread:
            state, held = unread.pop()
            for edge in table[state]:
                at, after = names | dict(held), held
                try:
                    if edge.command == command:
                        found.add(evaluate(command.value, at))
                    if isinstance(edge.command, Assume) and _mentioned(edge.command.condition, names) <= needed:
                        if evaluate(edge.command.condition, at) == 0:
                            continue
                    elif isinstance(edge.command, Assign) and edge.command.register in needed:
                        after = _with(held, edge.command.register, evaluate(edge.command.value, at))
                except Fault:
                    continue
                if (edge.target, after) not in seen:
                    seen.add((edge.target, after))
                    unread.append((edge.target, after))
            if len(seen) > MOST:
                return set()
        return found


def updated_addresses(machine: Machine, reading: Reading) -> set[int | None]:
    """The addresses of updates that commute; None: any."""
    return {
        _constant(edge.command.remote, machine.names | {"me": machine.homes[process]})
        for process, table in enumerate(machine.automata)
        for edges in table
        for edge in edges
        if reading.conflicts == "commuting" and _commutes(edge.command)
    }


def with_tested_adds(machine: Machine, process: int, reading: Reading) -> list[list[Edge]]:
    """The automaton of a process with each fetch_add whose result is only compared, with a constant and at once, as an
    event for each outcome."""
    table, names = machine.automata[process], machine.names | {"me": machine.homes[process]}
    updated = updated_addresses(machine, reading)

    def outcomes(edge: Edge) -> list[Edge]:
        add, after = edge.command, table[edge.target]
        if type(add) is not FetchAdd or None in updated:
            return [edge]
        known = [_constant(each, names) for each in (add.rank, add.address, add.operand)]
        compared = _branches(table, edge.target, add.register, names)
        if None in known or known[1] in updated or compared is None:
            return [edge]
        (one, value), (other, _) = compared
        if one not in ("==", "!=") and _goes_round(table, edge.target):
            return [edge]
        values = (add.register, add.rank, add.address, add.operand)
        return [
            Edge(TestedAdd(*values, relop=relop, value=value, line=add.line), each.target)
            for relop, each in zip((one, other), after, strict=True)
        ]

    return [[each for edge in edges for each in outcomes(edge)] for edges in table]


OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
TURNED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _branches(
    table: list[list[Edge]], state: int, register: str, names: dict[str, int]
) -> tuple[Condition, Condition] | None:
    """The two outcomes of a comparison of a register, all that is done in a state, where it is not used behind them."""
    after = table[state]
    compared = [_comparison(each.command, register, names) for each in after]
    if len(after) != 2 or None in compared:
        return None
    live = _live(table, names)
    (one, value), (other, same) = compared
    if any(register in live[each.target] for each in after) or value != same or OPPOSITE[one] != other:
        return None
    return (one, value), (other, value)


def _comparison(command: Statement, register: str, names: dict[str, int]) -> Condition | None:
    """How an assume compares a register with a constant, if it does."""
    return _compared(command.condition, register, names) if isinstance(command, Assume) else None


def _compared(condition: Expr, register: str, names: dict[str, int]) -> Condition | None:
    match condition:
        case Name(name) if name == register:
            return "!=", 0
        case Unary("!", inner):
            found = _compared(inner, register, names)
            return None if found is None else (OPPOSITE[found[0]], found[1])
        case Binary(symbol, left, right) if symbol in OPPOSITE:
            for name, other, relop in ((left, right, symbol), (right, left, TURNED[symbol])):
                value = _constant(other, names)
                if name == Name(register) and value is not None:
                    return relop, value
    return None


def _goes_round(table: list[list[Edge]], state: int) -> bool:
    seen, unread = set[int](), [edge.target for edge in table[state]]
    while unread:
        here = unread.pop()
        if here == state:
            return True
        if here not in seen:
            seen.add(here)
            unread += [edge.target for edge in table[here]]
    return False


def _constant(expr: Expr, names: dict[str, int]) -> int | None:
    if _mentioned(expr, names):
        return None
    try:
        return evaluate(expr, names)
    except Fault:
        return None


def _commutes(command: Statement) -> bool:
    match command:
        case Update() | UpdateFrom() | Notify() | Signal():
            return command.operation in COMMUTING and getattr(command, "result", None) is None
    return False


def _with(held: Iterable[tuple[str, int]], register: str, value: int) -> tuple[tuple[str, int], ...]:
    return tuple((name, value if name == register else old) for name, old in held)
