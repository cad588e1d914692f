"""What an object holds as far as that is known while a program is lowered: scalars that only its rank accesses."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from pgasrob.frontends.c.extended import LARGEST_SCALAR, from_extended, to_extended
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import range_of, values_of
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import UNDEFINED, Known, KnownByRank, Undefined, Unknown, Value, known_of
from pgasrob.program.expressions import Binary, Const, IntType, Unary, float_bits, float_value
from pgasrob.stop_points import stop_point

ANYTHING = 256
"""Fills bytes that are unknown values; no byte is so large."""
Range = tuple[int, int, int | None]
"""From, to (exclusive), and the byte that fills it; None: bytes that have not been set."""
Held = tuple[int, Value, bool]
"""A scalar: its size, its value, whether it is a float."""
Kind = tuple[int, bool]
"""Of scalars: their size, whether they are floats."""
Row = list[int | float | None]
"""The known scalars of one kind that lie at multiples of their size, side by side; None where there is none."""
Item = tuple[int, int, Value | tuple[int | float | None, ...], bool]
"""A scalar by its offset, or numbers side by side, from the so many-th of their size on; the size, the value or the
numbers, whether they are floats."""
Page = frozenset[Item]
Pages = frozenset[tuple[int, Page]]
Key = tuple[tuple[Range, ...], frozenset[tuple[int, Pages]]]
PAGE, PAGES = 10, 6
"""Pages have so many bytes, groups of them so many pages, as powers of two."""
SIGNED_BYTE = IntType(8, True)


def _loaded(number: int, type: Integer) -> int:
    """``number`` as one of ``type``."""
    return int(number != 0) if type.boolean else type.type.wrap(number)


class Contents:
    """Scalars by offset on top of filled ranges; ``copy`` before a change that others must not see.

    ``rows`` has the known scalars of the kinds that loops run over (:meth:`row`), ``others`` all the rest.
    ``written`` has a byte for each page of ``rows``, 1 when it has been written since the latest :attr:`key`.
    """

    __slots__ = ("_groups", "_key", "_pages", "_touched", "_unknown", "fills", "others", "rows", "shared", "written")

    def __init__(self, fill: int | None) -> None:
        self.fills: tuple[Range, ...] = ((0, 1 << 62, fill),)
        self.others: dict[int, Held] = {}
        self.rows: dict[Kind, Row] = {}
        self.written = bytearray()
        self.shared = False
        self._pages: dict[int, Page] = {}
        self._groups: dict[int, Pages] = {}
        self._touched: set[int] = set()
        self._key: Key | None = None
        self._unknown: tuple[int, ...] | None = None

    def copy(self) -> Contents:
        other = Contents.__new__(Contents)
        other.fills = self.fills
        other.others = dict(self.others)
        other.rows = {kind: list(row) for kind, row in self.rows.items()}
        other.written = bytearray(self.written)
        other.shared = False
        other._pages, other._groups = dict(self._pages), dict(self._groups)
        other._touched = set(self._touched)
        other._key, other._unknown = self._key, self._unknown
        return other

    # Scalars

    def is_free(self, offset: int, size: int) -> bool:
        """Whether no scalar lies in these bytes."""
        return not (self.others or self.rows) or not self.overlapping(offset, offset + size)

    def get(self, offset: int) -> Held | None:
        """The scalar that begins at ``offset``."""
        held = self.others.get(offset)
        if held is not None:
            return held
        for (size, floating), row in self.rows.items():
            place, rest = divmod(offset, size)
            if not rest and 0 <= place < len(row) and (number := row[place]) is not None:
                return size, Known(float_bits(number) if floating else int(number)), floating
        return None

    def set(self, offset: int, size: int, value: Value, floating: bool) -> None:
        """Put a scalar where there is none, or one of this kind."""
        row = self.rows.get((size, floating))
        if row is not None and not offset % size and 0 <= (place := offset // size) < len(row):
            if type(value) is Known and not (floating and _is_nan(value.value)):
                self.others.pop(offset, None)
                row[place] = float_value(value.value) if floating else value.value
            else:
                row[place] = None
                self.others[offset] = size, value, floating
        else:
            self.others[offset] = size, value, floating
        self._change(offset)

    def _remove(self, offset: int) -> None:
        if self.others.pop(offset, None) is None:
            for (size, _), row in self.rows.items():
                if not offset % size and offset // size < len(row):
                    row[offset // size] = None
        self._change(offset)

    def _change(self, offset: int) -> None:
        self._touched.add(offset >> PAGE)
        self._key = self._unknown = None

    def _offsets(self, start: int, end: int) -> Iterable[int]:
        """Where scalars begin from ``start`` to ``end``, in some order."""
        few = end - start <= 64 or end - start < len(self.others)
        others = range(start, end) if few else list(self.others)
        yield from (offset for offset in others if start <= offset < end and offset in self.others)
        for (size, _), row in self.rows.items():
            first, last = max(0, -(-start // size)), min(len(row), -(-end // size))
            yield from (place * size for place in range(first, last) if row[place] is not None)

    def row(self, kind: Kind, length: int) -> Row:
        """All known scalars of ``kind`` at multiples of its size in this object of ``length`` bytes: to be looked at.

        Who changes them has called :meth:`changes`, and :meth:`clear` where there is None, and puts a 1 in ``written``.
        """
        size, floating = kind
        found = self.rows.get(kind)
        if found is None:
            found = self.rows[kind] = [None] * (length // size)
            for offset, (each, value, float) in list(self.others.items()):
                fits = (each, float) == kind and not offset % size and 0 <= offset <= length - size
                if fits and type(value) is Known and not (floating and _is_nan(value.value)):
                    found[offset // size] = float_value(value.value) if floating else value.value
                    del self.others[offset]
        elif len(found) < length // size:
            found.extend([None] * (length // size - len(found)))
        if len(self.written) <= length >> PAGE:
            self.written.extend(bytes((length >> PAGE) + 1 - len(self.written)))
        return found

    def clear(self, offset: int, size: int) -> None:
        """Take out what overlaps ``size`` bytes at ``offset``, so that a scalar can be put there."""
        self._cut(offset, offset + size)

    def changes(self) -> None:
        """Rows may be changed from now on."""
        self._key = None

    # What is held

    def _page(self, number: int) -> Page:
        start, end = number << PAGE, (number + 1) << PAGE
        apart: list[Item] = []
        numbers: dict[Kind, dict[int, int]] = {}
        for offset in self.others if len(self.others) < end - start else range(start, end):
            held = self.others.get(offset) if start <= offset < end else None
            if held is not None:
                size, value, floating = held
                if type(value) is Known and not offset % size:
                    numbers.setdefault((size, floating), {})[offset // size] = value.value
                else:
                    apart.append((offset, size, value, floating))
        for (size, floating), row in self.rows.items():
            first = -(-start // size)
            inside = row[first : -(-end // size)]
            if not floating and None not in inside and inside and (size, floating) not in numbers:
                apart.append((first, size, tuple(inside), floating))
                continue
            for place, each in enumerate(inside, first):
                if each is not None:
                    numbers.setdefault((size, floating), {})[place] = float_bits(each) if floating else int(each)
        for (size, floating), found in numbers.items():
            first = min(found)
            apart.append((first, size, tuple(map(found.get, range(first, max(found) + 1))), floating))
        return frozenset(apart)

    @property
    def key(self) -> Key:
        """Equal for equal contents; what has not changed since the latest key is the same object in it."""
        if self._key is None:
            touched, self._touched = self._touched, set()
            place = self.written.find(1)
            while place >= 0:
                stop_point()
                touched.add(place)
                self.written[place] = 0
                place = self.written.find(1, place + 1)
            changed = {number >> PAGES for number in touched}
            for number in touched:
                self._pages.pop(number, None)
                if page := self._page(number):
                    self._pages[number] = page
            for group in changed:
                self._groups.pop(group, None)
                numbers = range(group << PAGES, (group + 1) << PAGES)
                if pages := frozenset((each, self._pages[each]) for each in numbers if each in self._pages):
                    self._groups[group] = pages
            self._key = self.fills, frozenset(self._groups.items())
        return self._key

    @property
    def unknown(self) -> tuple[int, ...]:
        """The offsets of the scalars that are unknown values."""
        if self._unknown is None:
            self._unknown = tuple(sorted(at for at, held in self.others.items() if isinstance(held[1], Unknown)))
        return self._unknown

    def replace(self, offset: int, value: Value | None) -> None:
        """Put ``value`` for the scalar at ``offset``, None: nothing."""
        held = self.get(offset)
        assert held is not None
        if value is None:
            self._remove(offset)
        else:
            self.set(offset, held[0], value, held[2])

    def store(self, offset: int, value: Value, type: CType) -> None:
        size = size_of(type)
        held = self.get(offset)
        if held is None or held[0] != size:
            self._cut(offset, offset + size)
        elif held[2] != isinstance(type, Floating):
            self._remove(offset)
        self.set(offset, size, value, isinstance(type, Floating))

    def fill(self, start: int, end: int, byte: int | None) -> None:
        """The bytes from ``start`` to ``end`` all become ``byte``."""
        self._cut(start, end)
        kept = tuple(each for each in self.fills if not (start <= each[0] and each[1] <= end))
        self.fills = (*kept, (start, end, byte))
        self._key = None

    def copy_fills(self, source: Contents, start: int, bytes: int, to: int) -> None:
        """Copy the filled ranges among ``bytes`` bytes of ``source`` from ``start`` on, without the scalars there."""
        for begin, end, byte in source.fills:
            first, last = max(begin, start), min(end, start + bytes)
            if first < last:
                self.fill(first - start + to, last - start + to, byte)

    def load(self, offset: int, type: CType) -> Value | None:
        """The scalar at ``offset``; None when it is put together from parts that are not all numbers."""
        size, floating = size_of(type), isinstance(type, Floating)
        held = self.get(offset)
        if held is not None and held[0] == size and held[2] == floating:
            value = held[1]
            if isinstance(value, Known) and isinstance(type, Integer):
                if isinstance(value, KnownByRank):
                    return known_of([_loaded(each, type) for each in value.numbers])
                return Known(_loaded(value.value, type))
            if isinstance(value, Unknown) and isinstance(type, Integer):
                return _as(value, type)
            return value
        if held is None and self.is_free(offset, size):
            byte = self._byte_filled(offset, size)
            if byte == 0:
                return Known(0)
            if byte is None:
                return UNDEFINED
        data = [self.byte(place) for place in range(offset, offset + size)]
        if all(byte is None for byte in data):
            return UNDEFINED
        if any(not isinstance(byte, int) for byte in data):
            return None
        return Known(from_bytes(bytes(byte for byte in data if isinstance(byte, int)), type))

    def unknown_parts(self, offset: int, size: int) -> list[Unknown] | None:
        """The unknown values that ``size`` bytes at ``offset`` have a part in; None where pointers have, too."""
        held = [each[1] for at in self.overlapping(offset, offset + size) if (each := self.get(at))]
        if any(not isinstance(value, Known | Unknown | Undefined) for value in held):
            return None
        return [value for value in held if isinstance(value, Unknown)]

    def inside(self, start: int, end: int) -> list[tuple[int, int, Value, bool]]:
        """The scalars between ``start`` and ``end``: offset, size, value, whether it is a float."""
        found = ((offset, held) for offset in sorted(self._offsets(start, end)) if (held := self.get(offset)))
        return [(offset, *held) for offset, held in found if offset + held[0] <= end]

    def byte_filled(self, offset: int) -> int | None:
        """The byte that fills the place at ``offset``, whatever scalars lie there."""
        return next(byte for start, end, byte in reversed(self.fills) if start <= offset < end)

    def _byte_filled(self, offset: int, size: int) -> int | None:
        if len(self.fills) == 1:
            return self.fills[0][2]
        found = {self.byte_filled(place) for place in range(offset, offset + size)}
        return found.pop() if len(found) == 1 else -1

    def overlapping(self, start: int, end: int) -> list[int]:
        """Where the scalars begin that have bytes from ``start`` to ``end``."""
        near = (
            (offset, held)
            for offset in self._offsets(start - LARGEST_SCALAR + 1, end)
            if (held := self.get(offset)) is not None
        )
        return [offset for offset, held in near if offset + held[0] > start]

    def _cut(self, start: int, end: int) -> None:
        """Take out the scalars between ``start`` and ``end``; of those that reach beyond, the other bytes stay."""
        for offset in list(self._offsets(start - LARGEST_SCALAR + 1, end)):
            held = self.get(offset)
            assert held is not None
            size, value, floating = held
            if offset + size <= start:
                continue
            self._remove(offset)
            if start <= offset and offset + size <= end:
                continue
            if not isinstance(value, Known):
                rest = None if isinstance(value, Undefined) else ANYTHING
                around = ((offset, start, rest), (end, offset + size, rest))
                self.fills += tuple(each for each in around if each[0] < each[1])
            for place, byte in enumerate(to_bytes(value, size, floating) or (), offset):
                if not start <= place < end:
                    self.set(place, 1, Known(SIGNED_BYTE.wrap(byte)), False)

    def byte(self, place: int) -> int | str | None:
        """The byte at ``place``: its number, ``"unknown"``, or None where it has not been set."""
        for offset in self.overlapping(place, place + 1):
            held = self.get(offset)
            assert held is not None
            size, value, floating = held
            if isinstance(value, Undefined):
                return None
            data = to_bytes(value, size, floating)
            return "unknown" if data is None else data[place - offset]
        filled = self.byte_filled(place)
        return "unknown" if filled == ANYTHING else filled


def to_bytes(value: Value, size: int, floating: bool) -> bytes | None:
    """A number as it lies in memory, None for what is no number that is known."""
    if not isinstance(value, Known):
        return None
    if floating and size != 8:
        number = float_value(value.value)
        if size == LARGEST_SCALAR:
            return to_extended(number)
        return struct.pack("<f", number) if number == number else _nan_to_bytes(value.value)
    return (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def from_bytes(data: bytes, type: CType) -> int:
    """The number of ``type`` that lies in memory as ``data``."""
    if isinstance(type, Floating):
        if type.bits == 8 * LARGEST_SCALAR:
            return float_bits(from_extended(data))
        if type.bits == 32:
            (value,) = struct.unpack("<f", data)
            return float_bits(value) if value == value else _nan_of_bytes(data)
        return int.from_bytes(data, "little", signed=True)
    wanted = type.type if isinstance(type, Integer) else IntType(64, False)
    return wanted.wrap(int.from_bytes(data, "little"))


def _is_nan(bits: int) -> bool:
    number = float_value(bits)
    return number != number


def _nan_to_bytes(bits: int) -> bytes:
    """A NaN as a `float`. To numbers there is one, but as bytes there are many."""
    sign, rest = bits >> 32 & 1 << 31, bits >> 29 & (1 << 23) - 1
    return (sign | 0x7F8 << 20 | (rest or 1 << 22)).to_bytes(4, "little")


def _nan_of_bytes(data: bytes) -> int:
    """The bits of a double for a `float` that is a NaN."""
    bits = int.from_bytes(data, "little")
    return IntType(64, True).wrap((bits & 1 << 31) << 32 | 0x7FF << 52 | (bits & (1 << 23) - 1) << 29)


def scalars_of_page(page: Page) -> Iterator[tuple[int, int, Value]]:
    """The scalars in ``page``: offset, size, value."""
    for place, size, held, _ in page:
        if not isinstance(held, tuple):
            yield place, size, held
            continue
        for number, value in enumerate(held, place):
            if value is not None:
                yield number * size, size, Known(int(value))


def _as(value: Unknown, type: Integer) -> Unknown:
    """An integer that was stored in another type, perhaps, as one of ``type``."""
    found, (low, high) = values_of(value.expr, {}), range_of(type)
    if found is not None and low <= found.low and found.high <= high:
        return value
    if type.boolean:
        return Unknown(Binary("!=", value.expr, Const(0), IntType(64, True)))
    return Unknown(Unary("cast", value.expr, type.type))
