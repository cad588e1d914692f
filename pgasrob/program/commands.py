"""The commands of the calculus (the paper, Figure 2, and what the design adds in section 2).

A command's class attribute ``kind`` is the name of the event it issues. A command that accesses memory also says how it
does (:data:`Accessing`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import field, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, get_args

from pgasrob.program.expressions import INT32, Expr, IntType, Register, render
from pgasrob.program.value_classes import record

DEFAULT_TYPE = "int"
"""The type of an atomic access whose command names none."""
OF_THE_CPU = "_Atomic"
"""The first word of the type of an atomic instruction of the rank's CPU, which no library makes."""
PLAIN, POLLING, BY = "plain", "polling", "by"
"""Words of the syntax: not atomic; a load that polls; the word between a type and an operation."""


@record(kw_only=True)
class Plain:
    """A command whose accesses are plain unless it says otherwise.

    Both fields decide only whether accesses race, never what a run does. ``atomic``: the type in which the access to
    the target is atomic, "" for a plain one; the local sides of transfers are always plain. A word ``by`` and an
    operation may follow the type, for atomics that are allowed to race with their own kind (`races.access_facts`).
    ``bytes``: for each access, in order, the first byte of the cell that it touches and the one after the last; empty
    where every access touches its whole cell.
    """

    atomic: str = ""
    bytes: tuple[tuple[int, int], ...] = ()


@record(kw_only=True)
class Atomic:
    """A command that is atomic at its target unless it says otherwise; the fields are those of :class:`Plain`."""

    atomic: str = DEFAULT_TYPE
    bytes: tuple[tuple[int, int], ...] = ()


Accessing = Plain | Atomic
"""The commands that access memory."""


@record
class Load(Plain):
    """Set ``register`` to what the cell holds. ``rank``: whose memory the cell is in, None for the rank's own; a load
    reaches that of another rank where memory is shared. ``polling``: the load looks whether a value has arrived, as an
    await does, and goes on if it has not."""

    kind: ClassVar[Literal["load"]] = "load"
    register: Register
    address: Expr
    rank: Expr | None = None
    polling: bool = field(default=False, kw_only=True)


@record
class Store(Plain):
    """Set the cell to ``value``; ``rank`` as for :class:`Load`. ``ends``: the life of the object ends, and the value
    stands for anything; for reports alone."""

    kind: ClassVar[Literal["store"]] = "store"
    address: Expr
    value: Expr
    rank: Expr | None = None
    ends: bool = field(default=False, kw_only=True, compare=False)


@record
class Assign:
    kind: ClassVar[Literal["assign"]] = "assign"
    register: Register
    value: Expr


@record
class Assume:
    kind: ClassVar[Literal["assume"]] = "assume"
    condition: Expr


@record
class Mark(Assume):
    """An assume that always holds. ``fact`` is what the library call at this place does beside its commands."""

    fact: Hashable


@record
class Guess(Assume):
    """An assume that always holds, where a rank goes one of several ways by an unknown value. ``free``: what others
    know of the value has no part in it, so that it may be one that no run has together with theirs. ``vain``: no values
    are known for which all holds by which the rank has come here, so that it may be a way of no run. ``waited``: the
    queue that the thread has waited for just before, where what other threads of its rank have issued in it before may
    have to be complete as well, so that no run of the program has it pending here."""

    free: bool = False
    vain: bool = False
    waited: int | None = None


FULL_FENCE = "full fence"
"""The ``fact`` of a :class:`Mark` for a processor's fence (mfence): the rank's earlier stores are all in memory."""


@record
class Assert:
    kind: ClassVar[Literal["assert"]] = "assert"
    condition: Expr


@record
class Read(Plain):
    """Copy ``remote`` at ``rank`` to ``local`` here: popa reads there, popb writes here."""

    kind: ClassVar[Literal["read"]] = "read"
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@record
class Write(Plain):
    """Copy ``local`` here to ``remote`` at ``rank``: popa reads here, popb writes there."""

    kind: ClassVar[Literal["write"]] = "write"
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@record
class Put(Plain):
    """A captured write: ``local`` here is read at the issue, popb writes ``remote`` at ``rank``."""

    kind: ClassVar[Literal["put"]] = "put"
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@record
class Update(Atomic):
    """A deferred atomic whose operand is a value: popb updates ``remote`` at ``rank``, popc writes the old value to
    ``result`` here.

    ``operation`` is one of :data:`UPDATES`; ``expected`` is for compare_swap alone. A located update comes after the
    rank's earlier located ones of the same cell (MPI's order of accumulates).
    """

    kind: ClassVar[Literal["update"]] = "update"
    operation: str
    value: Expr
    rank: Expr
    remote: Expr
    queue: Expr
    result: Expr | None = None
    expected: Expr | None = None
    located: bool = False
    type: IntType = INT32


