"""The commands of the calculus (the paper, Figure 2, and what the design adds in section 2).

A command's class attribute ``kind`` is the name of the event it issues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from pgasrob.program.expressions import INT32, Expr, IntType, Register, render


@dataclass(frozen=True, slots=True)
class Load:
    kind: ClassVar[str] = "load"
    register: Register
    address: Expr


@dataclass(frozen=True, slots=True)
class Store:
    kind: ClassVar[str] = "store"
    address: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    kind: ClassVar[str] = "assign"
    register: Register
    value: Expr


@dataclass(frozen=True, slots=True)
class Assume:
    kind: ClassVar[str] = "assume"
    condition: Expr


@dataclass(frozen=True, slots=True)
class Assert:
    kind: ClassVar[str] = "assert"
    condition: Expr


@dataclass(frozen=True, slots=True)
class Read:
    """Copy ``remote`` at ``rank`` to ``local`` here: popa reads there, popb writes here."""

    kind: ClassVar[str] = "read"
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@dataclass(frozen=True, slots=True)
class Write:
    """Copy ``local`` here to ``remote`` at ``rank``: popa reads here, popb writes there."""

    kind: ClassVar[str] = "write"
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@dataclass(frozen=True, slots=True)
class Barrier:
    kind: ClassVar[str] = "barrier"


@dataclass(frozen=True, slots=True)
class Wait:
    kind: ClassVar[str] = "wait"
    queue: Expr


@dataclass(frozen=True, slots=True)
class WaitLocal:
    kind: ClassVar[str] = "wait_local"
    queue: Expr


@dataclass(frozen=True, slots=True)
class Fence:
    """Order earlier writes of ``queue`` to ``rank`` before later ones; None: for each rank by itself."""

    kind: ClassVar[str] = "fence"
    queue: Expr
    rank: Expr | None


@dataclass(frozen=True, slots=True)
class Await:
    kind: ClassVar[str] = "await"
    address: Expr
    relation: str
    value: Expr


@dataclass(frozen=True, slots=True)
class FetchAdd:
    kind: ClassVar[str] = "fetch_add"
    register: Register
    rank: Expr
    address: Expr
    operand: Expr
    type: IntType = INT32


@dataclass(frozen=True, slots=True)
class Swap:
    kind: ClassVar[str] = "swap"
    register: Register
    rank: Expr
    address: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class CompareSwap:
    kind: ClassVar[str] = "compare_swap"
    register: Register
    rank: Expr
    address: Expr
    expected: Expr
    new: Expr


Command = (
    Load | Store | Assign | Assume | Assert | Read | Write | Barrier
    | Wait | WaitLocal | Fence | Await | FetchAdd | Swap | CompareSwap
)  # fmt: skip

REMOTE = frozenset(("read", "write"))
ATOMIC = frozenset(("fetch_add", "swap", "compare_swap"))
NOT_EXPRESSIONS = frozenset(("register", "relation", "type"))


def map_expressions(command: Command, change: Callable[[Expr], Expr]) -> Command:
    """``command`` with ``change`` applied to each of its expressions (not to the register it sets)."""
    changed: dict[str, Any] = {name: change(expr) for name, expr in expressions_of(command).items()}
    return replace(command, **changed)


def expressions_of(command: Command) -> dict[str, Expr]:
    """The expressions of ``command`` by field name, in the order of the syntax; a missing rank is left out."""
    named = ((field.name, getattr(command, field.name)) for field in fields(command))
    return {name: expr for name, expr in named if name not in NOT_EXPRESSIONS and expr is not None}


def show(command: Command) -> str:
    """``command`` in the core syntax, without the semicolon."""
    match command:
        case Load(register, address):
            return f"{register.name} <- mem[{render(address)}]"
        case Store(address, value):
            return f"mem[{render(address)}] <- {render(value)}"
        case Assign(register, value):
            return f"{register.name} <- {render(value)}"
        case Await(address, relation, value):
            return f"await(mem[{render(address)}] {relation} {render(value)})"
        case Barrier():
            return "barrier"
    arguments = ", ".join(render(expr) for expr in expressions_of(command).values())
    result = f"{command.register.name} <- " if isinstance(command, FetchAdd | Swap | CompareSwap) else ""
    return f"{result}{command.kind}({arguments})"
