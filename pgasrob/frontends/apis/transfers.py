"""What the handlers of all APIs share: putting an outcome together, and copies between memories."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from pgasrob.frontends.apis.interface import Call, Look, Outcome, Way
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assign, Command, Exit, Load, Mark, Put, Read, Store, Wait, Write
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Unary, constant
from pgasrob.program.statements import Block, While


class Steps:
    """The outcome of a call while it is put together, part by part.

    Parts that note something in the API's state see what earlier parts of the same call have noted: `recall`.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.commands: list[object] = []
        self.stores: list[tuple[Address, Value, CType]] = []
        self.state: dict[str, Hashable] = {}

    def do(self, *commands: object) -> None:
        """Add commands or statements."""
        self.commands.extend(commands)

    def mark(self, fact: Hashable) -> None:
        """Say what is done here, where that is asked for."""
        if self.call.marked:
            self.do(Mark(Const(1), fact))

    def store(self, address: Address, value: Value | Expr, type: CType) -> None:
        """Assign through a pointer, after all commands."""
        self.stores.append((address, as_value(value), type))

    def note(self, key: str, value: Hashable) -> None:
        """Remember something on this rank."""
        self.state[key] = value

    def recall(self, key: str, default: Hashable = None) -> Hashable:
        if key in self.state:
            return self.state[key]
        return self.call.state.get(key, default)

    def count(self, key: str, modulus: int | None = None) -> int:
        """How often this has been asked before for ``key``, modulo ``modulus`` if there is one."""
        number = self.recall(key, 0)
        assert isinstance(number, int)
        self.note(key, number + 1 if modulus is None else (number + 1) % modulus)
        return number

    def outcome(self, result: Value | Expr = UNDEFINED, *, ends: bool = False) -> Outcome:
        return Outcome(self.call.do(*self.commands), as_value(result), tuple(self.stores), self.state, ends)

    def look(self, condition: Expr, yes: Way | None, no: Way | None = None) -> Look:
        """The commands as a look that comes before one of two ways to go on."""
        return Look(self.call.do(*self.commands), condition, yes, no)


def ends_all(call: Call) -> Outcome:
    """The call ends the run of all ranks."""
    call.rests_on(Kind.ENDS_ALL_RANKS, call.name)
    return Outcome(call.do(Exit()), ends=True)


def as_value(value: Value | Expr) -> Value:
    """An expression as a value of C."""
    if isinstance(value, Const):
        return Known(value.value)
    return value if isinstance(value, Value) else Unknown(value)


MOST = 1 << 16
"""Elements of one call."""


def bounded(call: Call, index: int) -> int:
    """Argument ``index``, a count that must be known here and within reason."""
    count = call.known(index)
    if not 0 <= count <= MOST:
        call.fail(
            f"argument {index + 1} of {call.name} is {count}",
            f"counts from 0 to {MOST} are supported, and few elements are enough to show a mistake",
        )
    return count


# Values


def int_type(type: CType) -> IntType:
    """The integer type that operations on cells of ``type`` are done in; the bits of a double are 64, signed."""
    return type.type if isinstance(type, Integer) else IntType(64, True)


def is_plain(value: Expr, type: CType) -> bool:
    """Whether ``value`` is one number with a sign and without, so that it does not matter as what it is looked for."""
    known = constant(value)
    return known is not None and 0 <= known < 1 << (int_type(type).bits - 1)


def value_at(steps: Steps, address: Address, type: CType) -> Expr:
    """The scalar at ``address`` in this rank's memory: loaded, unless it is known without that."""
    known = steps.call.load(address, type)
    if known is not None:
        return steps.call.value_expression(known)
    register = steps.call.register("value")
    steps.do(Load(register, steps.call.number(address, type)))
    return steps.call.as_number(register, address, type)


def element(call: Call, address: Address, index: int, type: CType) -> Address:
    """The address of the ``index``-th scalar of ``type`` from ``address`` on."""
    return call.moved(address, index * call.size_of(type))


OPERATORS = {"sum": "+", "prod": "*", "and": "&", "or": "|", "xor": "^"}
LOGICAL = {"land": "&&", "lor": "||", "lxor": "!="}