@record
class UpdateFrom(Atomic):
    """A deferred atomic whose operand is in memory: popa reads ``local`` here (popd ``expected``), then as `Update`.

    With the operation fetch there is no operand: popa reads ``remote`` and popc writes ``result``; ``local`` is None.
    """

    kind: ClassVar[Literal["update_from"]] = "update_from"
    operation: str
    local: Expr | None
    rank: Expr
    remote: Expr
    queue: Expr
    result: Expr | None = None
    expected: Expr | None = None
    located: bool = False
    type: IntType = INT32


@record
class Notify(Atomic):
    """Update ``remote`` at ``rank`` (set or add) after the destination writes of earlier writes to that rank in
    ``queue``, or in every queue with ``everywhere``. Later writes are not ordered after it."""

    kind: ClassVar[Literal["notify"]] = "notify"
    operation: str
    value: Expr
    rank: Expr
    remote: Expr
    queue: Expr
    everywhere: bool = False
    type: IntType = INT32


@record
class Bundle:
    """Begin a bundle: the operations from here on to its signal."""

    kind: ClassVar[Literal["bundle"]] = "bundle"


@record
class Signal(Atomic):
    """Update ``remote`` at ``rank`` (set or add) after all steps of the operations of the rank's latest bundle."""

    kind: ClassVar[Literal["signal"]] = "signal"
    operation: str
    value: Expr
    rank: Expr
    remote: Expr
    queue: Expr
    type: IntType = INT32


@record
class Barrier:
    """All ranks pass it together, as soon as each has reached a barrier of this ``name``."""

    kind: ClassVar[Literal["barrier"]] = "barrier"
    name: str = ""


@record
class Exit:
    """Ends the run of all ranks once one rank reaches it. It is never issued; ranks that wait then are not stuck."""

    kind: ClassVar[Literal["exit"]] = "exit"


@record
class Wait:
    kind: ClassVar[Literal["wait"]] = "wait"
    queue: Expr


@record
class WaitLocal:
    kind: ClassVar[Literal["wait_local"]] = "wait_local"
    queue: Expr


@record
class Fence:
    """Order earlier writes of ``queue`` to ``rank`` before later ones; None: for each rank by itself."""

    kind: ClassVar[Literal["fence"]] = "fence"
    queue: Expr
    rank: Expr | None


@record
class Await(Atomic):
    kind: ClassVar[Literal["await"]] = "await"
    address: Expr
    relation: str
    value: Expr


@record
class AwaitAdd(Atomic):
    """One event: enabled when the cell at ``rank`` satisfies ``relation value``, it adds ``operand`` to it."""

    kind: ClassVar[Literal["await_add"]] = "await_add"
    rank: Expr
    address: Expr
    relation: str
    value: Expr
    operand: Expr
    type: IntType = INT32


@record
class Fetch(Atomic):
    """A blocking atomic that only reads."""

    kind: ClassVar[Literal["fetch"]] = "fetch"
    register: Register
    rank: Expr
    address: Expr


@record
class FetchUpdate(Atomic):
    """A blocking atomic with one of :data:`UPDATES` but compare_swap."""

    kind: ClassVar[Literal["fetch_update"]] = "fetch_update"
    operation: str
    register: Register
    rank: Expr
    address: Expr
    operand: Expr
    type: IntType = INT32


@record
class FetchAdd(Atomic):
    kind: ClassVar[Literal["fetch_add"]] = "fetch_add"
    register: Register
    rank: Expr
    address: Expr
    operand: Expr
    type: IntType = INT32


@record
class Swap(Atomic):
    kind: ClassVar[Literal["swap"]] = "swap"
    register: Register
    rank: Expr
    address: Expr
    value: Expr


@record
class CompareSwap(Atomic):
    kind: ClassVar[Literal["compare_swap"]] = "compare_swap"
    register: Register
    rank: Expr
    address: Expr
    expected: Expr
    new: Expr


@record
class FailedCompareSwap(Atomic):
    """A compare_swap that finds another value than the expected one. Programs are not written with it: it is one of the
    two commands that a compare_swap is read as (`program.failing_swaps`)."""

    kind: ClassVar[Literal["failed_compare_swap"]] = "failed_compare_swap"
    register: Register
    rank: Expr
    address: Expr
    expected: Expr
    new: Expr


@record
class TestedAdd(Atomic):
    """A fetch_add after which the rank only compares what it has fetched: enabled when the cell satisfies ``relation
    value``. Programs are not written with it (`program.tested_adds`)."""

    __test__ = False  # else pytest collects it

    kind: ClassVar[Literal["fetch_add"]] = "fetch_add"
    register: Register
    rank: Expr
    address: Expr
    relation: str
    value: Expr
    operand: Expr
    type: IntType = INT32


