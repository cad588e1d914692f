"""What the debug information of a program says of its variables, as `readelf` of binutils prints it.

Of this text no more is understood than is needed: names, types, and where variables lie, at a fixed address or in the
frame of their function.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

MOST_LINES = 20_000_000
MOST_INSIDE = 64
"""How deep types may lie in each other."""
_ENTRY = re.compile(r" <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
_ATTRIBUTE = re.compile(r"    <[0-9a-f]+>\s+DW_AT_(\w+)\s*: ?(.*)")
_WANTED = {
    *("name", "type", "byte_size", "encoding", "upper_bound", "count", "data_member_location", "location", "low_pc"),
    *("high_pc", "abstract_origin", "specification", "data_bit_offset"),
}
_FORM = re.compile(
    r"\((?:alt )?indirect (?:line )?string, offset: (?:0x)?[0-9a-f]+\): "
    r"|\(\w+\) (?:\(offset: (?:0x)?[0-9a-f]+\): )?"
)
"""How a value is stored, which some versions print before it."""
_TRANSPARENT = {"typedef", "const_type", "volatile_type", "restrict_type", "atomic_type"}
_STRUCTURES = {"structure_type", "class_type", "union_type"}
_POINTERS = {"pointer_type", "reference_type", "rvalue_reference_type"}
_BLOCKS = {"lexical_block", "inlined_subroutine"}


def _end(value: str) -> int:
    """Where what is said of the form of a value ends."""
    found = _FORM.match(value)
    return found.end() if found else 0


@dataclass
class Entry:
    """An entry with its attributes as text, and those within it."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)

    def number(self, attribute: str, default: int = 0) -> int:
        found = re.match(r"-?(?:0x[0-9a-f]+|\d+)", self.attributes.get(attribute, ""))
        return default if found is None else int(found[0], 0)

    def reference(self, attribute: str) -> int | None:
        found = re.match(r"<(?:alt )?0x([0-9a-f]+)>", self.attributes.get(attribute, ""))
        return None if found is None else int(found[1], 16)

    def place(self, operation: str) -> int | None:
        """The operand of a location that is this one operation."""
        found = re.search(rf"\(DW_OP_{operation}: (-?[0-9a-f]+)\)", self.attributes.get("location", ""))
        return None if found is None else int(found[1], 16 if operation == "addr" else 10)

    def covers(self, offset: int) -> bool:
        low, size = self.number("low_pc", -1), self.number("high_pc")
        return low >= 0 and low <= offset < low + size


