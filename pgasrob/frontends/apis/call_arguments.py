"""Checked arguments of calls: pointers that must not be null, arrays that must be known, and the like."""

from __future__ import annotations

import re

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.c.symbolic import Extent
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import Address, Handle, Known, Undefined
from pgasrob.program.expressions import MOST_NODES, Expr, Unary

MOST = 4096
"""The most pieces, handles or elements that one call may name."""
MEMBER = re.compile(r"[A-Za-z_]\w*((->|\.)\w+)*")
CAST = re.compile(r"\([\w\s]+[*\s\w]*\)(?=\s*[&(\w])")


def no_handle(value: object) -> Wrong:
    """The code for ``value`` where a handle is needed, and it is none: by whether its value is known."""
    if isinstance(value, Undefined):
        return Wrong.UNSET
    return Wrong.ARGUMENT if isinstance(value, Known | Handle | Address) else Wrong.UNKNOWN_LIMIT


def limited(call: Call, count: int, what: str) -> int:
    """``count``, which may not be larger than `MOST`."""
    if count > MOST:
        call.fail(
            Wrong.SIZE_LIMIT,
            f"{count:,} {what}",
            f"at most {MOST:,} are supported, and few are enough to show a mistake",
        )
    return count


def target(call: Call, index: int, *, of_others: bool = False) -> Address:
    """The pointer in argument ``index``, which must not be null. ``of_others``: it may point to another rank's
    memory."""
    address = call.pointer(index, of_others=of_others)
    if address is None:
        call.fail(Wrong.POINTER, f"{call.texts[index]} is a null pointer", "pass the address of an object")
    return address


def local(call: Call, index: int, address: Address) -> Address:
    """``address``, of argument ``index``, which has to be in this rank's memory."""
    if isinstance(address.owner, Expr):
        call.number_needed(f"in whose memory {call.texts[index]} points")
    if address.owner is not None and address.owner != call.rank:
        call.fail(
            Wrong.ELSEWHERE,
            f"{call.texts[index]} is an address of rank {address.owner}",
            "pass the address of a buffer here",
        )
    return address


def reached(call: Call, index: int) -> Address:
    """The pointer in argument ``index`` into memory that the rank reaches by loads and stores."""
    address = target(call, index, of_others=True)
    if address.owner is not None and address.owner != call.rank and address.owner not in call.neighbours():
        call.fail(
            Wrong.ELSEWHERE,
            f"{call.texts[index]} is an address of rank {address.owner}",
            "use a put or get, or, where the ranks share memory, say so: `--shared-memory all`",
        )
    return address


def elements(call: Call, count: int, size: int) -> int | Extent:
    """The bytes of an array, by the indexes of the arguments for its number of elements and for their size."""
    one, other = call.extent(count), call.extent(size)
    match one, other:
        case int(), int():
            return one * other
        case Extent(), int():
            return Extent(one.each * other, one.more * other)
        case int(), Extent():
            return Extent(other.each * one, other.more * one)
    return call.known(count)


def is_owner(owner: Expr, rank: Expr) -> bool:
    """Whether the expressions ``rank`` and ``owner`` (of an address) are the same, but for casts of the rank to types
    that hold all ranks."""
    while rank != owner:
        match rank:
            case Unary("cast", operand, type) if type.wrap(MOST_NODES) == MOST_NODES:
                rank = operand
            case _:
                return False
    return True


def integers(call: Call, index: int, count: int, type: CType) -> list[int]:
    """The ``count`` integers that argument ``index`` points to, all known."""
    if limited(call, count, "integers") <= 0:
        return []
    address, size = target(call, index), call.size_of(type)
    values = []
    for place in range(count):
        value = call.load(call.moved(address, place * size), type)
        if not isinstance(value, Known):
            call.fail(
                Wrong.UNKNOWN_LIMIT,
                f"{call.texts[index]}[{place}] is not known here",
                "give the array constants on each rank",
            )
        values.append(value.value)
    return values


def member_in(call: Call, index: int) -> str | None:
    """The variable or member whose address argument ``index`` is, under any casts: ``p->base`` in `(void **) &p->base`.
    None for any other argument."""
    text = call.texts[index] if index < len(call.texts) else ""
    name = "".join(CAST.sub("", text).strip("&() ").split())
    return name if MEMBER.fullmatch(name) else None