Command = (
    Load | Store | Assign | Assume | Assert | Read | Write | Put | Update | UpdateFrom | Notify | Bundle | Signal
    | Barrier | Exit | Wait | WaitLocal | Fence | Await | AwaitAdd | Fetch | FetchUpdate | FetchAdd | Swap | CompareSwap
    | FailedCompareSwap | TestedAdd
)  # fmt: skip

Kind = Literal[
    "load", "store", "assign", "assume", "assert", "read", "write", "put", "update", "update_from", "notify",
    "bundle", "signal", "barrier", "exit", "wait", "wait_local", "fence", "await", "await_add", "fetch",
    "fetch_update", "fetch_add", "swap", "compare_swap", "failed_compare_swap"
]  # fmt: skip
"""The names of the commands."""

ATOMICS = tuple(
    each.kind
    for each in get_args(Command)
    if {"register", "rank"} <= {field.name for field in fields(each)} and each is not Load
)
"""The blocking atomics that give the old value."""
UPDATES = (
    "set", "add", "and", "or", "xor", "mul", "min", "max", "compare_swap", "fetch", "add.", "mul.", "min.", "max.",
)  # fmt: skip
"""The operations of an atomic on its cell. Those with a dot compute with doubles, as operators with a dot do."""


def map_expressions(command: Command, change: Callable[[Expr], Expr]) -> Command:
    """``command`` with ``change`` applied to each of its expressions (not to the register it sets); the same object
    where that changes none."""
    found = expressions_of(command)
    changed: dict[str, Any] = {name: new for name, expr in found.items() if (new := change(expr)) is not expr}
    return replace(command, **changed) if changed else command


def expressions_of(command: Command) -> dict[str, Expr]:
    """The expressions of ``command`` by field name, in the order of the fields, without fields that are None."""
    kind: Any = type(command)
    named = ((name, getattr(command, name)) for name in _names_of_expressions(kind))
    return {name: expr for name, expr in named if expr is not None}


@cache
def _names_of_expressions(kind: type[Command]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.type in ("Expr", "Expr | None"))


def show(command: Command) -> str:
    """``command`` in the core syntax, without the semicolon."""
    return _shown(command) + (_how(command) if isinstance(command, Accessing) else "")


def _how(command: Accessing) -> str:
    """The suffix of ``command`` that says how it accesses memory, as `` as plain[0-3]``; "" for the usual way."""
    polling = isinstance(command, Load) and command.polling
    usual = DEFAULT_TYPE if isinstance(command, Atomic) else ""
    if command.atomic == usual and not polling and not command.bytes:
        return ""
    ranges = ", ".join(f"{first}-{end - 1}" for first, end in command.bytes)
    return f" as {f'{POLLING} ' * polling}{command.atomic or PLAIN}{f'[{ranges}]' * bool(ranges)}"


def _shown(command: Command) -> str:
    match command:
        case Load(register, address, rank):
            return f"{register.name} <- {_memory(address, rank)}"
        case Store(address, value, rank):
            return f"{_memory(address, rank)} <- {render(value)}"
        case Assign(register, value):
            return f"{register.name} <- {render(value)}"
        case Await(address, relation, value):
            return f"await(mem[{render(address)}] {relation} {render(value)})"
        case Barrier(name):
            return f"barrier({name})" if name else "barrier"
        case Bundle() | Exit():
            return command.kind
        case TestedAdd(register, rank, address, _, _, operand):
            return f"{register.name} <- fetch_add({render(rank)}, {render(address)}, {render(operand)})"
        case AwaitAdd(rank, address, relation, value, operand):
            return f"await_add({render(rank)}, mem[{render(address)}] {relation} {render(value)}, {render(operand)})"
    arguments = ", ".join(_arguments(command))
    result = f"{command.register.name} <- " if hasattr(command, "register") else ""
    return f"{result}{_word(command)}({arguments})"


def _memory(address: Expr, rank: Expr | None) -> str:
    return f"mem[{render(address)}]" if rank is None else f"mem[{render(address)} @ {render(rank)}]"


def _arguments(command: Command) -> list[str]:
    """The arguments of a command in call syntax. The expected value of a compare_swap follows its operand."""
    rendered = {name: render(expr) for name, expr in expressions_of(command).items()}
    first = [command.operation] if hasattr(command, "operation") else []
    if command.kind in ("update", "update_from"):
        first += [rendered.pop(name) for name in ("value", "local", "expected") if name in rendered]
    return [*first, *rendered.values()]


def _word(command: Command) -> str:
    """The keyword of a command in call syntax."""
    located, everywhere = getattr(command, "located", False), getattr(command, "everywhere", False)
    kind = "compare_swap" if isinstance(command, FailedCompareSwap) else command.kind
    return f"{kind}{'_located' if located else ''}{'_all' if everywhere else ''}"
