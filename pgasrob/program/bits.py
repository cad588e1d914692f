"""Sets of small numbers, cells or registers, as the bits of an integer."""

from __future__ import annotations

from collections.abc import Iterator


def members(bits: int) -> Iterator[int]:
    """The members of a bit set, ascending, in linear time: a set of cells can have a million."""
    digits = f"{bits:b}"[::-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)
