"""C values while a rank is executed: known ones, and expressions over registers.

Whatever does not depend on what other ranks do is known while the program is lowered: ranks, counts, loop counters,
pointers. What is loaded from shared memory is not: it is an expression over registers.
"""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.expressions import Expr, registers_of
from pgasrob.program.value_classes import record


class ObjectId(NamedTuple):
    """An object in memory: ``kind`` says where it comes from, ``number`` is its number among these. It is a tuple
    because it is the key of most dictionaries here, and tuples are hashed faster than objects of other classes.

    Kinds: ``global`` (file scope and static; the number is by declaration), ``local`` (by declaration and depth of
    calls), ``heap`` (by allocation, each rank by itself), ``symmetric`` (by collective allocation, the same on every
    rank), ``string`` (literals), and what APIs add for themselves (``lock``, ``barrier`` ...). Ranks that name the same
    id mean the same cells, each of its own node.
    """

    kind: str
    number: int | tuple[int | str, ...]

    @property
    def of_api(self) -> bool:
        """Whether an API has it for itself, so that no program can name it."""
        return self.kind.startswith("internal ")

    @property
    def allocated(self) -> bool:
        """Whether it is no variable, but what pointers point to."""
        return self.kind in ("heap", "symmetric", "segment")

    @property
    def nameless(self) -> bool:
        """Whether the program knows it by a number, if at all, or finds it in a table of the memories of all ranks."""
        return self.kind == "segment"


@record
class Known:
    """An integer within the range of its type; a double or float as the bits of a double (``float_bits``)."""

    value: int


@record
class Unknown:
    """An integer (or a double's bits) that registers decide: within the range of its type."""

    expr: Expr


@record
class Address:
    """A pointer: ``offset`` in bytes from the beginning of ``object``; an expression over registers, in cells from the
    beginning of the object, where it is not known. ``owner``: the rank whose memory it points into (ARMCI and MPI give
    programs such pointers), None for one's own; where the program is made for every number of nodes an expression,
    which may be one's own rank all the same. ``mapped``: where ranks share memory this is an address here, and not
    only what the owner knows the place by (GASNet gives programs such numbers). ``steps``: where the offset is not
    known, the least that it may be, in bytes, and how far apart those are that it may be."""

    object: ObjectId
    offset: int | Expr
    owner: int | Expr | None = None
    mapped: bool = True
    steps: tuple[int, int] = (0, 0)

    @property
    def place(self) -> tuple[ObjectId, int | Expr | None, bool]:
        """Addresses in one place are so and so far apart."""
        return self.object, self.owner, self.mapped


@record
class Entry:
    """A pointer into the entry of ``rank``, ``byte`` bytes behind its beginning, in a table that has one for each rank,
    however many there are (`rank_tables.py`)."""

    object: ObjectId
    rank: Expr
    byte: int = 0


@record
class Code:
    """A pointer to a function."""

    name: str


@record
class Handle:
    """A value of an opaque type: ``kind`` names the API's notion (``window``, ``request``, ``context``), ``data`` what
    the API keeps with it."""

    kind: str
    data: tuple[int | str | ObjectId | tuple[int | str | None, ...] | None, ...] = ()


@record
class Undefined:
    """What a variable holds before it is set."""


NULL = Known(0)
"""The null pointer too: pointers are compared with it and never follow it."""
UNDEFINED = Undefined()

Value = Known | Unknown | Address | Entry | Code | Handle | Undefined


def of_registers(value: Value) -> frozenset[int]:
    """The registers that decide in whose memory, or in whose entry, ``value`` points."""
    rank = value.rank if isinstance(value, Entry) else value.owner if isinstance(value, Address) else None
    return registers_of(rank) if isinstance(rank, Expr) else frozenset()


@record
class Table:
    """An entry for each rank, of ``each`` bytes: ``fields`` are values of 8 bytes by their offsets. An address is that
    of others; in its own entry a rank has the one that it accesses the memory by."""

    each: int
    fields: tuple[tuple[int, Address | Known], ...]


LOWEST = 4096
"""Addresses below come from members and elements of what a null pointer points to."""


def no_pointer(value: Value, what: str) -> str:
    """Why ``value``, which is called ``what``, cannot be followed as a pointer."""
    match value:
        case Known(0):
            return f"{what} is a null pointer"
        case Known(number) if 0 < number < LOWEST:
            return f"{what} is {number} bytes behind the null pointer, and points to nothing"
        case Known(number):
            return f"{what} is the number {number}, and points to nothing"
        case Undefined():
            return f"{what} has not been set"
        case _:
            return f"{what} is no pointer"
