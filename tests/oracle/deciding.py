"""What decides what ranks do, of all that they can come to in a set of states.

The registers in conditions, addresses, ranks and queues do, and those in what may fault; then whatever the value of a
register or cell that decides something is computed from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .expressions import Binary, Conditional, Expr, Name, Unary, may_fault
from .operations import READING, Place, issued
from .syntax import (
    REMOTE,
    Assert,
    Assume,
    Await,
    AwaitAdd,
    Fetch,
    Load,
    Put,
    Statement,
    Store,
)

CONDITIONS = (Assume, Assert, Await, AwaitAdd)
VALUES = frozenset({"value", "operand", "expected", "new"})
"""The operands of other commands that are values, and not addresses; `expected` may be an address."""


@dataclass(slots=True)
class Doing:
    """A command of a rank that it stands before, the cells whose values it uses, and those that it may write."""

    rank: int
    command: Statement
    used: set[Place]
    written: set[Place]


@dataclass(slots=True)
class Deciding:
    """Finds what decides something in `doings`."""

    doings: Iterable[Doing]
    registers: set[tuple[int, str]] = field(default_factory=set)
    places: set[Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        before = None
        while before != (before := (len(self.registers), len(self.places))):
            for doing in self.doings:
                self._follow(doing)

    def _follow(self, doing: Doing) -> None:
        command = doing.command
        computes = (
            isinstance(command, CONDITIONS)
            or (doing.rank, getattr(command, "register", None)) in self.registers
            or not doing.written.isdisjoint(self.places)
        )
        self.places |= doing.used if computes else set()
        for name in command.exprs:
            expr = getattr(command, name)
            if expr is not None and (computes or name not in VALUES or isinstance(command, REMOTE) or may_fault(expr)):
                self.registers |= {(doing.rank, register) for register in names(expr)}


def names(expr: Expr) -> Iterator[str]:
    match expr:
        case Name(name):
            yield name
        case Unary(_, operand):
            yield from names(operand)
        case Binary(_, left, right):
            yield from (*names(left), *names(right))
        case Conditional(test, yes, no):
            yield from (*names(test), *names(yes), *names(no))


def cells_of(command: Statement, rank: int, values: dict[str, int]) -> tuple[set[Place], set[Place]]:
    """The cells whose values a command uses, at its issue or by its steps, and those that it may write."""
    if "address" in values:
        place = values.get("rank", rank), values["address"]
        used = not isinstance(command, Store)
        return {place} if used else set(), set() if isinstance(command, Load | Fetch | Await) else {place}
    if not isinstance(command, REMOTE):
        return set(), set()
    operation = issued(command, rank, values, 0)
    used_places = {place for step, place in operation.chain if step in READING}
    if isinstance(command, Put):
        used_places.add((rank, values["local"]))
    if operation.update != "set" or "result" in values:
        used_places |= {place for step, place in operation.chain if step == "popb"}
    return used_places, {place for step, place in operation.chain if step not in READING}
