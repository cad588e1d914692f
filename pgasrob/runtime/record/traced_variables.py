"""The variables that stand behind the addresses of a trace: their names, where they lie, and their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob import file_input
from pgasrob.runtime.record.debug_information import DebugInformation
from pgasrob.runtime.record.named_in_source import named
from pgasrob.runtime.record.records import ADDRESSES, Place

LARGEST_SOURCE = 1 << 22
MOST_COUNT = 1 << 48
_NOTHING: tuple[object, ...] = ("unknown", 0)


class Variable(NamedTuple):
    """``offset``: in its module, or from the end of its frame. ``type``: its number, 0 where nothing is known of it."""

    offset: int
    name: str
    type: int = 0


class Allocation(NamedTuple):
    """What the memory and the window that a call makes are called, "" where that is not known, and the ``type`` of the
    elements of the memory."""

    memory: str
    window: str
    type: int = 0


class Element(NamedTuple):
    """An element of a variable: what stands behind its name (``[3].x``), its bytes, and how they are read: "signed",
    "unsigned", "float" or "unknown". ``further``: how many bytes behind its beginning the offset was."""

    path: str
    bytes: int
    kind: str
    further: int = 0


@dataclass(frozen=True)
class Variables:
    """``types`` by number: ``("signed", 4)``, ``("array", of, counts)``, ``("struct", bytes, members)``. ``statics`` by
    module, ``frames`` by a place in their function, ``allocations`` by the place of the call."""

    types: Sequence[tuple[object, ...]] = (_NOTHING,)
    statics: Mapping[int, Sequence[Variable]] = field(default_factory=dict)
    frames: Mapping[Place, Sequence[Variable]] = field(default_factory=dict)
    allocations: Mapping[Place, Allocation] = field(default_factory=dict)

    def size(self, type: int, depth: int = 0) -> int:
        match self.types[type]:
            case ("array", int(of), tuple(counts)) if depth < len(self.types):
                size = self.size(of, depth + 1)
                for count in counts:
                    size *= count
                return min(size, MOST_COUNT)
            case (_, int(size), *_):
                return size
        return 0

    def element(self, type: int, offset: int) -> Element:
        """The element at an ``offset`` in a variable of that type."""
        path = ""
        for _ in range(len(self.types) + 1):
            match self.types[type]:
                case ("array", int(of), tuple(counts)) if size := self.size(of):
                    number, offset = divmod(offset, size)
                    for place in range(len(counts)):
                        below = 1
                        for count in counts[place + 1 :]:
                            below *= count
                        at, number = divmod(number, below) if below else (number, 0)
                        path += f"[{at}]"
                    type = of
                case ("struct", _, tuple(members)):
                    within = [each for each in members if each[1] <= offset]
                    found = max(within, key=lambda each: each[1], default=None)
                    if found is None or offset >= found[1] + max(self.size(found[2]), 1):
                        break
                    path, offset, type = f"{path}.{found[0]}", offset - found[1], found[2]
                case (kind, int(size), *_):
                    return Element(path, size, str(kind), offset)
        return Element(path, 0, "unknown", offset)


# Writing


def variables_json(
    modules: Mapping[int, str],
    lines: Mapping[Place, tuple[str, int, str]],
    frames: Iterable[Place],
    allocations: Iterable[Place],
) -> dict[str, object]:
    """The variables of ``modules``, by the paths of their files, for an appendix. ``lines``: file, line and function of
    the places in the program; ``frames`` and ``allocations``: those of which the variables are wanted."""
    numbers: dict[tuple[int, int], int] = {}
    types: list[object] = [list(_NOTHING)]
    found: dict[str, list[list[object]]] = {"statics": [], "frames": [], "allocations": []}
    frames, allocations = sorted(frames), sorted(allocations)
    for module, path in sorted(modules.items()):
        known = DebugInformation(path)

        def number(type: int, module: int = module, known: DebugInformation = known) -> int:
            if not type or (module, type) in numbers:
                return numbers.get((module, type), 0)
            at = numbers[module, type] = len(types)
            types.append(_NOTHING)
            match known.types[type]:
                case ["array", int(of), counts]:
                    types[at] = ["array", number(of), counts]
                case ["struct", size, list(members)]:
                    types[at] = ["struct", size, [[name, offset, number(of)] for name, offset, of in members]]
                case other:
                    types[at] = other
            return at

        for offset, name, type in known.globals():
            found["statics"].append([module, offset, name, number(type)])
        for place in (each for each in frames if each.module == module):
            function = lines.get(place, ("", 0, ""))[2]
            inside = [[offset, name, number(type)] for offset, name, type in known.frame(place.offset, function)]
            found["frames"].append([*place, inside])
        for place in (each for each in allocations if each.module == module):
            file, line, function = lines.get(place, ("", 0, ""))
            called = named(_text(file), line)
            type = known.pointed_to(called.memory, place.offset, function)
            found["allocations"].append([*place, called.memory, called.window, number(type)])
    return {"types": types, **found}


def _text(file: str) -> str:
    with suppress(OSError, ValueError):
        return file_input.read(file, LARGEST_SOURCE).decode(errors="replace") if file else ""
    return ""


# Reading


def variables_of(read: Mapping[str, object]) -> Variables:
    """What an appendix says of variables. Raises ``ValueError`` where it says something that cannot be."""
    match read:
        case {"types": list(types), "statics": list(statics), "frames": list(frames), "allocations": list(allocations)}:
            known = [_type(each, len(types)) for each in types]
            return Variables(
                known or [_NOTHING],
                _statics(statics, len(known)),
                dict(_frame(each, len(known)) for each in frames),
                dict(_allocation(each, len(known)) for each in allocations),
            )
        case {"types": _} | {"statics": _} | {"frames": _} | {"allocations": _}:
            raise ValueError("it is no list of variables")
    return Variables()


def _is_number(value: object, most: int = ADDRESSES, least: int = 0) -> bool:
    return type(value) is int and least <= value < most


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{value!r:.40} is no name")
    return value


def _type(read: object, types: int) -> tuple[object, ...]:
    match read:
        case ["array", of, list(counts)] if _is_number(of, types) and all(_is_number(each) for each in counts):
            return ("array", of, tuple(counts))
        case ["struct", size, list(members)] if _is_number(size):
            return ("struct", size, tuple(_member(each, types) for each in members))
        case ["signed" | "unsigned" | "float" | "unknown" as kind, size] if _is_number(size):
            return (kind, size)
    raise ValueError(f"{read!r:.40} is no type")


def _member(read: object, types: int) -> tuple[str, int, int]:
    match read:
        case [name, int(offset), int(of)] if _is_number(offset) and _is_number(of, types):
            return _name(name), offset, of
    raise ValueError(f"{read!r:.40} is no member")


def _variable(read: object, types: int) -> Variable:
    match read:
        case [int(offset), name, int(of)] if _is_number(offset, least=-ADDRESSES) and _is_number(of, types):
            return Variable(offset, _name(name), of)
    raise ValueError(f"{read!r:.40} is no variable")


def _statics(read: Sequence[object], types: int) -> dict[int, list[Variable]]:
    found: dict[int, list[Variable]] = {}
    for each in read:
        match each:
            case [int(module), *variable] if _is_number(module):
                found.setdefault(module, []).append(_variable(variable, types))
            case _:
                raise ValueError(f"{each!r:.40} is no variable")
    return {module: sorted(variables) for module, variables in found.items()}


def _frame(read: object, types: int) -> tuple[Place, list[Variable]]:
    match read:
        case [int(module), int(offset), list(variables)] if _is_number(module) and _is_number(offset):
            return Place(module, offset), [_variable(each, types) for each in variables]
    raise ValueError(f"{read!r:.40} is no frame")


def _allocation(read: object, types: int) -> tuple[Place, Allocation]:
    match read:
        case [int(module), int(offset), memory, window, int(of)] if (
            _is_number(module) and _is_number(offset) and _is_number(of, types)
        ):
            return Place(module, offset), Allocation(_name(memory), _name(window), of)
    raise ValueError(f"{read!r:.40} is no allocation")
