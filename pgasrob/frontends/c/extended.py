"""How a long double lies in memory: 64 bits of mantissa, with its highest one, then exponent and sign, and 6 bytes of
nothing (x86-64 psABI, 3.1.2)."""

from __future__ import annotations

import math
import struct

LARGEST_SCALAR = 16
"""Bytes: those of a long double."""
_BIAS = 16_383


def to_extended(value: float) -> bytes:
    """The bytes of ``value``, which has no more digits than a double."""
    sign = 1 << 15 if math.copysign(1, value) < 0 else 0
    if math.isnan(value):
        return struct.pack("<QHHI", 3 << 62, 0x7FFF | sign, 0, 0)
    if math.isinf(value):
        return struct.pack("<QHHI", 1 << 63, 0x7FFF | sign, 0, 0)
    mantissa, exponent = math.frexp(abs(value))
    return struct.pack("<QHHI", int(math.ldexp(mantissa, 64)), (exponent + _BIAS - 1 if value else 0) | sign, 0, 0)


def from_extended(data: bytes) -> float:
    """The double that is nearest to what lies in ``data``."""
    mantissa, high, _, _ = struct.unpack("<QHHI", data)
    sign, exponent = -1.0 if high >> 15 else 1.0, high & 0x7FFF
    if exponent == 0x7FFF:
        return sign * math.inf if mantissa == 1 << 63 else math.nan
    try:
        return sign * math.ldexp(mantissa, exponent - _BIAS - 63)
    except OverflowError:
        return sign * math.inf
