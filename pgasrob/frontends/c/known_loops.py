"""Loops of C as Python functions, for iterations of which everything is known.

A loop is translated as it stands, jump by jump. Integers and floating-point numbers are Python's, a pointer is an
object and an offset. What needs more than that (a call, a value that is not known, memory in cells) leaves the
function: the machine goes on from there, with all variables as they are. Nothing is written and nothing learned on the
way but which scalars are accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pgasrob.frontends.c import code
from pgasrob.frontends.c.code import CompiledFunction, Label
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.in_python import Writer
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.liveness import successors
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.types import CType, Floating
from pgasrob.frontends.c.values import Address, Known, ObjectId, Value
from pgasrob.program.expressions import CONVERSIONS, OPERATORS, Fault, IntType, float_bits, float_value


class Position(Protocol):
    """Where the loop is executed."""

    @property
    def frame(self) -> Frame: ...


class Objects(Protocol):
    """The objects that the loop may access."""

    def contents(self, id: ObjectId, write: bool = False) -> Contents: ...
    def global_object(self, name: str) -> ObjectId: ...
    def local_object(self, frame: Frame, name: str) -> ObjectId: ...
    def string_object(self, text: str) -> ObjectId: ...
    def size(self, address: Address) -> int: ...


class Memory(Protocol):
    """What a translated loop needs of the memory of a rank."""

    @property
    def facts(self) -> Facts: ...
    @property
    def position(self) -> Position: ...
    @property
    def objects(self) -> Objects: ...
    def end_of_life(self, id: ObjectId) -> None: ...
    def is_forbidden(self, id: ObjectId) -> bool: ...


Run = Callable[[Memory, list[Value], int], tuple[int, ...] | None]
"""From the memory, the slots of the current frame and how many loop heads may be passed, to the place where the machine
goes on, how many more heads might have been passed, and how often each head inside was passed; None when something is
not known from the start."""
LARGEST = 1 << 24
"""Bytes of an object whose scalars are held side by side."""


@dataclass(frozen=True, slots=True)
class KnownLoop:
    """``heads``: those of all loops inside but the outermost one, ``loops`` the numbers of all."""

    run: Run
    heads: tuple[Label, ...]
    loops: frozenset[int]
    instructions: int


def translated(function: CompiledFunction, head: Label) -> KnownLoop | None:
    """The loop that begins at ``head``; None for one that jumps into another, or has nothing to run."""
    ranges = _ranges(function.code, head)
    if ranges is None:
        return None
    writer = Writer(function, head, ranges)
    text = writer.text()
    namespace: dict[str, Any] = {**_NAMES, **writer.constants}
    exec(compile(text, f"<loop in {function.name}>", "exec"), namespace)
    loops = frozenset(each.loop for place in ranges if isinstance(each := function.code[place], code.LoopHead))
    return KnownLoop(namespace["run"], tuple(ranges)[1:], loops, ranges[head] - head + 1)


def _ranges(instructions: Sequence[code.Instruction], head: Label) -> dict[Label, Label] | None:
    """Where the loop at ``head`` and those inside of it begin and end, in order; None when they are not nested."""
    ends: dict[Label, Label] = {}
    for place in range(head, len(instructions)):
        for to in successors(instructions, place):
            if head <= to <= place:
                ends[to] = place
    if head not in ends:
        return None
    ranges = {start: ends[start] for start in sorted(ends) if start <= ends[head]}
    if not all(isinstance(instructions[start], code.LoopHead) for start in ranges):
        return None
    open_ends: list[Label] = []
    for start, end in ranges.items():
        while open_ends and open_ends[-1] < start:
            open_ends.pop()
        if open_ends and open_ends[-1] < end:
            return None
        open_ends.append(end)
    return ranges


# What the functions call


def computed(left: int, right: int, type: IntType, operator: str) -> int | None:
    """None for what C has no value for."""
    try:
        return OPERATORS[operator](left, right, type)
    except Fault:
        return None


def truncated(value: float, type: IntType) -> int | None:
    try:
        return CONVERSIONS["int"](float_bits(value), type)
    except Fault:
        return None


def divided(left: float, right: float) -> float:
    return float_value(OPERATORS["/."](float_bits(left), float_bits(right), IntType(64, True)))


def single(value: float) -> float:
    return float_value(CONVERSIONS["float32"](float_bits(value), IntType(64, True)))


def scalars(memory: Memory, id: ObjectId, offset: int, type: CType, write: bool) -> tuple[Any, ...]:
    """The row of ``type`` in an object, the offset of its last one, where to note which are accessed, the bytes in
    cells, the contents, their pages that are written, and what they have beside rows and as rows. As if there were no
    scalar when that at ``offset``, which is to be accessed now, is not to be had so."""
    facts, size = memory.facts.objects.get(id), size_of(type)
    apart = facts is not None and not facts.dense and facts.covered.keys().isdisjoint(range(offset, offset + size))
    if facts is None or not apart or facts.each or facts.size > LARGEST or offset % size or memory.is_forbidden(id):
        return (), -1, b"", (), None, b"", {}, {}
    last = memory.objects.size(Address(id, 0)) - size
    if not 0 <= offset <= last:
        return (), -1, b"", (), None, b"", {}, {}
    contents = memory.objects.contents(id, write)
    if write:
        contents.changes()
    row, accessed = contents.row((size, isinstance(type, Floating)), facts.size), facts.accesses.row(type, facts.size)
    return row, last, accessed, facts.covered.keys(), contents, contents.written, contents.others, contents.rows


def unset(contents: Contents, offset: int, of: CType) -> int | float | None:
    """A number that is not in its row; None for what is none."""
    value = contents.load(offset, of)
    if type(value) is not Known:
        return None
    return float_value(value.value) if isinstance(of, Floating) else value.value


def pointer(contents: Contents, offset: int) -> Address | None:
    """The pointer at ``offset``, into one's own memory."""
    held = contents.others.get(offset)
    return place(held[1]) if held is not None and held[0] == 8 and not held[2] else None


def address(memory: Memory, of: code.Global | code.Local | code.String) -> ObjectId:
    match of:
        case code.Global(_, name):
            return memory.objects.global_object(name)
        case code.Local(_, name):
            return memory.objects.local_object(memory.position.frame, name)
        case code.String(_, text):
            return memory.objects.string_object(text)


def ended(memory: Memory, names: Iterable[str]) -> bool:
    """End the life of objects of this call. False when that is something that others see."""
    ids = [memory.position.frame.local(name) for name in names]
    if any(memory.facts.objects[id].lent for id in ids if id in memory.facts.objects):
        return False
    for id in ids:
        memory.end_of_life(id)
    return True


def number(value: Value) -> int | None:
    return value.value if type(value) is Known else None


def real(value: Value) -> float | None:
    return float_value(value.value) if type(value) is Known else None


def place(value: Value) -> Address | None:
    """A pointer into one's own memory, to where that is known."""
    if not isinstance(value, Address) or not isinstance(value.offset, int):
        return None
    return None if value.owner is not None or not value.mapped or value.object.nameless else value


_NAMES: dict[str, Any] = {
    each.__name__: each
    for each in (computed, truncated, divided, single, scalars, ended, unset, pointer, address, number, real, place,
                 Known, Address, float_bits)
}  # fmt: skip
