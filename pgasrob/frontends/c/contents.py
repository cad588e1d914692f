"""What an object holds as far as that is known while a program is lowered: scalars that only its rank accesses."""

from __future__ import annotations

import struct
from collections.abc import Hashable

from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import UNDEFINED, Known, Undefined, Unknown, Value
from pgasrob.program.expressions import IntType, float_bits, float_value

Range = tuple[int, int, int | None]
"""From, to (exclusive), and the byte that fills it; None: what nobody has set."""


class Contents:
    """Scalars by offset on top of filled ranges; ``copy`` before a change that others must not see."""

    __slots__ = ("_key", "_unknown", "fills", "scalars", "shared")

    def __init__(self, fill: int | None) -> None:
        self.fills: tuple[Range, ...] = ((0, 1 << 62, fill),)
        self.scalars: dict[int, tuple[int, Value, bool]] = {}  # offset -> size, value, whether it is a float
        self.shared = False
        self._changed()

    def _changed(self) -> None:
        self._key: Hashable = None
        self._unknown: tuple[int, ...] | None = None

    def copy(self) -> Contents:
        other = Contents(None)
        other.fills = self.fills
        other.scalars = dict(self.scalars)
        return other

    @property
    def key(self) -> Hashable:
        """Equal for equal contents."""
        if self._key is None:
            self._key = (self.fills, frozenset(self.scalars.items()))
        return self._key

    @property
    def unknown(self) -> tuple[int, ...]:
        """The offsets of the scalars that are unknown values."""
        if self._unknown is None:
            self._unknown = tuple(sorted(at for at, held in self.scalars.items() if isinstance(held[1], Unknown)))
        return self._unknown

    def replace(self, offset: int, value: Value | None) -> None:
        """Put ``value`` for the scalar at ``offset``, None: nothing."""
        size, _, floating = self.scalars.pop(offset)
        if value is not None:
            self.scalars[offset] = size, value, floating
        self._changed()

    def store(self, offset: int, value: Value, type: CType) -> None:
        size = size_of(type)
        held = self.scalars.get(offset)
        if held is None or held[0] != size:
            self._cut(offset, offset + size)
        self.scalars[offset] = (size, value, isinstance(type, Floating))
        self._changed()

    def fill(self, start: int, end: int, byte: int | None) -> None:
        """The bytes from ``start`` to ``end`` all become ``byte``."""
        self._cut(start, end)
        kept = tuple(each for each in self.fills if not (start <= each[0] and each[1] <= end))
        self.fills = (*kept, (start, end, byte))
        self._changed()

    def load(self, offset: int, type: CType) -> Value | None:
        """The scalar at ``offset``; None when it is put together from parts that are not all numbers."""
        size, floating = size_of(type), isinstance(type, Floating)
        held = self.scalars.get(offset)
        if held is not None and held[0] == size and held[2] == floating:
            value = held[1]
            if isinstance(value, Known) and isinstance(type, Integer):
                return Known(int(value.value != 0) if type.boolean else type.type.wrap(value.value))
            return value
        if held is None and not any(self._overlapping(offset, offset + size)):
            byte = self._byte_filled(offset, size)
            if byte == 0:
                return Known(0)
            if byte is None:
                return UNDEFINED
        data = [self._byte(place) for place in range(offset, offset + size)]
        if all(byte is None for byte in data):
            return UNDEFINED
        if any(not isinstance(byte, int) for byte in data):
            return None
        return Known(from_bytes(bytes(byte for byte in data if isinstance(byte, int)), type))

    def inside(self, start: int, end: int) -> list[tuple[int, int, Value, bool]]:
        """The scalars between ``start`` and ``end``: offset, size, value, whether it is a float."""
        found = (
            (offset, *held) for offset, held in self.scalars.items() if start <= offset and offset + held[0] <= end
        )
        return sorted(found, key=lambda each: each[0])

    def byte_filled(self, offset: int) -> int | None:
        """The byte that fills the place at ``offset``, whatever scalars lie there."""
        return next(byte for start, end, byte in reversed(self.fills) if start <= offset < end)

    def _byte_filled(self, offset: int, size: int) -> int | None:
        found = {self.byte_filled(place) for place in range(offset, offset + size)}
        return found.pop() if len(found) == 1 else -1

    def _overlapping(self, start: int, end: int) -> list[int]:
        near = (offset for offset in range(start - 7, end) if offset in self.scalars)
        return [offset for offset in near if offset < end and offset + self.scalars[offset][0] > start]

    def _cut(self, start: int, end: int) -> None:
        """Take out the scalars between ``start`` and ``end``; of those that reach beyond, the other bytes stay."""
        near = self._overlapping(start, end) if end - start <= 64 else list(self.scalars)
        for offset in near:
            size, value, floating = self.scalars[offset]
            if offset >= end or offset + size <= start:
                continue
            del self.scalars[offset]
            for place, byte in enumerate(to_bytes(value, size, floating) or (), offset):
                if not start <= place < end:
                    self.scalars[place] = (1, Known(IntType(8, True).wrap(byte)), False)

    def _byte(self, place: int) -> int | str | None:
        for offset in self._overlapping(place, place + 1):
            size, value, floating = self.scalars[offset]
            if isinstance(value, Undefined):
                return None
            data = to_bytes(value, size, floating)
            return "unknown" if data is None else data[place - offset]
        return self.byte_filled(place)


def to_bytes(value: Value, size: int, floating: bool) -> bytes | None:
    """A number as it lies in memory, None for what is no number that is known."""
    if not isinstance(value, Known):
        return None
    if floating:
        return struct.pack("<d" if size == 8 else "<f", float_value(value.value))
    return (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def from_bytes(data: bytes, type: CType) -> int:
    """The number of ``type`` that lies in memory as ``data``."""
    if isinstance(type, Floating):
        (value,) = struct.unpack("<d" if type.bits == 64 else "<f", data)
        return float_bits(value)
    wanted = type.type if isinstance(type, Integer) else IntType(64, False)
    return wanted.wrap(int.from_bytes(data, "little"))
