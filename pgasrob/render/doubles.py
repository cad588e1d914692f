"""Values of doubles in the JSON objects of runs: integers, their 64 bits, that are printed as the numbers they are."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pgasrob.program.expressions import float_value

if TYPE_CHECKING:
    from pgasrob.render.json import Witness


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


def mark(run: Witness) -> None:
    """Have every value in ``run`` of what its ``doubles`` name shown as a double."""
    doubles = frozenset(run.get("doubles", ()))
    if not doubles:
        return
    for event in (*run["computation"], *(run["sequential"]["events"] if run["sequential"] else ())):
        address, written, register = event["address"], event["written"], event["register"]
        if event["read"] is not None and address:
            event["read"] = value(address["name"], event["read"], doubles)
        for name, change in ((written and written["cell"], written), (register and register["name"], register)):
            if name and change:
                change["before"] = value(name, change["before"], doubles)
                change["after"] = value(name, change["after"], doubles)
    for cell in run["memory"]:
        cell["value"] = value(cell["name"], cell["value"], doubles)
    for rank in run["standing"]:
        rank["registers"] = shown(rank["registers"], doubles)
        for command in rank["next"]:
            if command["value"] is not None and command["address"]:
                command["value"] = value(command["address"]["name"], command["value"], doubles)
    if run["fault"]:
        run["fault"]["registers"] = shown(run["fault"]["registers"], doubles)


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
