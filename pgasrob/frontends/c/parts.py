"""The scalars inside of C objects: which begins where, and what C calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import UCHAR, Array, CType, Pointer, Struct, Void
from pgasrob.frontends.c.values import Known, Value


def with_lengths(type: CType, slots: Sequence[Value]) -> CType:
    """``type`` with the lengths that ``slots`` of a function, whose sizes it names, say."""
    match type:
        case Pointer(to):
            return Pointer(with_lengths(to, slots))
        case Array(of, length, bytes):
            of, size = with_lengths(of, slots), None if bytes is None else slots[bytes]
            each = size_of(of)
            return Array(of, size.value // each if isinstance(size, Known) and each else length)
    return type


def scalar_at(type: CType, offset: int) -> CType | None:
    """The type of the scalar that begins ``offset`` bytes into ``type``, in a union that of the first that does."""
    match type:
        case Array(of, _):
            size = size_of(of)
            return scalar_at(of, offset % size) if size else None
        case Struct(_, fields):
            inside = (each for each in fields if each.offset <= offset < each.offset + max(1, size_of(each.type)))
            found = (scalar_at(each.type, offset - each.offset) for each in inside)
            return next((each for each in found if each is not None), None)
    return None if offset else type


def scalars_of(type: CType, start: int = 0) -> Iterator[tuple[int, CType]]:
    """The scalars of a value of ``type``, with their offsets in bytes; those of a union's largest member."""
    match type:
        case Array(of, length):
            for index in range(length or 0):
                yield from scalars_of(of, start + index * size_of(of))
        case Struct(_, fields):
            for field in [max(fields, key=lambda each: size_of(each.type))] if type.union and fields else fields:
                yield from scalars_of(field.type, start + field.offset)
        case _:
            yield start, type


def scalar_types(type: CType) -> frozenset[CType]:
    """The types of the scalars of a value of ``type``."""
    match type:
        case Array(of, _):
            return scalar_types(of)
        case Struct(_, fields):
            return frozenset().union(*(scalar_types(field.type) for field in fields))
        case _:
            return frozenset((type,))


def pointed_to(type: CType) -> CType | None:
    """The array that a pointer of ``type`` points to; None for one that says nothing of it."""
    if not isinstance(type, Pointer) or isinstance(type.to, Void) or type.to == UCHAR:
        return None
    return Array(type.to, None)


def pointed_name(bytes: int, name: str, type: CType | None, offset: int, size: int) -> str:
    """As :func:`part_name` for memory of so many bytes that the pointer ``name`` points to: where there is one element,
    ``*p`` and ``p->next``."""
    match type:
        case Array(Struct() as of, _) if size_of(of) == bytes:
            return part_name(name, of, offset, size).replace(f"{name}.", f"{name}->", 1)
        case Array(of, _) if size_of(of) == bytes == size:
            return f"*{name}"
        case None if bytes == size:
            return name
    return part_name(name, type, offset, size)


def part_name(name: str, type: CType | None, offset: int, size: int) -> str:
    """What C calls the scalar of ``size`` bytes at ``offset`` of the object ``name``: ``a[3]``, ``s.next``."""
    match type:
        case Array(of, _) if each := size_of(of):
            place, rest = divmod(offset, each)
            return part_name(f"{name}[{place}]", of, rest, size)
        case Struct(_, fields):
            inside = [each for each in fields if each.offset <= offset < each.offset + max(1, size_of(each.type))]
            fitting = (each for each in inside if _has_scalar(each.type, offset - each.offset, size))
            if (field := next(fitting, inside[0] if inside else None)) is not None:
                member = f"{name}.{field.name}" if field.name else name
                return part_name(member, field.type, offset - field.offset, size)
        case None if size and not offset % size:
            return f"{name}[{offset // size}]"
    return f"{name}+{offset}" if offset else name


def are_elements(type: CType | None, size: int) -> bool:
    """Whether ``size`` bytes in an array of scalars of ``type`` are several of these."""
    return isinstance(type, Array) and scalar_at(type.of, 0) == type.of and size > size_of(type.of)


def run_name(name: str, type: CType | None, offset: int, size: int) -> str:
    """What the run of ``size`` bytes at ``offset`` of the object ``name`` is called: ``a[4..9]`` where these are
    elements, else by its bytes."""
    each = size_of(type.of) if isinstance(type, Array) else 1
    if not each or offset % each or size % each:
        return f"{name}+{offset}..{offset + size - 1}"
    return f"{name}[{offset // each}..{(offset + size) // each - 1}]"


def _has_scalar(type: CType, offset: int, size: int) -> bool:
    found = scalar_at(type, offset)
    return found is not None and size_of(found) == size


def is_uneven(scalars: Mapping[int, int], cells: Mapping[int, int]) -> bool:
    """Whether one of ``cells`` gets bytes of several of the ``scalars`` that are copied, or some of one and others that
    are in none; each is given by where it begins and its size."""
    starts = (at for begin, size in cells.items() for at in range(begin, begin + size) if at in scalars)
    return any(at not in cells or scalars[at] != cells[at] for at in starts) or any(
        at in cells for begin, size in scalars.items() for at in range(begin + 1, begin + size)
    )
