"""Lowers recorded one-sided operations to commands, each with the sizes of its accesses in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.expressions import Const, IntType, Register
from pgasrob.runtime.record.records import Call, Operation

VALUE = 4
"""The flag of a call whose data is an argument, and not in memory."""
_REGISTER = Register("seen", 0)
UPDATES = dict(enumerate(("fetch", "set", "add", "and", "or", "xor", "compare_swap", "min", "max", "mul")))
"""The operations on cells by their numbers in a trace."""


class Ends(NamedTuple):
    """Both ends of an operation: the address at its target, and a function that maps addresses of its own rank."""

    target: Callable[[], int]
    local: Callable[[int], int]


def transfer(
    call: Call, named: dict[str, int], ends: Ends, queue: Const, nonblocking: bool
) -> Iterator[tuple[Command, *tuple[int, ...]]]:
    """The commands of a put or a get, one for each piece that is contiguous at both ends."""
    target = Const(named["rank"])
    for far, near, size in _pieces(named, bool(call.flags & VALUE)):
        remote = Const(ends.target() + far)
        if call.flags & VALUE:
            yield commands.Update("set", Const(named["value"]), target, remote, queue, atomic=""), size
            continue
        local = Const(ends.local(named["local"] + near))
        kind = commands.Read if call.operation is Operation.GET else commands.Write if nonblocking else commands.Put
        yield kind(local, target, remote, queue), size, size


def atomic(
    call: Call, named: dict[str, int], ends: Ends, queue: Const | None, located: bool
) -> Iterator[tuple[Command, *tuple[int, ...]]]:
    """The commands of an atomic, one for each element; without a ``queue`` the rank waits for the result of each."""
    update, size = UPDATES[named["update"]], named["element"]
    type, width = call.type or "int", IntType(64 if size == 8 else 32, True)
    target = Const(named["rank"])
    operand, expected = Const(named["operand"]), Const(named["expected"])
    for number in range(named["elements"]):
        further = number * size
        remote = Const(ends.target() + further)
        if queue is None:
            yield _fetching(update, target, remote, operand, expected, width, type), size
            continue
        to = Const(ends.local(named["result"] + further)) if named["result"] else None
        if named["local"]:
            local = None if update == "fetch" else Const(ends.local(named["local"] + further))
            at = Const(ends.local(named["expected_at"])) if named["expected_at"] else None
            from_memory = commands.UpdateFrom(update, local, target, remote, queue, to, at, located, width, atomic=type)
            count = 1 + (local is not None) + (at is not None) + (to is not None)
            yield from_memory, *(size,) * count
        else:
            compared = expected if update == "compare_swap" else None
            by_value = commands.Update(
                update, operand, target, remote, queue, to, compared, located, width, atomic=type
            )
            yield by_value, *(size,) * (1 + (to is not None))


def _fetching(
    update: str, target: Const, remote: Const, operand: Const, expected: Const, width: IntType, type: str
) -> Command:
    match update:
        case "fetch":
            return commands.Fetch(_REGISTER, target, remote, atomic=type)
        case "compare_swap":
            return commands.CompareSwap(_REGISTER, target, remote, expected, operand, atomic=type)
        case "set":
            return commands.Swap(_REGISTER, target, remote, operand, atomic=type)
        case _:
            return commands.FetchUpdate(update, _REGISTER, target, remote, operand, width, atomic=type)


def _pieces(named: dict[str, int], value: bool) -> Iterator[tuple[int, int, int]]:
    """The pieces of a transfer that are contiguous at both ends: the offset there, the offset here, the size."""
    far, near = named["stride"], named["local_stride"]
    if value:
        yield from ((number * far, 0, named["block"]) for number in range(named["blocks"]))
        return
    there, here, left_there, left_here = 0, 0, named["block"], named["local_block"]
    if not (left_there and left_here):
        return
    while there < named["blocks"] and here < named["local_blocks"]:
        size = min(left_there, left_here)
        yield there * far + named["block"] - left_there, here * near + named["local_block"] - left_here, size
        left_there, left_here = left_there - size, left_here - size
        if not left_there:
            there, left_there = there + 1, named["block"]
        if not left_here:
            here, left_here = here + 1, named["local_block"]
