"""Which scalars of an object loads and stores have named, and as what; sets of scalars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import ObjectId


@dataclass(slots=True)
class _As:
    """The offsets accessed as ``type``: in ``row``, once loops run over the object, those at multiples of the size have
    a 1 at their number, and all others are in ``offsets``."""

    type: CType
    size: int
    offsets: set[int] = field(default_factory=set)
    row: bytearray = field(default_factory=bytearray)

    def __contains__(self, offset: int) -> bool:
        if offset in self.offsets:
            return True
        if not self.row:
            return False
        place, rest = divmod(offset, self.size)
        return not rest and 0 <= place < len(self.row) and self.row[place] == 1

    def within(self, start: int, end: int) -> Iterator[int]:
        """The offsets from ``start`` to ``end``."""
        if end - start < len(self.offsets):
            yield from (offset for offset in range(start, end) if offset in self.offsets)
        else:
            yield from (offset for offset in self.offsets if start <= offset < end)
        if not self.row:
            return
        place = self.row.find(1, max(0, -(-start // self.size)))
        while 0 <= place * self.size < end:
            yield place * self.size
            place = self.row.find(1, place + 1)


class Accesses:
    """By type, the offsets at which scalars of the type have been accessed."""

    def __init__(self) -> None:
        self._all: list[_As] = []

    def _of(self, type: CType) -> _As:
        for each in self._all:
            if each.type is type:
                return each
        for each in self._all:
            if each.type == type:
                return each
        self._all.append(_As(type, size_of(type)))
        return self._all[-1]

    def note(self, offset: int, type: CType) -> bool:
        """The scalar of ``type`` at ``offset`` is accessed. Whether it has been accessed so far as numbers, but of
        other types."""
        found = self._of(type)
        if offset in found:
            return False
        others = isinstance(type, Integer | Floating) and bool(self.types(offset))
        found.offsets.add(offset)
        return others

    def types(self, *offsets: int) -> frozenset[CType]:
        """The numbers as which the scalars at ``offsets`` have been accessed."""
        found = []
        for each in self._all:
            if isinstance(each.type, Integer | Floating):
                for offset in offsets:
                    if offset in each:
                        found.append(each.type)
                        break
        return frozenset(found)

    @property
    def lengths(self) -> set[int]:
        """The sizes of all scalars accessed."""
        return {each.size for each in self._all if each.offsets or 1 in each.row}

    @property
    def numbers(self) -> set[CType]:
        """The numbers as which scalars have been accessed."""
        used = (each for each in self._all if each.offsets or 1 in each.row)
        return {each.type for each in used if isinstance(each.type, Integer | Floating)}

    def sizes(self, start: int, end: int) -> dict[int, int]:
        """The scalars accessed that begin from ``start`` to ``end``, with the least size at each offset."""
        found: dict[int, int] = {}
        for each in self._all:
            for offset in each.within(start, end):
                found[offset] = min(each.size, found.get(offset, each.size))
        return found

    def row(self, type: CType, length: int) -> bytearray:
        """Of an object of ``length`` bytes, by the number of a scalar of ``type``: 1 where it has been accessed. May be
        changed."""
        found = self._of(type)
        if len(found.row) < length // found.size:
            found.row.extend(bytes(length // found.size - len(found.row)))
        return found.row


class CellSet:
    """Scalars of objects, by their offsets; None stands for any offset."""

    def __init__(self) -> None:
        self.offsets: dict[ObjectId, set[int | None]] = {}

    def add(self, id: ObjectId, offset: int | None) -> bool:
        """Whether that is new."""
        known = self.offsets.setdefault(id, set())
        if offset in known or None in known:
            return False
        known.add(offset)
        return True

    def has(self, id: ObjectId, offset: int | None) -> bool:
        known = self.offsets.get(id)
        return known is not None and (offset is None or offset in known or None in known)
