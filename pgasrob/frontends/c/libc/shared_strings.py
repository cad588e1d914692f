"""Strings and memory in cells, which other ranks may write: a read there is an access to every byte read."""

from __future__ import annotations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.transfers import pairs
from pgasrob.frontends.c.libc.library_calls import machine_of, needs_number
from pgasrob.frontends.c.types import CHAR
from pgasrob.frontends.c.values import Address, Known
from pgasrob.program.commands import Assign, Command, Load, Store
from pgasrob.program.expressions import Binary, Const, Expr, Register
from pgasrob.program.statements import Block, If

MOST_BYTES = 1024
"""In cells, up to which a string is read from them."""


def argument_named(call: Call, index: int) -> str:
    text = f" `{call.texts[index]}`" if index < len(call.texts) else ""
    return f"argument {index + 1}{text} of `{call.name}`"


def in_cells(call: Call, address: Address) -> bool:
    """Whether other ranks may access the object at ``address``."""
    machine = machine_of(call).machine
    machine.objects.object(address.object)
    return machine.position.whose(address) is not None or machine.facts.objects[address.object].in_cells


def issue(steps: Steps) -> None:
    """Make the commands of ``steps`` now, before the rest of the call."""
    statements = steps.outcome().statements
    if statements:
        machine = machine_of(steps.call).machine
        machine.issuer.emit(*statements)
        machine.flows.read = {}


def may_change(call: Call, address: Address) -> bool:
    """Whether more than stores of known values by the rank that reads set anything in the object at ``address``."""
    machine = machine_of(call).machine
    facts = machine.facts.objects[address.object]
    foreign = machine.position.whose(address) is not None
    return in_cells(call, address) and (foreign or facts.all_restless or bool(facts.restless))


def read_bytes(steps: Steps, index: int, address: Address, bytes: int) -> None:
    """Read ``bytes`` bytes at ``address``: loads of the scalars that lie there in cells."""
    call = steps.call
    machine = machine_of(call).machine
    if bytes <= 0:
        return
    if not isinstance(address.offset, int):
        call.fail(
            Wrong.UNKNOWN_LIMIT, f"it is not known where {argument_named(call, index)} points to", "use a known index"
        )
    if not machine.objects.within(address, bytes):
        steps.do(Load(call.register("read"), machine.world.nowhere(machine.objects.outside(address, bytes))))
        return
    owner = machine.position.whose(address)
    if owner is not None:
        steps.do(*(Load(call.register("read"), cell, owner) for cell, _ in pairs(call, address, address, bytes)))
        return
    for offset, size in machine.pointers.pieces(address, bytes).items():
        if machine.facts.is_steady(address.object, offset):
            continue
        scalar = Address(address.object, offset)
        begin, end = max(offset, address.offset), min(offset + size, address.offset + bytes)
        part = () if end - begin == size else ((begin - offset, end - offset),)
        steps.do(Load(call.register("read"), machine.pointers.placed(scalar, size), bytes=part))


def read_string(
    steps: Steps, index: int, address: Address, most: int | None = None, to: Address | None = None
) -> Expr | None:
    """Read the string at ``address`` byte by byte up to the zero at its end, ``most`` bytes at most, and copy each byte
    to ``to`` if that is given. The result is its length, or None where nothing has to be read."""
    call = steps.call
    chain, shared = string_bytes(call, index, address, most)
    if not shared:
        return None
    place, byte = call.register("length"), call.register("byte")
    steps.do(Assign(place, Const(0)), Assign(byte, Const(1)))
    goes_on = Binary("!=", byte, Const(0))
    for at, value in enumerate(chain):
        one: list[object] = [*byte_to(call, byte, value)]
        if to is not None:
            one.append(Store(call.cell(call.moved(to, at), 1), byte))
        longer = If(goes_on, Block(call.do(Assign(place, Const(at + 1)))), None, call.span)
        steps.do(If(goes_on, Block((*call.do(*one), longer)), None, call.span))
    if most is None or len(chain) < most:
        ends_in_string(steps, goes_on, address)
    return place


def ends_in_string(steps: Steps, goes_on: Expr, address: Address) -> None:
    """A run in which the string at ``address`` has no zero up to the end of its object (``goes_on``) is in error; but
    not where unknown values are read, after which it goes on in any way."""
    call = steps.call
    machine = machine_of(call).machine
    if not machine.facts.uncertain.offsets:
        why = machine.world.nowhere(f"there is no zero at the end of the string in {machine.objects.sized(address)}")
        steps.do(If(goes_on, Block(call.do(Load(call.register("undefined"), why))), None, call.span))


def byte_to(call: Call, register: Register, byte: Known | Address) -> tuple[Command, ...]:
    """The commands that put a byte of :func:`string_bytes` into ``register``."""
    if isinstance(byte, Known):
        return (Assign(register, Const(byte.value)),)
    return machine_of(call).machine.memory.views.reading(register, byte, CHAR)


def string_bytes(call: Call, index: int, address: Address, most: int | None) -> tuple[list[Known | Address], bool]:
    """The bytes of the string at ``address``, argument ``index``, as far as it may go, ``most`` bytes at most: those
    that are known, and where the others are; and whether other ranks may write any of them."""
    machine = machine_of(call).machine
    machine.objects.object(address.object)
    shared = in_cells(call, address)
    if not isinstance(address.offset, int) and not may_change(call, address):
        return [], False
    if not isinstance(address.offset, int):
        call.fail(
            Wrong.UNKNOWN_LIMIT, f"it is not known where {argument_named(call, index)} points to", "use a known index"
        )
    chain: list[Known | Address] = []
    written = False
    size = machine.objects.room(address)
    for at in range(size if most is None else min(size, most)):
        place = call.moved(address, at)
        value = call.load(place, CHAR)
        needs_number(call, value)
        if isinstance(value, Known):
            chain.append(value)
            if not value.value:
                break
            continue
        if not shared and len(chain) > MOST_BYTES:
            break
        assert isinstance(place.offset, int)
        written = (
            written
            or machine.position.whose(place) is not None
            or machine.facts.is_shared(place.object, place.offset, 1)
        )
        chain.append(place)
        if written and len(chain) > MOST_BYTES:
            call.fail(
                Wrong.SIZE_LIMIT,
                f"{argument_named(call, index)} is a string in more than {MOST_BYTES:,} bytes that other ranks access",
                "verify a smaller case, with a smaller buffer",
            )
    return chain, written


def refuse_cells(call: Call, index: int, address: Address, what: str) -> None:
    """Refuse a call whose accesses to memory of other ranks cannot be modelled exactly."""
    if in_cells(call, address):
        call.fail(
            Wrong.CALL_LIMIT,
            f"{argument_named(call, index)} points to memory that other ranks access, {what}",
            "copy, and use the rank's own memory",
        )
