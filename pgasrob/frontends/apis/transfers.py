"""Makes the expressions for values, and the commands for copies between memories, for the handlers of all APIs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.lent import used_by_call
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.program.commands import Assign, Load, Put, Read, Store, Wait, Write
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Unary, constant
from pgasrob.program.statements import Block, While
from pgasrob.stop_points import stop_point

MOST = 1 << 16
"""The most elements of one call."""


def bounded(call: Call, index: int) -> int:
    """Argument ``index``, a count that must be known here, of at most `MOST`."""
    count = call.known(index)
    if count < 0:
        call.fail(Wrong.ARGUMENT, f"argument {index + 1} of {call.name} is {count}", "counts begin at 0")
    if count > MOST:
        call.fail(
            Wrong.SIZE_LIMIT,
            f"argument {index + 1} of {call.name} is {count}",
            f"counts up to {MOST} are supported, and few elements are enough to show a mistake",
        )
    return count


# Values


def int_type(type: CType) -> IntType:
    """The integer type that operations on cells of ``type`` are done in; the bits of a double are 64, signed."""
    return type.type if isinstance(type, Integer) else IntType(64, True)


def is_plain(value: Expr, type: CType) -> bool:
    """Whether ``value`` is the same number with a sign and without, so that comparisons with it agree."""
    known = constant(value)
    return known is not None and 0 <= known < 1 << (int_type(type).bits - 1)


def value_at(steps: Steps, address: Address, type: CType) -> Expr:
    """The scalar at ``address`` in this rank's memory: loaded, unless it is known without that."""
    stop_point()
    used_by_call(steps, address, steps.call.size_of(type))
    known = steps.call.load(address, type)
    if known is not None:
        return steps.call.value_expression(known)
    register = steps.call.register("value")
    if part := steps.call.reading(register, address, type):
        steps.do(*part)
        return register
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
    """Copy ``bytes`` bytes by loads and stores: memory of this rank or of neighbours."""
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
    """The pairs of cells of a contiguous transfer, local before remote."""
    if bytes > 0:
        yield from call.paired_cells(local, remote, bytes, element)


def loaded(steps: Steps, cells: list[Expr], hint: str) -> list[Expr]:
    """Load ``cells`` into registers with a name like ``hint``."""
    registers = [steps.call.register(hint) for _ in cells]
    steps.do(*map(Load, registers, cells))
    return list(registers)


def message_cells(call: Call, api: str, what: str, data: Address, size: int) -> list[Expr]:
    """The cells of a message. All ranks pair them with one object of the API, so that they use the same sizes."""
    call.allocate("symmetric", size, what, (api, what), asked_for=False)
    return [here for here, _ in pairs(call, data, Address(ObjectId("symmetric", (api, what)), 0), size)]


@dataclass(frozen=True, slots=True)
class Transfer:
    """``bytes`` contiguous bytes between ``local``, in this rank's memory, and ``remote``, in that of ``rank``.

    ``element``: the size of the elements when the call says it.
    """

    local: Address
    rank: Expr
    remote: Address
    bytes: int
    element: int | None = None

    def issue(self, steps: Steps, kind: type[Put] | type[Read] | type[Write], queue: Expr) -> None:
        """Issue one command for each element, in a loop if there are many: a `Put` reads the source at once, so that it
        may be changed when the call returns; a `Write` reads it some time later; a `Read` gets and is not waited for.
        """
        call = steps.call
        walk = call.walked_cells(self.local, self.remote, self.bytes, self.element) if self.bytes > 0 else None
        if walk is None:
            cells = pairs(call, self.local, self.remote, self.bytes, self.element)
            steps.do(*(kind(here, self.rank, there, queue) for here, there in cells))
            return
        place, count, here, there = walk
        body = call.do(kind(here, self.rank, there, queue), Assign(place, Binary("+", place, Const(1))))
        steps.do(Assign(place, Const(0)), While(Binary("<", place, Const(count)), Block(body), call.span))

    def get(self, steps: Steps, api: str) -> None:
        """A blocking get. It waits for nothing else, so it has a queue of its own, which is empty before and after."""
        queue = blocking_queue(steps.call, api)
        self.issue(steps, Read, queue)
        if self.bytes > 0:
            steps.do(Wait(queue))


def blocking_queue(call: Call, api: str) -> Const:
    """The queue that blocking gets of ``api`` use."""
    return call.queue(api, "get", name=f"{api}_get")
