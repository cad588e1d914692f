"""Datatypes (MPI-4, chapter 5): basic elements at displacements, and what makes new types of old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import no_handle
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.handles import handle, pointer
from pgasrob.frontends.apis.mpi.header import BASIC, COMBINERS, DATATYPE, NAMED, ORDER_C, does, stores
from pgasrob.frontends.apis.transfers import MOST, bounded, element
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import INT, LONG, CType
from pgasrob.frontends.c.values import NULL, Handle, Known
from pgasrob.stop_points import stop_point


@dataclass(frozen=True, slots=True)
class Datatype:
    """Basic elements: their ``displacements`` in bytes and their ``names``, one for all of them or one for each.

    An item begins ``lower`` bytes from its address on, and the next one ``extent`` bytes after it. ``made``: how many
    integers, addresses and datatypes it was made of, and by which combiner; nothing for what MPI has made. Only
    ``committed`` types may be used in communication.
    """

    names: tuple[str, ...]
    displacements: tuple[int, ...]
    lower: int
    extent: int
    made: tuple[int, ...] = ()
    committed: bool = False

    @property
    def count(self) -> int:
        """The elements of an item."""
        return len(self.displacements)

    @property
    def upper(self) -> int:
        return self.lower + self.extent

    @property
    def types(self) -> list[CType]:
        """The C types of the elements of an item."""
        names = self.names if len(self.names) == self.count else self.names * self.count
        return [BASIC[name] for name in names]

    def elements(self, count: int) -> Iterator[tuple[int, CType]]:
        """The displacements and the C types of the elements of ``count`` items."""
        types = self.types
        for item in range(count):
            stop_point()
            for displacement, type in zip(self.displacements, types, strict=True):
                yield item * self.extent + displacement, type

    def size(self, call: Call) -> int:
        """The bytes of the elements of an item."""
        return sum(map(call.size_of, self.types))

    @property
    def single(self) -> str | None:
        """The only name of the elements; None where there are several."""
        return self.names[0] if len({*self.names}) == 1 else None

    def handle(self) -> Handle:
        data = self.names, self.displacements, self.lower, self.extent, self.made, int(self.committed)
        return Handle("datatype", data)


def _of(value: Handle) -> Datatype:
    names, displacements, lower, extent, made, committed = value.data
    assert isinstance(names, tuple) and isinstance(displacements, tuple) and isinstance(made, tuple)
    assert isinstance(lower, int) and isinstance(extent, int)
    return Datatype(
        tuple(each for each in names if isinstance(each, str)),
        tuple(each for each in displacements if isinstance(each, int)),
        lower,
        extent,
        tuple(each for each in made if isinstance(each, int)),
        bool(committed),
    )


def datatype_of(data: Sequence[object]) -> Datatype:
    """The datatype with the data of its handle."""
    return _of(Handle("datatype", tuple(data)))  # type: ignore[arg-type]


def datatype(call: Call, index: int) -> Datatype:
    """The datatype in argument ``index`` of a call that communicates."""
    type = _given(call, index)
    if not type.committed:
        call.fail(
            Wrong.ARGUMENT,
            f"{call.texts[index]} is used by {call.name} and has not been committed",
            f"call MPI_Type_commit(&{call.texts[index]}) before",
        )
    return type


def _given(call: Call, index: int) -> Datatype:
    """The datatype in argument ``index`` of a call that makes another, or that asks about it."""
    return _of(handle(call, index, "datatype"))


# Queries

stores("Type_size(MPI_Datatype datatype, int *size)", INT, lambda call: _given(call, 0).size(call))
stores("Type_size_x(MPI_Datatype datatype, MPI_Count *size)", LONG, lambda call: _given(call, 0).size(call))
stores("Type_extent(MPI_Datatype datatype, MPI_Aint *extent)", LONG, lambda call: _given(call, 0).extent)
stores("Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)", LONG, lambda call: _given(call, 0).lower)
stores("Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)", LONG, lambda call: _given(call, 0).upper)


@does("Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)")
def type_get_extent(call: Call, steps: Steps) -> None:
    type = _given(call, 0)
    steps.answer(1, type.lower, LONG)
    steps.answer(2, type.extent, LONG)


@does("Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)")
def type_get_true_extent(call: Call, steps: Steps) -> None:
    lower, upper = _reach(call, _given(call, 0))
    steps.answer(1, lower, LONG)
    steps.answer(2, upper - lower, LONG)


def _reach(call: Call, type: Datatype) -> tuple[int, int]:
    """From where to where the elements of an item lie."""
    ends = [place + call.size_of(kind) for place, kind in type.elements(1)]
    return min(type.displacements, default=0), max(ends, default=0)


@does("Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *datatypes, int *combiner)")
def type_get_envelope(call: Call, steps: Steps) -> None:
    """Of what the type was made: a type that MPI has made of nothing (5.1.13)."""
    for index, number in enumerate(_given(call, 0).made or (0, 0, 0, COMBINERS["NAMED"]), start=1):
        steps.answer(index, number, INT)


@does("Type_commit(MPI_Datatype *datatype)")
def type_commit(call: Call, steps: Steps) -> None:
    address = pointer(call, 0)
    value = call.load(address, DATATYPE)
    if not isinstance(value, Handle) or value.kind != "datatype":
        call.fail(
            no_handle(value),
            "MPI_Type_commit of something that is not a datatype here",
            "pass the address of a type that has been made",
        )
    if value.data[-1] != NAMED:
        steps.store(address, replace(_of(value), committed=True).handle(), DATATYPE)


stores("Type_free(MPI_Datatype *datatype)", DATATYPE, NULL)


@does("Type_set_name(MPI_Datatype datatype, const char *name)")
def type_set_name(call: Call, steps: Steps) -> None:
    read_texts(call, 1)


# New types: blocks of an old one, each so many bytes from the beginning


def makes(prototypes: str) -> Callable[[Callable[[Call], Datatype]], Callable[[Call], Datatype]]:
    """A decorator: the function makes the datatype that goes where the last argument points to."""

    def add(make: Callable[[Call], Datatype]) -> Callable[[Call], Datatype]:
        stores(prototypes, DATATYPE, lambda call: replace(make(call), made=_envelope(call)).handle())
        return make

    return add


ENVELOPES: dict[str, tuple[int, int, int, int, int, int]] = {
    "DUP": (0, 0, 0, 0, 1, 0), "CONTIGUOUS": (1, 0, 0, 0, 1, 0), "VECTOR": (3, 0, 0, 0, 1, 0),
    "HVECTOR": (2, 0, 1, 0, 1, 0), "INDEXED": (1, 2, 0, 0, 1, 0), "HINDEXED": (1, 1, 0, 1, 1, 0),
    "INDEXED_BLOCK": (2, 1, 0, 0, 1, 0), "HINDEXED_BLOCK": (2, 0, 0, 1, 1, 0), "STRUCT": (1, 1, 0, 1, 0, 1),
    "SUBARRAY": (2, 3, 0, 0, 1, 0), "RESIZED": (0, 0, 2, 0, 1, 0),
}  # fmt: skip
"""The integers, addresses and datatypes that calls make a type of, each a number and how many more for each entry of
their arrays (5.1.13)."""


def _envelope(call: Call) -> tuple[int, ...]:
    combiner = call.name.removeprefix("MPI_Type_").removeprefix("create_").upper()
    counts = ENVELOPES[combiner]
    entries = call.known(0) if any(counts[1::2]) else 0
    return *(each + more * entries for each, more in zip(counts[::2], counts[1::2], strict=True)), COMBINERS[combiner]


def _made(call: Call, blocks: Iterable[tuple[int, int, Datatype]]) -> Datatype:
    """The type with blocks of others, each with its displacement and number of items."""
    names: list[str] = []
    displacements: list[int] = []
    bounds: list[int] = []
    for first, count, old in blocks:
        for item in range(count):
            stop_point()
            begin = first + item * old.extent
            displacements += [begin + place for place in old.displacements]
            names += old.names if len(old.names) == old.count else old.names * old.count
            bounds += [begin + old.lower, begin + old.lower + old.extent]
            _few(call, len(displacements))
    lower, upper = min(bounds, default=0), max(bounds, default=0)
    together = tuple(names[:1]) if len({*names}) == 1 else tuple(names)
    return Datatype(together, tuple(displacements), lower, upper - lower)


def _few(call: Call, elements: int) -> None:
    if elements > MOST:
        call.fail(
            Wrong.SIZE_LIMIT, f"{call.name} of more than {MOST} elements", "few elements are enough to show a mistake"
        )


@makes("Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)")
def type_contiguous(call: Call) -> Datatype:
    return _made(call, [(0, bounded(call, 0), _given(call, 1))])


@makes("Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)")
def type_dup(call: Call) -> Datatype:
    return _given(call, 0)


@makes("""
    Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
    Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
    Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
