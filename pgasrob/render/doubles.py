"""Values of doubles in the JSON objects of runs: integers, their 64 bits, that are printed as the numbers they are."""

from __future__ import annotations

from collections.abc import Collection

from pgasrob.program.expressions import float_value


class Double(int):
    """The bits of a double. JSON has the integer; as text it is the shortest decimal for the double, ``100.0``."""

    def __str__(self) -> str:
        return repr(float_value(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def value(name: str, number: int, doubles: Collection[str]) -> int:
    """``number``, which the cell or register ``name`` (``a[2]``, ``a[2]@1``) holds, as a double where it is one."""
    if not doubles:
        return number
    name = name.rpartition("@")[0] or name
    return Double(number) if name in doubles or name.rpartition("[")[0] in doubles else number


def shown(numbers: dict[str, int], doubles: Collection[str]) -> dict[str, int]:
    """``numbers`` by name, each as :func:`value` has it."""
    return {name: value(name, number, doubles) for name, number in numbers.items()}


def as_texts(found: object) -> object:
    """``found`` with the doubles in it as texts, for readers to whom integers are doubles themselves."""
    match found:
        case Double():
            return str(found)
        case dict():
            return {name: as_texts(each) for name, each in found.items()}
        case list():
            return [as_texts(each) for each in found]
    return found
