"""The values and places that expressions are compiled to, and the interface of the compiler of expressions."""

from __future__ import annotations

from typing import Protocol

from pgasrob.frontends.c.code import Slot
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import INT, VOID, CType, Floating, Integer, Opaque, Pointer
from pgasrob.frontends.c.values import Known, Value
from pgasrob.program.value_classes import record


@record
class Operand:
    """A value: in ``slot``, or a constant. That of a struct is its address. Of type void: neither."""

    type: CType
    slot: Slot | None = None
    value: Value | None = None


@record
class SlotPlace:
    slot: Slot
    type: CType


@record
class MemoryPlace:
    """``offset`` bytes after what the pointer in ``slot`` points to."""

    slot: Slot
    type: CType
    offset: int = 0


Place = SlotPlace | MemoryPlace
NOTHING = Operand(VOID)


def constant(value: int, type: CType = INT) -> Operand:
    return Operand(type, value=Known(value))


def is_scalar(type: CType) -> bool:
    return isinstance(type, Integer | Floating | Pointer | Opaque)


def is_arithmetic(type: CType) -> bool:
    return isinstance(type, Integer | Floating)


class Evaluator(Protocol):
    """Compiles expressions. The parts of the compiler that meet expressions inside of expressions use it."""

    def value(self, node: Node) -> Operand:
        """The code of ``node``, and its value."""

    def scalar(self, node: Node) -> Operand:
        """`value`, which must be a number, a pointer, or an opaque value."""

    def integer(self, node: Node) -> Operand:
        """`value`, which must be an integer."""

    def type_of(self, node: Node) -> CType:
        """The type of the value of ``node``, without its code."""

    def type_of_place(self, node: Node) -> CType:
        """The type of ``node`` where arrays are no pointers."""