""")
def type_vector(call: Call) -> Datatype:
    count, block, old = bounded(call, 0), bounded(call, 1), _given(call, 3)
    stride = call.known(2) * _unit(call, old)
    return _made(call, [(place * stride, block, old) for place in range(count)])


def _unit(call: Call, old: Datatype) -> int:
    """The unit of strides and displacements, in bytes: an item, or one byte where the name of the call says so."""
    return 1 if call.name.rpartition("_")[2].startswith("h") else old.extent


@makes("""
    Type_indexed(int count, const int *blocklengths, const int *displacements, MPI_Datatype oldtype,
        MPI_Datatype *newtype);
    Type_create_hindexed(int count, const int *blocklengths, const MPI_Aint *displacements, MPI_Datatype oldtype,
        MPI_Datatype *newtype);
    Type_hindexed(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype oldtype, MPI_Datatype *newtype)
""")
def type_indexed(call: Call) -> Datatype:
    old = _given(call, 3)
    unit, type = _unit(call, old), INT if call.name == "MPI_Type_indexed" else LONG
    count = bounded(call, 0)
    return _made(call, [(entry(call, 2, n, type) * unit, _length(call, 1, n), old) for n in range(count)])


@makes("""
    Type_create_indexed_block(int count, int blocklength, const int *displacements, MPI_Datatype oldtype,
        MPI_Datatype *newtype);
    Type_create_hindexed_block(int count, int blocklength, const MPI_Aint *displacements, MPI_Datatype oldtype,
        MPI_Datatype *newtype)
