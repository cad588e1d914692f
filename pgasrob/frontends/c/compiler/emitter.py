"""The code of a function while it is made: instructions, slots, objects, and labels that become places at the end."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Concatenate, ParamSpec, TypeVar

from pgasrob.frontends.c.code import (
    Branch,
    Call,
    Clear,
    Copy,
    Instruction,
    Join,
    Jump,
    Leave,
    Local,
    LoopHead,
    Move,
    Object,
    Region,
    Return,
    Set,
    Slot,
    Store,
    Variable,
)
from pgasrob.frontends.c.compiler.operands import MemoryPlace, Operand
from pgasrob.frontends.c.compiler.scopes import Context, Scope
from pgasrob.frontends.c.liveness import successors
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import SIZE, VOID, CType, Pointer
from pgasrob.frontends.c.values import UNDEFINED
from pgasrob.program.graphs import reached_by
from pgasrob.program.statements import NOWHERE, Span

P = ParamSpec("P")
T = TypeVar("T")


class Emitter:
    """The code of one function so far."""

    def __init__(self, context: Context, name: str, scope: Scope) -> None:
        self.context = context
        self.name = name
        self.scope = self.outermost = scope
        self.slots: list[Variable] = []
        self.objects: dict[str, Object] = {}
        self.sized: dict[str, Slot] = {}
        self.code: list[Instruction] = []
        self.spans: list[Span] = []
        self.span: Span = NOWHERE
        self.labels: list[int] = []
        self.placed_at = -1
        self.loop_ranges: list[tuple[int, int, int]] = []
        self.loops_open = 0
        self.regions: list[Region] = []

    # Instructions

    def emit(self, instruction: Instruction) -> None:
        self.code.append(instruction)
        self.spans.append(self.span)

    @contextmanager
    def at(self, node: Node) -> Iterator[None]:
        """A context in which instructions get the source position of ``node``."""
        before, self.span = self.span, self.context.span(node)
        try:
            yield
        finally:
            self.span = before

    @contextmanager
    def block(self, node: Node) -> Iterator[Scope]:
        """A context in which names belong to a block of their own, that of ``node``. It gives the block around."""
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            yield outer
            if not self.code or self.placed_at == len(self.code) or not isinstance(self.code[-1], Jump | Return):
                self.leave(outer, Node("", node.last, node.last))
        finally:
            self.scope = outer

    def leave(self, until: Scope, node: Node) -> None:
        """Emit that the blocks inside of ``until`` are left, at ``node``."""
        names = self.ending([*until.outwards()])
        if names:
            with self.at(node):
                self.emit(Leave(names))

    def ending(self, staying: Container[Scope]) -> tuple[str, ...]:
        """The objects declared so far in the open blocks, except those of ``staying`` blocks."""
        left = (each for each in self.scope.outwards() if each not in staying)
        return tuple(name for each in left for name in each.objects if name in self.objects or name in self.sized)

    def new_slot(self, type: CType, name: str | None = None) -> Slot:
        self.slots.append(Variable(name, type))
        return len(self.slots) - 1

    def new_label(self) -> int:
        self.labels.append(-1)
        return len(self.labels) - 1

    def new_labels(self, count: int) -> list[int]:
        return [self.new_label() for _ in range(count)]

    def place(self, label: int) -> None:
        self.labels[label] = self.placed_at = len(self.code)

    def jump(self, label: int) -> None:
        self.emit(Jump(label))

    def join(self) -> None:
        self.emit(Join())

    def begin_loop(self) -> tuple[int, int]:
        """A loop begins here: its number, and the place of its head."""
        self.context.loops += 1
        self.loops_open += 1
        self.placed_at = len(self.code)
        self.emit(LoopHead(self.context.loops))
        return self.context.loops, len(self.code) - 1

    def end_loop(self, begun: tuple[int, int], repeats: bool = True) -> None:
        """A loop ends here. If it never ``repeats`` it is no loop, and its head becomes a join."""
        self.loops_open -= 1
        if repeats:
            self.loop_ranges.append((*begun, len(self.code)))
        else:
            self.code[begun[1]] = Join()

    def jump_back(self, begun: tuple[int, int]) -> None:
        """A loop that is made with a label reaches to here, at least."""
        self.loop_ranges = [each for each in self.loop_ranges if each[0] != begun[0]]
        self.loop_ranges.append((*begun, len(self.code)))

    def scratch(self, compute: Callable[[], T]) -> tuple[T, list[Instruction]]:
        """The result of ``compute`` and the code that it emits, which does not stay in the function."""
        state = len(self.code), len(self.slots), len(self.labels), len(self.loop_ranges), self.placed_at
        objects, sized, loops = dict(self.objects), dict(self.sized), self.context.loops
        regions = len(self.regions)
        try:
            found = compute()
            return found, self.code[state[0] :]
        finally:
            del self.code[state[0] :], self.spans[state[0] :], self.slots[state[1] :], self.labels[state[2] :]
            del self.loop_ranges[state[3] :]
            del self.regions[regions:]
            self.placed_at = state[4]
            self.objects, self.sized, self.context.loops = objects, sized, loops

    # Objects

    def new_object(self, name: str, type: CType, node: Node) -> str:
        """A local object; the name that it gets."""
        unique = self.context.unique(name, self.objects, node)
        self.objects[unique] = Object(unique, type, span=self.context.span(node))
        self.scope.objects[unique] = None
        return unique

    def new_sized(self, name: str, slot: Slot) -> None:
        """A local array ``name`` whose length is not known here, with its address in ``slot``."""
        unique = f"{name}[{slot}]"  # no name of an object
        self.sized[unique] = slot
        self.scope.objects[unique] = None

    def address_of_local(self, name: str) -> MemoryPlace:
        type = self.objects[name].type
        return MemoryPlace(self.compute(Pointer(type), Local, name), type)

    def allocate(self, size: Operand, pointer: Pointer, text: str, name: str | None = None) -> Slot:
        """Memory of ``size`` bytes until the function returns: the slot (the variable ``name``) with its address."""
        bytes = self.slot_of(size)
        slot = self.new_slot(pointer, name)
        self.emit(Call(slot, "__alloca", (bytes,), (SIZE,), Pointer(VOID), (text,)))
        return slot

    # Values

    def compute(
        self, type: CType, make: Callable[Concatenate[Slot, P], Instruction], *parts: P.args, **named: P.kwargs
    ) -> Slot:
        """A new slot of ``type``, and the instruction that ``make`` makes of it and ``parts`` to compute it."""
        slot = self.new_slot(type)
        self.emit(make(slot, *parts, **named))
        return slot

    def slot_of(self, operand: Operand) -> Slot:
        """The slot of ``operand``; a constant gets one."""
        if operand.slot is not None:
            return operand.slot
        return self.compute(operand.type, Set, UNDEFINED if operand.value is None else operand.value, operand.type)

    def move(self, slot: Slot, operand: Operand) -> None:
        """``slot`` := ``operand``, by the instruction that computed it if it was the last."""
        if operand.slot is None:
            self.emit(Set(slot, UNDEFINED if operand.value is None else operand.value, operand.type))
            return
        last = self.code[-1] if self.code else None
        fresh = self.slots[operand.slot].name is None and self.placed_at < len(self.code)
        if fresh and last is not None and getattr(last, "target", None) == operand.slot:
            assert not isinstance(last, Store | Copy | Clear | Jump | Branch | LoopHead | Join | Leave | Return)
            if not isinstance(last, Move):
                self.code[-1] = replace(last, target=slot)
                return
        if operand.slot != slot:
            self.emit(Move(slot, operand.slot))

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
    places = range(head, end)
    return reached_by(((after, index) for index in places for after in successors(code, index)), [head])
