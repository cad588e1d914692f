"""C values while a rank is executed: known ones, and expressions over registers.

Whatever does not depend on what other ranks do is known while the program is lowered: ranks, counts, loop counters,
pointers. What is loaded from shared memory is not: it is an expression over registers.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.program.expressions import Apart, Const, Expr, alike, registers_of
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


class KnownByRank(Known):
    """The same where it is another one on each of the ranks that one machine executes: ``numbers``, in their order.
    Whoever needs the number itself sends the ranks apart (:class:`~pgasrob.program.expressions.Apart`)."""

    __slots__ = ("numbers",)
    numbers: tuple[int, ...]

    def __init__(self, numbers: tuple[int, ...]) -> None:
        object.__setattr__(self, "numbers", numbers)

    @property
    def value(self) -> int:
        raise Apart(self.numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return False
        return alike([one == another for one, another in zip(self.numbers, numbers(other), strict=False)])

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __repr__(self) -> str:
        return f"KnownByRank({self.numbers})"


def numbers(value: Known) -> Iterable[int]:
    """The number on each rank, as many as are asked for."""
    return value.numbers if isinstance(value, KnownByRank) else repeat(value.value)


def known_of(numbers: Sequence[int]) -> Known:
    """The integer that is so and so many on each rank."""
    return Known(numbers[0]) if len(set(numbers)) == 1 else KnownByRank(tuple(numbers))


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


class AddressByRank(Address):
    """A pointer that is another one on each of the ranks that one machine executes: ``each``, in their order. What is
    not alike of them sends the ranks apart."""

    __slots__ = ("each",)
    each: tuple[Address, ...]

    def __init__(self, each: tuple[Address, ...]) -> None:
        object.__setattr__(self, "each", each)

    @property
    def object(self) -> ObjectId:
        return alike([one.object for one in self.each])

    @property
    def offset(self) -> int | Expr:
        return alike([one.offset for one in self.each])

    @property
    def owner(self) -> int | Expr | None:
        return alike([one.owner for one in self.each])

    @property
    def mapped(self) -> bool:
        return alike([one.mapped for one in self.each])

    @property
    def steps(self) -> tuple[int, int]:
        return alike([one.steps for one in self.each])

    def __eq__(self, other: builtins.object) -> bool:
        if not isinstance(other, Address):
            return False
        others = other.each if isinstance(other, AddressByRank) else repeat(other)
        return alike([one == another for one, another in zip(self.each, others, strict=False)])

    def __hash__(self) -> int:
        return hash(self.each)

    def __repr__(self) -> str:
        return f"AddressByRank({self.each})"


def has_known_offset(address: Address) -> bool:
    """Whether it is known where in its object ``address`` points."""
    return all(isinstance(each.offset, int | Const) for each in addresses_of(address))


def addresses_of(address: Address) -> tuple[Address, ...]:
    """``address`` as it is on any of the ranks that are executed at once."""
    return address.each if isinstance(address, AddressByRank) else (address,)


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
    if isinstance(value, AddressByRank):
        return frozenset[int]().union(*map(of_registers, value.each))
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


def no_pointer(value: Value, what: str) -> tuple[str, Wrong]:
    """Why ``value``, which is called ``what``, cannot be followed as a pointer, and the code for it."""
    match value:
        case Known(0):
            return f"{what} is a null pointer", Wrong.POINTER
        case Known(number) if 0 < number < LOWEST:
            return f"{what} is {number} bytes behind the null pointer, and points to nothing", Wrong.POINTER
        case Known(number):
            return f"{what} is the number {number}, and points to nothing", Wrong.POINTER
        case Undefined():
            return f"{what} has not been set", Wrong.UNSET
        case _:
            return f"{what} is no pointer", Wrong.POINTER
