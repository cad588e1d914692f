"""Addresses as integers (MPI-4, section 5.1.5): each object has a range of numbers of its own, the same on all ranks.

So differences and sums within an object mean what they should, and an address that has gone to another rank, in memory
or in a message, is found again there: as a displacement in a dynamic window.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Given, Steps
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.datatypes import Datatype
from pgasrob.frontends.apis.mpi.handles import pointer
from pgasrob.frontends.apis.mpi.header import FUNCTIONS, does
from pgasrob.frontends.c.types import LONG, CType
from pgasrob.frontends.c.values import NULL, Address, Known, ObjectId
from pgasrob.program.expressions import Binary, IntType

KNOWN = "mpi.addresses"
"""Key in the state of the objects of which this rank has taken an address."""
RANGE = 1 << 24
"""How many numbers an object has; MPI_BOTTOM, which is 0, lies in none of these ranges."""


def number_of(object: ObjectId) -> int:
    """The number of the first byte of an object."""
    return (1 + crc32(f"{object.kind} {object.number}".encode())) * RANGE


def find(number: int, objects: Iterable[ObjectId]) -> Address | None:
    """The place in one of ``objects`` that has this number."""
    return next((Address(each, number % RANGE) for each in objects if number - number % RANGE == number_of(each)), None)


def _objects(steps: Steps) -> frozenset[ObjectId]:
    objects = steps.recall(KNOWN, frozenset())
    assert isinstance(objects, frozenset)
    return objects


@does("Get_address(const void *location, MPI_Aint *address); Address(void *location, MPI_Aint *address)")
def get_address(call: Call, steps: Steps) -> None:
    place, number = call.pointer(0), 0
    if place is not None:
        if not isinstance(place.offset, int) or place.owner is not None:
            call.fail(
                Wrong.UNKNOWN_LIMIT,
                f"{call.name} of an element that is not known here",
                "use elements that each rank knows",
            )
        number = number_of(place.object) + place.offset
        steps.note(KNOWN, _objects(steps) | {place.object})
    steps.store(pointer(call, 1), number, LONG)


@FUNCTIONS.does("""
    MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement);
    MPI_Aint MPI_Aint_diff(MPI_Aint first, MPI_Aint second)
""")
def add(call: Call, steps: Steps) -> Given:
    symbol, (left, right) = "+" if call.name.endswith("add") else "-", call.arguments
    if isinstance(left, Known) and isinstance(right, Known):
        return left.value + right.value if symbol == "+" else left.value - right.value
    return Binary(symbol, call.expression(0), call.expression(1), IntType(64, True))


BYTES = frozenset(("BYTE", "CHAR", "SIGNED_CHAR", "UNSIGNED_CHAR"))
"""The basic datatypes as which structs are sent."""


def wholes(call: Call, index: int, count: int, type: Datatype) -> list[tuple[Address, CType]]:
    """As `elements`; of bytes that lie one behind the other those of a scalar of the program are one element, if all
    ranks that make this call have the same scalars there."""
    found = elements(call, index, count, type)
    start, length = found[0][0] if found else None, len(found)
    if start is None or type.single not in BYTES or found[-1][0] != call.moved(start, length - 1):
        return found
    own, key = call.scalars_in(start, length), f"mpi.scalars.{call.span.line}.{call.span.column}.{length}"
    call.publish(f"{key}.{start}", own)  # what is accessed may be known in the next pass only
    before = call.own_fact(key)
    call.publish(key, (before if isinstance(before, frozenset) else frozenset()) | {start})
    regions = {each for fact in call.all_facts(key) if isinstance(fact, frozenset) for each in fact}
    if any(call.scalars_in(each, length) != own for each in regions):
        return found
    return [(call.moved(start, place), kind) for place, kind in own]


def elements(call: Call, index: int, count: int, type: Datatype, skip: int = 0) -> list[tuple[Address, CType]]:
    """Where the basic elements of the items of a buffer lie, from item ``skip`` on. From MPI_BOTTOM on displacements
    are addresses."""
    if count == 0:
        return []
    first = skip * type.extent
    if call.arguments[index] != NULL:
        base = pointer(call, index)
        return [(call.moved(base, first + place), kind) for place, kind in type.elements(count)]
    objects, found = _objects(Steps(call)), []
    for place, kind in type.elements(count):
        address = find(first + place, objects)
        if address is None:
            call.fail(
                Wrong.UNKNOWN_LIMIT if first + place else Wrong.POINTER,
                f"{call.texts[index]} is MPI_BOTTOM, and displacement {first + place} no address that is known here",
                "use addresses of MPI_Get_address as displacements, or pass the address of a buffer",
            )
        found.append((address, kind))
    return found