def combined(operation: str, left: Expr, right: Expr, type: CType) -> Expr:
    """``left`` and ``right`` of C type ``type`` combined by ``operation``: sum, prod, min, max, and, or, xor, and the
    logical land, lor, lxor."""
    dot = "." if isinstance(type, Floating) else ""
    if operation in ("min", "max"):
        relation = ("<" if operation == "min" else ">") + dot
        return Conditional(Binary(relation, left, right, int_type(type)), left, right)
    if operation in LOGICAL:
        return Binary(LOGICAL[operation], Unary("!", Unary("!", left)), Unary("!", Unary("!", right)))
    result = Binary(OPERATORS[operation] + dot, left, right, int_type(type))
    if isinstance(type, Floating) and type.bits == 32:
        return Unary("float32", result)
    return result


# Copies between memories


def owner_of(call: Call, address: Address) -> Const | None:
    """The rank in whose memory ``address`` is; None for one's own."""
    if address.owner is None or address.owner == call.rank:
        return None
    assert isinstance(address.owner, int), "one's rank is not known where it is an expression"
    return Const(address.owner)


def copied(steps: Steps, to: Address, of: Address, bytes: int) -> None:
    """A copy by the processor, by loads and stores, of memory that it reaches: one's own or a neighbour's."""
    call = steps.call
    cells = list(pairs(call, to, of, bytes))
    register = call.register("copied")
    overlap = to.object == of.object and to.owner == of.owner
    loaded = [call.register("copied") if overlap else register for _ in cells]
    loads = [Load(each, source, owner_of(call, of)) for each, (_, source) in zip(loaded, cells, strict=True)]
    stores = [Store(target, each, owner_of(call, to)) for each, (target, _) in zip(loaded, cells, strict=True)]
    steps.do(*((*loads, *stores) if overlap else (each for both in zip(loads, stores, strict=True) for each in both)))


def pairs(
    call: Call, local: Address, remote: Address, bytes: int, element: int | None = None
) -> Iterator[tuple[Expr, Expr]]:
    """The cells of a contiguous transfer, local before remote. None at all for a transfer of no bytes."""
    if bytes > 0:
        yield from call.paired_cells(local, remote, bytes, element)


def strided_pairs(
    call: Call, local: Address, local_stride: int, remote: Address, remote_stride: int, count: int, size: int
) -> Iterator[tuple[Expr, Expr]]:
    """The same for ``count`` elements of ``size`` bytes; strides in bytes."""
    for index in range(count):
        here, there = call.moved(local, index * local_stride), call.moved(remote, index * remote_stride)
        yield call.cell(here, size), call.cell(there, size)


def each(
    steps: Steps,
    local: Address,
    remote: Address,
    bytes: int,
    element: int | None,
    make: Callable[[Expr, Expr], Command],
) -> None:
    """What ``make`` makes of the cells, local and remote, of each element; of many by a loop over them."""
    call = steps.call
    walk = call.walked_cells(local, remote, bytes, element) if bytes > 0 else None
    if walk is None:
        steps.do(*(make(here, there) for here, there in pairs(call, local, remote, bytes, element)))
        return
    place, count, here, there = walk
    body = call.do(make(here, there), Assign(place, Binary("+", place, Const(1))))
    steps.do(Assign(place, Const(0)), While(Binary("<", place, Const(count)), Block(body), call.span))


def put(
    steps: Steps, local: Address, rank: Expr, remote: Address, bytes: int, queue: Expr, element: int | None = None
) -> None:
    """A put whose source is captured at the issue: the source may be changed when the call returns."""
    each(steps, local, remote, bytes, element, lambda here, there: Put(here, rank, there, queue))


def write(
    steps: Steps, local: Address, rank: Expr, remote: Address, bytes: int, queue: Expr, element: int | None = None
) -> None:
    """A put whose source is read some time after the call."""
    each(steps, local, remote, bytes, element, lambda here, there: Write(here, rank, there, queue))


def read(
    steps: Steps, local: Address, rank: Expr, remote: Address, bytes: int, queue: Expr, element: int | None = None
) -> None:
    """A get that is not waited for."""
    each(steps, local, remote, bytes, element, lambda here, there: Read(here, rank, there, queue))


def get(
    steps: Steps, api: str, local: Address, rank: Expr, remote: Address, bytes: int, element: int | None = None
) -> None:
    """A blocking get. It waits for nothing else, so it has a queue of its own, which is empty before and after."""
    queue = blocking_queue(steps.call, api)
    read(steps, local, rank, remote, bytes, queue, element)
    if bytes > 0:
        steps.do(Wait(queue))


def blocking_queue(call: Call, api: str) -> Const:
    """The queue that blocking gets of ``api`` use."""
    return call.queue(api, "get", name=f"{api}_get")
