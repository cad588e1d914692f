"""Instructions in the making: slots, labels that are places only in the end, and conversions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from pgasrob.frontends.c.code import (
    Binary,
    Branch,
    Clear,
    Convert,
    Copy,
    Instruction,
    Join,
    Jump,
    LoopHead,
    Move,
    Object,
    Return,
    Set,
    Slot,
    Store,
    Variable,
)
from pgasrob.frontends.c.compiler.scopes import Context, Scope
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.parser import Node
from pgasrob.frontends.c.types import (
    BOOL,
    INT,
    ULONG,
    VOID,
    CType,
    Floating,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from pgasrob.frontends.c.values import UNDEFINED, Code, Known, Value
from pgasrob.program.expressions import CONVERSIONS as _CONVERSIONS
from pgasrob.program.expressions import Fault, float_value
from pgasrob.program.statements import NOWHERE, Span

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Operand:
    """A value: in ``slot``, or a constant. That of a struct is its address. Of type void: neither."""

    type: CType
    slot: Slot | None = None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class SlotPlace:
    slot: Slot
    type: CType


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """``offset`` bytes behind what the pointer in ``slot`` points to."""

    slot: Slot
    type: CType
    offset: int = 0


Place = SlotPlace | MemoryPlace
NOTHING = Operand(VOID)


def is_scalar(type: CType) -> bool:
    return isinstance(type, Integer | Floating | Pointer | Opaque)


def is_arithmetic(type: CType) -> bool:
    return isinstance(type, Integer | Floating)


class Emitter:
    """The code of one function, as far as it is there."""

    def __init__(self, context: Context, name: str, scope: Scope) -> None:
        self.context = context
        self.name = name
        self.scope = scope
        self.slots: list[Variable] = []
        self.objects: dict[str, Object] = {}
        self.code: list[Instruction] = []
        self.spans: list[Span] = []
        self.span: Span = NOWHERE
        self.labels: list[int] = []
        self.placed_at = -1
        self.loop_ranges: list[tuple[int, int, int]] = []
        self._types: dict[int, CType] = {}

    # Instructions

    def emit(self, instruction: Instruction) -> None:
        self.code.append(instruction)
        self.spans.append(self.span)

    @contextmanager
    def at(self, node: Node) -> Iterator[None]:
        """Instructions come from ``node``."""
        before, self.span = self.span, self.context.span(node)
        try:
            yield
        finally:
            self.span = before

    def new_slot(self, type: CType, name: str | None = None) -> Slot:
        self.slots.append(Variable(name, type))
        return len(self.slots) - 1

    def new_label(self) -> int:
        self.labels.append(-1)
        return len(self.labels) - 1

    def place(self, label: int) -> None:
        self.labels[label] = self.placed_at = len(self.code)

    def jump(self, label: int) -> None:
        self.emit(Jump(label))

    def join(self) -> None:
        self.emit(Join())

    def begin_loop(self) -> tuple[int, int]:
        """A loop begins here: its number, and the place of its head."""
        self.context.loops += 1
        self.placed_at = len(self.code)
        self.emit(LoopHead(self.context.loops))
        return self.context.loops, len(self.code) - 1

    def end_loop(self, begun: tuple[int, int]) -> None:
        self.loop_ranges.append((*begun, len(self.code)))

    def scratch(self, node: Node, compute: Callable[[], T]) -> tuple[T, list[Instruction]]:
        """What ``compute`` gives and the code that it emits, without that code in the function."""
        state = len(self.code), len(self.slots), len(self.labels), len(self.loop_ranges), self.placed_at
        objects, loops = dict(self.objects), self.context.loops
        try:
            found = compute()
            return found, self.code[state[0] :]
        finally:
            del self.code[state[0] :], self.spans[state[0] :], self.slots[state[1] :], self.labels[state[2] :]
            del self.loop_ranges[state[3] :]
            self.placed_at = state[4]
            self.objects, self.context.loops = objects, loops

    # Values

    def constant(self, value: int, type: CType = INT) -> Operand:
        return Operand(type, value=Known(value))

    def slot_of(self, operand: Operand) -> Slot:
        """The slot of ``operand``; a constant gets one."""
        if operand.slot is not None:
            return operand.slot
        slot = self.new_slot(operand.type)
        self.emit(Set(slot, UNDEFINED if operand.value is None else operand.value, operand.type))
        return slot

    def move(self, slot: Slot, operand: Operand) -> None:
        """``slot`` := ``operand``, by the instruction that computed it if it was the last."""
        if operand.slot is None:
            self.emit(Set(slot, UNDEFINED if operand.value is None else operand.value, operand.type))
            return
        last = self.code[-1] if self.code else None
        fresh = self.slots[operand.slot].name is None and self.placed_at < len(self.code)
        if fresh and last is not None and getattr(last, "target", None) == operand.slot:
            assert not isinstance(last, Store | Copy | Clear | Jump | Branch | LoopHead | Join | Return)
            if not isinstance(last, Move):
                self.code[-1] = replace(last, target=slot)
                return
        if operand.slot != slot:
            self.emit(Move(slot, operand.slot))

    # Conversions

    def convert(self, operand: Operand, to: CType, node: Node, explicit: bool = False) -> Operand:
        """``operand`` as a ``to``; ``explicit``: by a cast."""
        of = operand.type
        if isinstance(to, Void):
            return NOTHING
        if isinstance(of, Void):
            raise self.context.error("PG123", "this has no value", node)
        if of == to:
            return operand
        if isinstance(of, Struct) or isinstance(to, Struct):
            if isinstance(of, Struct) and isinstance(to, Struct) and of.tag == to.tag:
                return operand
            raise self.context.error("PG123", f"a `{shown(of)}` is no `{shown(to)}`", node)
        if not is_scalar(of) or not is_scalar(to):
            raise self.context.error("PG123", f"a `{shown(of)}` cannot become a `{shown(to)}`", node)
        if isinstance(to, Integer) and to.boolean:
            return self.truth(operand, BOOL)
        if is_arithmetic(of) and is_arithmetic(to):
            return self._arithmetic(operand, to, node)
        if isinstance(of, Floating) or isinstance(to, Floating):
            raise self.context.error("PG123", f"a `{shown(of)}` cannot become a `{shown(to)}`", node)
        if isinstance(of, Integer):
            operand = self._arithmetic(operand, ULONG, node)
            return self._renamed(operand, to)
        if isinstance(to, Integer):
            return self._arithmetic(self._renamed(operand, ULONG), to, node)
        if isinstance(of, Pointer) and isinstance(to, Pointer):
            return Operand(to, operand.slot, operand.value)
        return self._renamed(operand, to)

    def _renamed(self, operand: Operand, to: CType) -> Operand:
        """The same value with another type: pointers, integers and opaque values into each other."""
        if operand.slot is None:
            return Operand(to, value=operand.value)
        slot = self.new_slot(to)
        self.emit(Move(slot, operand.slot))
        return Operand(to, slot)

    def _arithmetic(self, operand: Operand, to: CType, node: Node) -> Operand:
        of = operand.type
        if of == to:
            return operand
        if isinstance(operand.value, Known):
            try:
                return Operand(to, value=Known(convert_known(operand.value.value, of, to)))
            except Fault as fault:
                raise self.context.error("PG123", str(fault), node) from None
        if operand.slot is None and operand.value is not None and isinstance(to, Integer) and to.type.bits == 64:
            return Operand(to, value=operand.value)
        source = self.slot_of(operand)
        slot = self.new_slot(to)
        self.emit(Convert(slot, source, of, to))
        return Operand(to, slot)

    def promoted(self, operand: Operand, node: Node) -> Operand:
        """The integer promotions (C11, 6.3.1.1)."""
        if isinstance(operand.type, Integer) and operand.type.type.bits < 32:
            return self.convert(operand, INT, node)
        return operand

    def truth(self, operand: Operand, type: CType = INT) -> Operand:
        """Whether a scalar differs from zero, as 0 or 1."""
        if isinstance(operand.value, Known):
            number = operand.value.value
            truth = float_value(number) != 0 if isinstance(operand.type, Floating) else number != 0
            return Operand(type, value=Known(int(truth)))
        if isinstance(operand.value, Code):
            return Operand(type, value=Known(1))
        slot = self.new_slot(type)
        left = self.slot_of(operand)
        zero_slot = self.slot_of(Operand(operand.type, value=Known(0)))
        self.emit(Binary(slot, "!=", left, zero_slot, operand.type))
        return Operand(type, slot)

    # The end

    def finished(self) -> list[Instruction]:
        """The code with labels resolved, and with what loops each branch leaves."""
        code = list(self.code)
        for index, instruction in enumerate(code):
            if isinstance(instruction, Jump):
                code[index] = Jump(self.labels[instruction.to])
            elif isinstance(instruction, Branch):
                code[index] = replace(instruction, yes=self.labels[instruction.yes], no=self.labels[instruction.no])
        leaving: dict[int, list[int]] = {}
        for loop, head, end in self.loop_ranges:
            staying = _reaching(code, head, end)
            for index in range(head, end):
                instruction = code[index]
                if isinstance(instruction, Branch) and (instruction.yes in staying) != (instruction.no in staying):
                    leaving.setdefault(index, []).append(loop)
        for index, loops in leaving.items():
            branch = code[index]
            assert isinstance(branch, Branch)
            code[index] = replace(branch, leaves=tuple(sorted(loops)))
        return code


def _reaching(code: list[Instruction], head: int, end: int) -> set[int]:
    """The places from ``head`` to ``end`` from which ``head`` is reached without leaving them."""
    from pgasrob.frontends.c.liveness import successors

    before: dict[int, list[int]] = {}
    for index in range(head, end):
        for following in successors(code, index):
            if head <= following < end:
                before.setdefault(following, []).append(index)
    reached = {head}
    pending = [head]
    while pending:
        for index in before.get(pending.pop(), ()):
            if index not in reached:
                reached.add(index)
                pending.append(index)
    return reached


def convert_known(value: int, of: CType, to: CType) -> int:
    """An arithmetic constant converted; a float's is the bits of a double."""
    match of, to:
        case Integer(), Integer(type):
            return type.wrap(value)
        case Integer(), Floating(bits):
            double = _CONVERSIONS["float"](value, ULONG.type)
            return _CONVERSIONS["float32"](double, ULONG.type) if bits == 32 else double
        case Floating(), Floating(bits):
            return _CONVERSIONS["float32"](value, ULONG.type) if bits == 32 else value
        case Floating(), Integer(type):
            return _CONVERSIONS["int"](value, type)
        case _:
            raise AssertionError(of, to)