class DebugInformation:
    """The variables of the ``program``; none where it has no debug information, or there is no `readelf`."""

    def __init__(self, program: str) -> None:
        self._entries: dict[int, Entry] = {}
        self._functions: list[int] = []
        self._globals: dict[str, int] = {}
        self.types: dict[int, object] = {}
        """What the types that were asked for are: see :meth:`_described`."""
        self._read(_printed(program))

    def _read(self, lines: Iterable[str]) -> None:
        above: list[int] = []
        entry: Entry | None = None
        for line in lines:
            if line.startswith("    <"):
                if entry is not None and (found := _ATTRIBUTE.match(line)) and found[1] in _WANTED:
                    entry.attributes[found[1]] = found[2][_end(found[2]) :].strip()
            elif found := _ENTRY.match(line):
                depth, offset, tag = int(found[1], 16), int(found[2], 16), found[3]
                entry = self._entries[offset] = Entry(tag)
                del above[depth:]
                if depth and above:
                    self._entries[above[-1]].children.append(offset)
                above.append(offset)
                if tag == "subprogram":
                    self._functions.append(offset)

    def _origin(self, offset: int) -> Iterator[Entry]:
        """The entry and those that it takes its name and type from."""
        for _ in range(MOST_INSIDE):
            entry = self._entries.get(offset)
            if entry is None:
                return
            yield entry
            further = entry.reference("abstract_origin") or entry.reference("specification")
            if further is None:
                return
            offset = further

    def _name(self, offset: int) -> str:
        return next((each.attributes["name"] for each in self._origin(offset) if "name" in each.attributes), "")

    def _type(self, offset: int) -> int:
        """The type of an entry, without its other names; 0 where it has none."""
        found = next((each.reference("type") for each in self._origin(offset) if "type" in each.attributes), None)
        for _ in range(MOST_INSIDE):
            if found is None or (entry := self._entries.get(found)) is None:
                break
            if entry.tag not in _TRANSPARENT:
                return found
            found = entry.reference("type")
        return 0

    # Variables

    def globals(self) -> Iterator[tuple[int, str, int]]:
        """The address, name and type of each variable with an address of its own."""
        for offset, entry in self._entries.items():
            if (
                entry.tag == "variable"
                and (address := entry.place("addr")) is not None
                and (name := self._name(offset))
            ):
                self._globals.setdefault(name, offset)
                yield address, name, self._noted(self._type(offset))

    def _function(self, pc: int, name: str) -> int | None:
        """The function that a place is in, else that of the ``name``."""
        for offset in self._functions:
            if self._entries[offset].covers(pc):
                return offset
        named = (each for each in self._functions if self._entries[each].children and self._name(each) == name)
        return next(named, None)

    def _locals(self, offset: int, pc: int, inside: bool = True) -> Iterator[tuple[bool, int]]:
        """Whether it is in force at ``pc``, and the entry, of each variable of a function or block."""
        for child in self._entries[offset].children:
            entry = self._entries[child]
            if entry.tag in ("variable", "formal_parameter"):
                yield inside, child
            elif entry.tag in _BLOCKS:
                yield from self._locals(child, pc, inside and (entry.covers(pc) or "low_pc" not in entry.attributes))

    def frame(self, pc: int, name: str) -> Iterator[tuple[int, str, int]]:
        """The offset from the end of the frame, name and type of each variable in the frame of a function: that of the
        ``name``, with code at ``pc``. Those in force there come first."""
        function = self._function(pc, name)
        found = [] if function is None else sorted(self._locals(function, pc), key=lambda each: not each[0])
        for _, offset in found:
            place, called = self._entries[offset].place("fbreg"), self._name(offset)
            if place is not None and called:
                yield place, called, self._noted(self._type(offset))

    def pointed_to(self, path: str, pc: int, name: str) -> int:
        """The type of what ``path`` points to or has as its elements (``table``, ``s->rows``, ``list[k].next``) in a
        function; 0 where it is not known."""
        parts = re.findall(r"(?:^|->|\.)\s*(\w+)|(\[)", path)
        if not parts:
            return 0
        function = self._function(pc, name)
        own = [] if function is None else sorted(self._locals(function, pc), key=lambda each: not each[0])
        first = next((each for _, each in own if self._name(each) == parts[0][0]), self._globals.get(parts[0][0]))
        at = 0 if first is None else self._type(first)
        for member, subscript in parts[1:]:
            entry = self._entries.get(at)
            if entry is not None and (entry.tag in _POINTERS or (subscript and entry.tag == "array_type")):
                at, entry = self._type(at), self._entries.get(self._type(at))
            if member:
                inner = [] if entry is None else entry.children
                at = next((self._type(each) for each in inner if self._name(each) == member), 0)
        entry = self._entries.get(at)
        return self._noted(self._type(at)) if entry and entry.tag in (*_POINTERS, "array_type") else 0

    # Types

    def _noted(self, type: int, depth: int = 0) -> int:
        """The type, which stands in `types` then; 0 where nothing is known of it."""
        if type not in self.types and type in self._entries and depth < MOST_INSIDE:
            self.types[type] = ["unknown", self._size(type)]  # of types that contain themselves by pointers
            self.types[type] = self._described(type, depth)
        return type if type in self.types else 0

    def _size(self, type: int, depth: int = 0) -> int:
        entry = self._entries.get(type)
        if entry is None or depth > MOST_INSIDE:
            return 0
        if entry.tag == "array_type" and "byte_size" not in entry.attributes:
            size = self._size(self._type(type), depth + 1)
            for count in self._counts(entry):
                size *= count
            return size
        return entry.number("byte_size", 8 if entry.tag in _POINTERS else 0)

    def _counts(self, entry: Entry) -> list[int]:
        ranges = [self._entries[child] for child in entry.children if self._entries[child].tag == "subrange_type"]
        return [each.number("count") or each.number("upper_bound", -1) + 1 for each in ranges]

    def _described(self, type: int, depth: int) -> list[object]:
        """``["signed" | "unsigned" | "float" | "unknown", bytes]``, ``["array", of, counts]`` or ``["struct", bytes,
        [[name, offset, type], ...]]``, whose types stand in `types`, too."""
        entry, size = self._entries[type], self._size(type)
        if entry.tag == "array_type":
            return ["array", self._noted(self._type(type), depth + 1), self._counts(entry)]
        if entry.tag in _STRUCTURES:
            members = [each for each in entry.children if self._entries[each].tag == "member"]
            return [
                "struct",
                size,
                [
                    [self._name(each), self._entries[each].number("data_member_location"), noted]
                    for each in members
                    if self._name(each) and (noted := self._noted(self._type(each), depth + 1))
                ],
            ]
        if entry.tag == "base_type":
            encoding = entry.attributes.get("encoding", "")
            for word, kind in (
                ("unsigned", "unsigned"),
                ("signed", "signed"),
                ("float", "float"),
                ("bool", "unsigned"),
            ):
                if word in encoding and "complex" not in encoding:
                    return [kind, size]
            return ["unknown", size]
        return ["unsigned" if entry.tag in ("enumeration_type", *_POINTERS) else "unknown", size]


def _printed(program: str) -> Iterator[str]:
    command = ["readelf", "--debug-dump=info", program]
    try:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
        ) as running:
            assert running.stdout is not None
            for number, line in enumerate(running.stdout):
                if number > MOST_LINES:
                    running.kill()
                    return
                yield line
    except OSError:
        return
