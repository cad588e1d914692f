"""Doubles in the JSON objects of runs: JSON has their 64 bits as an integer, and text the number."""

from __future__ import annotations

from collections.abc import Collection

from pgasrob.program.expressions import float_value
from pgasrob.program.unknown_value import UNKNOWN, Unknown


class Double(int):
    """The bits of a double. JSON has the integer; as text it is the shortest decimal for the double, ``100.0``."""

    def __str__(self) -> str:
        return repr(float_value(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def value(name: str, number: int, doubles: Collection[str]) -> int:
    """``number``, the value of the cell or register ``name`` (``a[2]``, ``a[2]@1``), as a Double where it is one, and
    as the unknown value where it stands for that."""
    if isinstance(number, Unknown) or number == UNKNOWN or not doubles:
        return UNKNOWN if number == UNKNOWN else number
    name = name.rpartition("@")[0] or name
    return Double(number) if name in doubles or name.rpartition("[")[0] in doubles else number


def shown(numbers: dict[str, int], doubles: Collection[str]) -> dict[str, int]:
    """``numbers`` by name, each as a Double where it is one."""
    return {name: value(name, number, doubles) for name, number in numbers.items()}


def as_texts(found: object) -> object:
    """``found`` with its doubles as texts, for JavaScript, whose integers are doubles themselves."""
    match found:
        case Double() | Unknown():
            return str(found)
        case dict():
            return {name: as_texts(each) for name, each in found.items()}
        case list():
            return [as_texts(each) for each in found]
    return found
