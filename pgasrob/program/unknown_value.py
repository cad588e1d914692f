"""A value of memory that is not known, in runs of programs whose other values are."""

from __future__ import annotations


class Unknown(int):
    """Whatever is computed of it is not known either, and it is printed as ``unknown``. As an integer, which JSON has,
    it is a number that is hardly ever meant."""

    def _same(self, *_: object) -> Unknown:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _same
    __sub__ = __rsub__ = _same

    def __rshift__(self, bits: int) -> int:
        return 0  # no sign, so that wrapping around leaves it as it is

    def __lt__(self, other: object) -> bool:
        return False  # neither the least nor the greatest, so that both leave it as it is

    __gt__ = __lt__

    def __str__(self) -> str:
        return "unknown"

    def __format__(self, spec: str) -> str:
        return format("unknown", spec)


UNKNOWN = Unknown(-0x7FFF_DEAD_BEEF_7FFF)
"""The one there is."""
