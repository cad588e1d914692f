"""Whatever is computed of a value that is not known is not known either."""

from __future__ import annotations

from pgasrob.program.expressions import INT32, IntType
from pgasrob.program.unknown_value import UNKNOWN, Unknown


def test_it_stays_unknown() -> None:
    for found in (
        UNKNOWN + 1, 1 + UNKNOWN, UNKNOWN * 3, UNKNOWN & 7, UNKNOWN | 7, UNKNOWN ^ 7, min(UNKNOWN, 5), max(UNKNOWN, 5),
        INT32.wrap(UNKNOWN + 1), IntType(64, True).wrap(UNKNOWN * 2), IntType(8, False).wrap(UNKNOWN),
    ):  # fmt: skip
        assert isinstance(found, Unknown) and f"{found}" == str(found) == "unknown"
    assert UNKNOWN.bit_length() == 63, "no number that a program has by chance"