""")
def type_indexed_block(call: Call) -> Datatype:
    block, old = bounded(call, 1), _given(call, 3)
    in_bytes = "hindexed" in call.name
    unit, type = (1, LONG) if in_bytes else (old.extent, INT)
    return _made(call, [(entry(call, 2, n, type) * unit, block, old) for n in range(bounded(call, 0))])


@makes("""
    Type_create_struct(int count, const int *blocklengths, const MPI_Aint *displacements, const MPI_Datatype *types,
        MPI_Datatype *newtype);
    Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types, MPI_Datatype *newtype)
""")
def type_struct(call: Call) -> Datatype:
    """The extent is rounded up as a compiler rounds the size of such a struct (5.1.6)."""
    blocks = []
    for n in range(bounded(call, 0)):
        value = call.load(element(call, pointer(call, 3), n, DATATYPE), DATATYPE)
        if not isinstance(value, Handle) or value.kind != "datatype":
            call.fail(
                no_handle(value),
                f"{call.texts[3]}[{n}] is not a known datatype here",
                "make it before it is used",
            )
        blocks.append((entry(call, 2, n, LONG), _length(call, 1, n), _of(value)))
    made = _made(call, blocks)
    align = max(map(call.size_of, made.types), default=1)
    return replace(made, extent=made.extent + -made.extent % align)


@makes("""
    Type_create_subarray(int ndims, const int *sizes, const int *subsizes, const int *starts, int order,
        MPI_Datatype oldtype, MPI_Datatype *newtype)
""")
def type_subarray(call: Call) -> Datatype:
    old, count = _given(call, 5), bounded(call, 0)
    shape = [tuple(entry(call, array, n, INT) for array in (1, 2, 3)) for n in range(count)]
    for n, (size, part, start) in enumerate(shape):
        if not (0 < part <= size and 0 <= start <= size - part):
            call.fail(
                Wrong.ARGUMENT,
                f"{call.name} of {part} elements from {start} on in dimension {n} of {size}",
                "the part has to lie in the whole",
            )
    _few(call, prod(part for _, part, _ in shape))
    if call.known(4) != ORDER_C:
        shape.reverse()  # the first dimension is that in which neighbours lie together
    strides = [1]
    for size, _, _ in reversed(shape):
        strides.insert(0, strides[0] * size)
    ranges = (range(start, start + part) for _, part, start in shape)
    places = [sum(map(int.__mul__, place, strides[1:])) for place in product(*ranges)]
    made = _made(call, [(place * old.extent, 1, old) for place in places])
    return replace(made, lower=0, extent=strides[0] * old.extent)


@makes("Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)")
def type_resized(call: Call) -> Datatype:
    return replace(_given(call, 0), lower=call.known(1), extent=call.known(2), committed=False)


def _length(call: Call, array: int, index: int) -> int:
    length = entry(call, array, index, INT)
    if not 0 <= length <= MOST:
        call.fail(
            Wrong.SIZE_LIMIT, f"{call.name} with a block of {length} elements", f"blocks have 0 to {MOST} elements"
        )
    return length


def entry(call: Call, array: int, index: int, type: CType) -> int:
    """Element ``index`` of the array of integers that an argument points to."""
    value = call.load(element(call, pointer(call, array), index, type), type)
    if not isinstance(value, Known):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"{call.texts[array]}[{index}] is not known here",
            "compute it from ranks and constants",
        )
    return value.value
