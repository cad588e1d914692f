"""Compiles loads, stores, and the binary operators of C on operands."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.code import Binary, Copy, Difference, Load, Offset, Slot, Store, Stride
from pgasrob.frontends.c.compiler.conversions import Conversions, convert_known
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import (
    NOTHING,
    MemoryPlace,
    Operand,
    Place,
    SlotPlace,
    constant,
    is_arithmetic,
    is_scalar,
)
from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.layout import size_of, with_article
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import (
    INT,
    LONG,
    SIZE,
    Array,
    CType,
    Floating,
    Function,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from pgasrob.frontends.c.values import Known
from pgasrob.program.expressions import OPERATORS, Fault

_RELATIONS = ("<", ">", "<=", ">=", "==", "!=")


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations on operands and places; nodes are only where errors point."""

    context: Context
    emitter: Emitter
    conversions: Conversions

    def load(self, place: Place, node: Node) -> Operand:
        """The value at ``place``: an array is the address of its first element."""
        if isinstance(place, SlotPlace):
            return Operand(place.type, place.slot)
        type = self.context.defined_type(place.type, node)
        match type:
            case Array(of):
                return Operand(Pointer(of), self.pointer_to(place))
            case Struct():
                return Operand(type, self.pointer_to(place))
            case Function():
                return Operand(Pointer(type), place.slot)
            case Void():
                return NOTHING
        slot = self.emitter.new_slot(type)
        self.emitter.emit(Load(slot, self.pointer_to(place), type))
        return Operand(type, slot)

    def pointer_to(self, place: MemoryPlace) -> Slot:
        if place.offset == 0:
            return place.slot
        return self.emitter.compute(Pointer(place.type), Offset, place.slot, None, 1, place.offset)

    def assign(self, place: Place, operand: Operand, node: Node) -> Operand:
        """``place`` := ``operand`` converted; the value that the assignment has."""
        type = self.context.complete(place.type)
        if isinstance(type, Struct):
            assert isinstance(place, MemoryPlace)
            source = self.conversions.convert(operand, type, node)
            target = self.pointer_to(place)
            self.emitter.emit(Copy(target, self.emitter.slot_of(source), type))
            return Operand(type, target)
        if not is_scalar(type):
            raise self.context.error("PG123", f"{with_article(type)} cannot be assigned", node)
        converted = self.conversions.convert(operand, type, node)
        if isinstance(place, SlotPlace):
            self.emitter.move(place.slot, converted)
            return Operand(type, place.slot)
        source_slot = self.emitter.slot_of(converted)
        self.emitter.emit(Store(self.pointer_to(place), source_slot, type))
        return Operand(type, source_slot)

    def size(self, type: CType, node: Node) -> Operand:
        """The bytes of a ``type``; an error where it has no size."""
        type = self.context.defined_type(type, node)
        if isinstance(type, Array) and type.bytes is not None:
            return Operand(SIZE, type.bytes)
        self.context.need_length(type, node)
        return constant(size_of(type), SIZE)

    def element(self, pointer: Operand, index: Operand, node: Node) -> MemoryPlace:
        """What lies ``index`` elements behind ``pointer``."""
        assert isinstance(pointer.type, Pointer)
        of, size = self.context.complete(pointer.type.to), self.size(pointer.type.to, node)
        if isinstance(index.value, Known) and isinstance(size.value, Known):
            return MemoryPlace(self.emitter.slot_of(pointer), of, index.value.value * size.value.value)
        return MemoryPlace(self.offset(pointer, index, node), of)

    def offset(self, pointer: Operand, index: Operand, node: Node, sign: int = 1) -> Slot:
        """``pointer`` + ``index`` elements."""
        assert isinstance(pointer.type, Pointer)
        size = self.size(pointer.type.to, node)
        base = self.emitter.slot_of(pointer)
        if isinstance(index.value, Known) and isinstance(size.value, Known):
            return self.emitter.compute(pointer.type, Offset, base, None, size.value.value, sign * index.value.value)
        position = self.emitter.slot_of(self.conversions.convert(index, LONG, node))
        if isinstance(size.value, Known):
            return self.emitter.compute(pointer.type, Offset, base, position, sign * size.value.value)
        return self.emitter.compute(pointer.type, Stride, base, position, self.emitter.slot_of(size), sign)

    def binary(self, sign: str, left: Operand, right: Operand, node: Node) -> Operand:
        """``left`` ``sign`` ``right``, after the usual arithmetic conversions (C11, 6.3.1.8)."""
        if isinstance(left.type, Pointer | Opaque) or isinstance(right.type, Pointer | Opaque):
            return self._on_pointers(sign, left, right, node)
        if not is_arithmetic(left.type) or not is_arithmetic(right.type):
            wrong = right if is_arithmetic(left.type) else left
            raise self.context.error("PG123", f"`{sign}` needs numbers, not {with_article(wrong.type)}", node)
        if sign in ("<<", ">>"):
            left = self.conversions.promoted(left, node)
            if not isinstance(left.type, Integer) or not isinstance(right.type, Integer):
                raise self.context.error("PG123", f"`{sign}` needs integers", node)
            return self._computed(sign, left, self.conversions.convert(right, INT, node), left.type, left.type)
        type = self.conversions.common_type(left.type, right.type)
        if sign in ("%", "&", "|", "^") and not isinstance(type, Integer):
            raise self.context.error("PG123", f"`{sign}` needs integers, not {with_article(type)}", node)
        result = INT if sign in _RELATIONS else type
        return self._computed(
            sign, self.conversions.convert(left, type, node), self.conversions.convert(right, type, node), type, result
        )

    def _computed(self, sign: str, left: Operand, right: Operand, type: CType, result: CType) -> Operand:
        if isinstance(left.value, Known) and isinstance(right.value, Known):
            folded = self._folded(sign, left.value.value, right.value.value, type)
            if folded is not None:
                return Operand(result, value=Known(folded))
        first, second = self.emitter.slot_of(left), self.emitter.slot_of(right)
        return Operand(result, self.emitter.compute(result, Binary, sign, first, second, type))

    def _folded(self, sign: str, left: int, right: int, type: CType) -> int | None:
        """None where C does not define the value: then the machine reports it when it comes there."""
        if isinstance(type, Integer):
            try:
                return OPERATORS[sign](left, right, type.type)
            except Fault:
                return None
        if isinstance(type, Floating):
            value = OPERATORS[f"{sign}."](left, right, LONG.type)
            return value if sign in _RELATIONS else convert_known(value, type, type)
        return None

    def _on_pointers(self, sign: str, left: Operand, right: Operand, node: Node) -> Operand:
        """Comparisons, sums and differences with a pointer or opaque value (C11, 6.5.6, 6.5.8, 6.5.9)."""
        if sign in _RELATIONS:
            type = next(
                each for kind in (Opaque, Pointer) for each in (left.type, right.type) if isinstance(each, kind)
            )
            left, right = self.conversions.convert(left, type, node), self.conversions.convert(right, type, node)
            if left.value is not None and right.value is not None and sign in ("==", "!="):
                return constant(int((left.value == right.value) == (sign == "==")))
            first, second = self.emitter.slot_of(left), self.emitter.slot_of(right)
            return Operand(INT, self.emitter.compute(INT, Binary, sign, first, second, type))
        if sign == "+" and isinstance(left.type, Integer) and isinstance(right.type, Pointer):
            left, right = right, left
        if isinstance(left.type, Pointer) and isinstance(right.type, Integer) and sign in ("+", "-"):
            return Operand(left.type, self.offset(left, right, node, 1 if sign == "+" else -1))
        if isinstance(left.type, Pointer) and isinstance(right.type, Pointer) and sign == "-":
            size = self.size(left.type.to, node)
            first, second = self.emitter.slot_of(left), self.emitter.slot_of(right)
            if isinstance(size.value, Known):
                return Operand(LONG, self.emitter.compute(LONG, Difference, first, second, max(size.value.value, 1)))
            bytes = Operand(LONG, self.emitter.compute(LONG, Difference, first, second, 1))
            return self.binary("/", bytes, self.conversions.convert(size, LONG, node), node)
        raise self.context.error(
            "PG123", f"`{sign}` cannot combine {with_article(left.type)} and {with_article(right.type)}", node
        )
