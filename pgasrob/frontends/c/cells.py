"""The memory of the calculus: which cells the objects of a program lie in, and what these are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from pgasrob.frontends.c.contents import from_bytes
from pgasrob.frontends.c.facts import Facts, ObjectFacts, naming, shortest
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.parts import are_elements, run_name, scalar_at
from pgasrob.frontends.c.pieces import NUMBERS, number_of
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.types import UCHAR, Array, CType, Floating, Integer
from pgasrob.frontends.c.values import Known, ObjectId, Undefined
from pgasrob.program.declaration_rules import MAX_CELLS
from pgasrob.program.declarations import Growing, MemoryObject
from pgasrob.program.expressions import Binary, Conditional, Const, ConstByRank, Expr, Symbol, Unary

NOT_YET = -1 << 32
"""The addresses of what is not laid out yet are below: the machine will run again."""
Scalars = list[tuple[ObjectId, int | None]]
"""Scalars in cells: objects, with the offset, or None for any scalar of the object."""


class Cells:
    """The memory of the calculus that the facts ask for, as it is for one run of all ranks."""

    def __init__(self, facts: Facts) -> None:
        self.base: dict[ObjectId, int] = {}
        self.cells: dict[tuple[ObjectId, int], int] = {}
        self.granule: dict[ObjectId, int] = {}
        self.memory: list[MemoryObject] = []
        self.growing: list[Growing] = []
        self.at: dict[int, tuple[ObjectId, int]] = {}  # address -> object, and the offset of the scalar there
        self.symbols: dict[tuple[ObjectId, int, int], Symbol] = {}
        """By object, offset and size: the cells as addresses of commands, once they have been named."""
        self._names: Counter[str] = Counter()
        self._next = 0
        self._new: dict[int, tuple[ObjectId, int | None]] = {}
        self._facts = facts
        self._first = Counter(self._calls(id, each)[0][0] for id, each in facts.objects.items() if each.in_cells)
        for id, object in facts.objects.items():
            if object.in_cells:
                self._place(id, object)
        self._known = self._next

    def is_new(self, address: Expr) -> bool:
        """Whether ``address`` is that of a cell that was named first in this run."""
        return isinstance(address, Symbol) and not NOT_YET < address.value < self._known

    def add(self, id: ObjectId) -> int:
        """The address of a cell of an API that is named first in this run."""
        self._place(id, self._facts.objects[id])
        return self.base[id]

    def named_by(self, address: Expr) -> Scalars:
        """The scalars that ``address`` may be that of: objects, with the offset where it is known."""
        if isinstance(address, Symbol | Const):
            cell = self._cell(address.value)
            return [] if cell is None else [cell]
        places = [*places_in(address)]
        if not places:
            return [(id, None) for id, object in self._facts.objects.items() if object.in_cells]
        return [(each[0], None) for each in map(self._cell, places) if each is not None]

    def _cell(self, place: int) -> tuple[ObjectId, int | None] | None:
        return self._new.get(place) if place <= NOT_YET else self.at.get(place)

    def named_by_any(self, address: Expr) -> Scalars:
        """The same of ranks that are executed at once: the scalars that ``address`` may be that of on any of them."""
        if isinstance(address, ConstByRank):
            return [found for each in address.each for found in self.named_by(each)]
        return self.named_by(address)

    def new(self, id: ObjectId, offset: int | None) -> int:
        """An address for what is not laid out yet, the scalar at ``offset`` in an object (None: any one of it)."""
        address = NOT_YET - len(self._new)
        self._new[address] = id, offset
        return address

    def _place(self, id: ObjectId, object: ObjectFacts) -> None:
        whole, type = self._name(id, object)
        if object.grows is not None:
            self._place_growing(id, whole, object)
            return
        if object.dense and object.granule:
            granule, count = object.granule, max(1, -(-object.size // object.granule))
            self.base[id], self.granule[id] = self._next, granule
            self._check(object, count)
            blank = all(not fill[2] for fill in object.initial.fills) and object.initial.is_free(0, object.size)
            initial = (
                (0,) * count
                if blank
                else tuple(
                    _initial(object, place, object.shared.get(place, granule))
                    for place in range(0, count * granule, granule)
                )
            )
            self.at.update((self._next + place, (id, place * granule)) for place in range(count))
            name_of = partial(naming(id, object), self._unique(whole), type)
            cells = () if is_flat(type, granule) else tuple(name_of(at * granule, granule) for at in range(count))
            self._declare(id, whole, count, initial, cells)
            return
        pieces = sorted({**object.filler, **object.shared}.items())
        self._check(object, len(pieces))
        self.base[id] = self._next
        self.at.update((self._next + place, (id, offset)) for place, (offset, _) in enumerate(pieces))
        if _is_plain_array(type, object.size, pieces):
            self.cells.update(((id, offset), self._next + place) for place, (offset, _) in enumerate(pieces))
            self._declare(id, whole, len(pieces), tuple(_initial(object, *piece) for piece in pieces))
            return
        for offset, size in pieces:
            self.cells[id, offset] = self._next
            name = naming(id, object)(whole, type, offset, size)
            if object.pieces is not None and (size not in NUMBERS or are_elements(type, size)):
                name = run_name(whole, type, offset, size)
            self._declare(id, name, None, (_initial(object, offset, size),))

    def _place_growing(self, id: ObjectId, name: str, object: ObjectFacts) -> None:
        assert object.grows is not None and not any(bytes % object.granule for bytes in object.grows)
        each, more = (bytes // object.granule for bytes in object.grows)
        made = Growing(self._unique(name), len(self.growing) + 1, each, more, object.span, id.of_api)
        self._names[name] += 1
        self.growing.append(made)
        self.base[id], self.granule[id] = made.address, object.granule
        self.at[made.address] = id, 0

    def _name(self, id: ObjectId, object: ObjectFacts) -> tuple[str, CType | None]:
        """What the program calls it, without the function that it is local to as far as that is clear, and its type."""
        calls = self._calls(id, object)
        for place, (name, type) in enumerate(calls):
            if self._first[name] == (place == 0):
                return name, type
        return object.name, calls[-1][1]

    def _calls(self, id: ObjectId, object: ObjectFacts) -> list[tuple[str, CType | None]]:
        """What the program calls it, the best first, each with its type."""
        pointers = [
            (name, object.type or Array(to, None))
            for name, to in object.pointers.items()
            if name not in self._facts.elsewhere
        ]
        seen_as = [] if object.seen_as is None else [object.seen_as]
        return [*pointers, *seen_as, (shortest(id, object), object.type)]

    def _check(self, object: ObjectFacts, count: int) -> None:
        if self._next + count > MAX_CELLS:
            raise Problem(
                "PG141",
                f"{self._next + count} cells of shared memory per node with `{object.name}`",
                f"a node has at most {MAX_CELLS} cells; verify a smaller case",
                object.span,
            )

    def _declare(
        self, id: ObjectId, name: str, size: int | None, initial: tuple[int, ...], elements: tuple[str, ...] = ()
    ) -> None:
        span = self._facts.objects[id].span
        memory = MemoryObject(self._unique(name), self._next, size, initial, span, id.of_api, elements=elements)
        self._names[name] += 1
        self.memory.append(memory)
        self._next += memory.cells

    def _unique(self, name: str) -> str:
        return f"{name}#{self._names[name] + 1}" if self._names[name] else name


def places_in(expr: Expr) -> Iterator[int]:
    """The addresses of cells that an address is computed from, one of every object that it may lie in."""
    match expr:
        case Symbol(_, value):
            yield value
        case Unary(_, operand):
            yield from places_in(operand)
        case Binary(_, left, right):
            yield from places_in(left)
            yield from places_in(right)
        case Conditional(_, then, otherwise):
            yield from places_in(then)
            yield from places_in(otherwise)


def is_flat(type: CType | None, size: int) -> bool:
    """Whether ``type`` is an array of scalars of ``size`` bytes, or may be one."""
    return type is None or (isinstance(type, Array) and scalar_at(type.of, 0) == type.of and size_of(type.of) == size)


def _is_plain_array(type: CType | None, bytes: int, pieces: Iterable[tuple[int, int]]) -> bool:
    """Whether the cells are all elements of an array of scalars, from the first on."""
    listed = list(pieces)
    size = listed[0][1]
    fits = all(offset == place * size and each == size for place, (offset, each) in enumerate(listed))
    return is_flat(type, size) and fits and len(listed) > 1 and len(listed) * size == bytes


def _initial(object: ObjectFacts, offset: int, size: int) -> int:
    """What the cell of ``size`` bytes at ``offset`` holds at the beginning."""
    if object.pieces is not None:
        return number_of(bytes(_byte(object, place) for place in range(offset, offset + size)))
    types = object.accesses.types(offset)
    declared = scalar_at(object.type, offset) if object.type else None
    fitting = [each for each in (*types, declared) if isinstance(each, Integer | Floating) and size_of(each) == size]
    held = object.initial.get(offset)
    if held is not None and held[0] == size:
        value = held[1]
        if isinstance(value, Known):
            return value.value
        if not isinstance(value, Undefined):
            raise Problem(
                "PG143",
                f"`{object.name}` holds a pointer at the beginning, in memory that other ranks access",
                "keep pointers apart from data that is transferred",
                object.span,
            )
        return 0
    if held is None and object.initial.byte_filled(offset) in (0, None) and object.initial.is_free(offset, size):
        return 0
    data = bytes(_byte(object, place) for place in range(offset, offset + size))
    return from_bytes(data, fitting[0]) if fitting else int.from_bytes(data, "little", signed=True)


def _byte(object: ObjectFacts, place: int) -> int:
    value = object.initial.load(place, UCHAR)
    return value.value if isinstance(value, Known) else 0
