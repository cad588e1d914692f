"""Which bytes of an object in cells its rank has set: a cell always holds a number, set or not.

What lies in a rank's own memory alone says so itself (`contents.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgasrob.program.expressions import Expr, is_of_rank

Ranges = tuple[tuple[int, int], ...]
"""Bytes, from one to before another, in order and apart."""
EVERYTHING = ((0, 1 << 62),)
MOST_RANGES = 64
"""So many ranges of bytes of an object are kept."""


def added(ranges: Ranges, start: int, end: int) -> Ranges:
    """``ranges`` and the bytes from ``start`` to before ``end``."""
    if covers(ranges, start, end):
        return ranges
    near = [each for each in ranges if each[0] <= end and start <= each[1]]
    whole = min([start, *(first for first, _ in near)]), max([end, *(last for _, last in near)])
    return tuple(sorted((*(each for each in ranges if each not in near), whole)))


def removed(ranges: Ranges, start: int, end: int) -> Ranges:
    """``ranges`` without the bytes from ``start`` to before ``end``."""
    parts = ((each[0], min(each[1], start)) for each in ranges), ((max(each[0], end), each[1]) for each in ranges)
    return tuple(sorted({part for side in parts for part in side if part[0] < part[1]}))


def covers(ranges: Ranges, start: int, end: int) -> bool:
    """Whether all bytes from ``start`` to before ``end`` are in ``ranges``."""
    return any(first <= start and end <= last for first, last in ranges)


def touches(ranges: Ranges, start: int, end: int) -> bool:
    """Whether a byte from ``start`` to before ``end`` is in ``ranges``."""
    return any(first < end and start < last for first, last in ranges)


@dataclass(frozen=True, slots=True)
class Initialised:
    """The bytes of one object that have been set ``certainly``, and those that have been set ``perhaps``, all of the
    former among them. ``at``: the indices that are the same in all runs of a rank, of elements that certainly have
    been set, with the sizes of these."""

    certainly: Ranges = ()
    perhaps: Ranges = ()
    at: frozenset[tuple[Expr, int]] = frozenset()

    def set(self, start: int, end: int, certainly: bool = True) -> Initialised:
        """Once the bytes from ``start`` to before ``end`` have been set."""
        perhaps = added(self.perhaps, start, end)
        known = added(self.certainly, start, end) if certainly else self.certainly
        if len(perhaps) > MOST_RANGES or len(known) > MOST_RANGES:
            return PERHAPS
        return self if (known, perhaps) == (self.certainly, self.perhaps) else Initialised(known, perhaps, self.at)

    def set_at(self, index: Expr, size: int, bytes: int) -> Initialised:
        """Once the element ``index`` of ``size`` bytes has been set, of an object that has so many ``bytes``."""
        some = self.set(0, bytes, certainly=False)
        return replace(some, at=some.at | {(index, size)}) if is_of_rank(index) else some

    def unset(self, start: int, end: int) -> Initialised:
        """Once something has been put there that has not been set itself."""
        return Initialised(removed(self.certainly, start, end), removed(self.perhaps, start, end))

    def holds(self, start: int, end: int) -> bool | None:
        """Whether the bytes from ``start`` to before ``end`` have been set; None where that is not known."""
        if covers(self.certainly, start, end):
            return True
        return None if touches(self.perhaps, start, end) else False

    def holds_at(self, index: Expr, size: int, bytes: int) -> bool | None:
        """The same of the element ``index`` of ``size`` bytes, of an object that has so many ``bytes``."""
        return True if (index, size) in self.at else self.holds(0, bytes)


NOTHING = Initialised()
ALL = Initialised(EVERYTHING, EVERYTHING)
PERHAPS = Initialised(perhaps=EVERYTHING)
"""What has been set is no longer kept track of."""
