"""What is done with values and places once they are there: loads, stores, and the operators of C on operands."""

from __future__ import annotations

from pgasrob.frontends.c.code import (
    Binary,
    Copy,
    Difference,
    Load,
    Local,
    Object,
    Offset,
    Slot,
    Store,
)
from pgasrob.frontends.c.compiler.emitter import (
    NOTHING,
    MemoryPlace,
    Operand,
    Place,
    SlotPlace,
    is_arithmetic,
    is_scalar,
)
from pgasrob.frontends.c.compiler.types import Types
from pgasrob.frontends.c.layout import shown, size_of
from pgasrob.frontends.c.parser import Node
from pgasrob.frontends.c.types import (
    INT,
    LONG,
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
from pgasrob.program.expressions import OPERATORS, Fault, float_bits, float_value

_RELATIONS = ("<", ">", "<=", ">=", "==", "!=")


class Operations(Types):
    """Operations on operands and places; nodes are only where errors point."""

    def new_object(self, name: str, type: CType, node: Node) -> str:
        """A local object; its name gets the line when there is another one of that name."""
        unique = name
        if unique in self.objects:
            unique = f"{name}@{self.context.token(node).place.line}"
        count = 1
        while unique in self.objects:
            count += 1
            unique = f"{name}@{self.context.token(node).place.line}.{count}"
        self.objects[unique] = Object(unique, type, span=self.context.span(node))
        return unique

    def address_of_local(self, name: str) -> MemoryPlace:
        type = self.objects[name].type
        slot = self.new_slot(Pointer(type))
        self.emit(Local(slot, name))
        return MemoryPlace(slot, type)

    def load(self, place: Place, node: Node) -> Operand:
        """The value at ``place``: an array is the address of its first element."""
        if isinstance(place, SlotPlace):
            return Operand(place.type, place.slot)
        type = self.context.complete(place.type)
        match type:
            case Array(of):
                return Operand(Pointer(of), self.pointer_to(place))
            case Struct():
                if type.tag not in self.context.structs and not type.fields:
                    raise self.context.error("PG122", f"`struct {type.tag}` has no definition", node)
                return Operand(type, self.pointer_to(place))
            case Function():
                return Operand(Pointer(type), place.slot)
            case Void():
                return NOTHING
        slot = self.new_slot(type)
        self.emit(Load(slot, self.pointer_to(place), type))
        return Operand(type, slot)

    def pointer_to(self, place: MemoryPlace) -> Slot:
        if place.offset == 0:
            return place.slot
        slot = self.new_slot(Pointer(place.type))
        self.emit(Offset(slot, place.slot, None, 1, place.offset))
        return slot

    def assign(self, place: Place, operand: Operand, node: Node) -> Operand:
        """``place`` := ``operand`` converted; the value that the assignment has."""
        type = self.context.complete(place.type)
        if isinstance(type, Struct):
            assert isinstance(place, MemoryPlace)
            source = self.convert(operand, type, node)
            target = self.pointer_to(place)
            self.emit(Copy(target, self.slot_of(source), type))
            return Operand(type, target)
        if not is_scalar(type):
            raise self.context.error("PG123", f"a {shown(type)} cannot be assigned", node)
        converted = self.convert(operand, type, node)
        if isinstance(place, SlotPlace):
            self.move(place.slot, converted)
            return Operand(type, place.slot)
        source_slot = self.slot_of(converted)
        self.emit(Store(self.pointer_to(place), source_slot, type))
        return Operand(type, source_slot)

    def sized(self, pointer: Pointer, node: Node) -> CType:
        """What ``pointer`` points to, which must have a size."""
        type = self.context.complete(pointer.to)
        if isinstance(type, Struct) and type.tag not in self.context.structs and not type.fields:
            raise self.context.error("PG122", f"`struct {type.tag}` has no definition", node)
        if isinstance(type, Array) and type.length is None:
            raise self.context.error("PG124", "the length of this array is not given", node)
        return type

    def offset(self, pointer: Operand, index: Operand, node: Node, sign: int = 1) -> Slot:
        """``pointer`` + ``index`` elements."""
        assert isinstance(pointer.type, Pointer)
        size = size_of(self.sized(pointer.type, node))
        base = self.slot_of(pointer)
        if isinstance(index.value, Known):
            slot = self.new_slot(pointer.type)
            self.emit(Offset(slot, base, None, size, sign * index.value.value))
            return slot
        position = self.slot_of(self.convert(index, LONG, node))
        slot = self.new_slot(pointer.type)
        self.emit(Offset(slot, base, position, sign * size))
        return slot

    def binary(self, sign: str, left: Operand, right: Operand, node: Node) -> Operand:
        """``left`` ``sign`` ``right``, after the usual arithmetic conversions (C11, 6.3.1.8)."""
        if isinstance(left.type, Pointer | Opaque) or isinstance(right.type, Pointer | Opaque):
            return self._on_pointers(sign, left, right, node)
        if not is_arithmetic(left.type) or not is_arithmetic(right.type):
            wrong = right if is_arithmetic(left.type) else left
            raise self.context.error("PG123", f"`{sign}` needs numbers, not a {shown(wrong.type)}", node)
        if sign in ("<<", ">>"):
            left = self.promoted(left, node)
            if not isinstance(left.type, Integer) or not isinstance(right.type, Integer):
                raise self.context.error("PG123", f"`{sign}` needs integers", node)
            return self._computed(sign, left, self.convert(right, INT, node), left.type, left.type)
        type = self.common_type(left.type, right.type)
        if sign in ("%", "&", "|", "^") and not isinstance(type, Integer):
            raise self.context.error("PG123", f"`{sign}` needs integers, not a {shown(type)}", node)
        result = INT if sign in _RELATIONS else type
        return self._computed(sign, self.convert(left, type, node), self.convert(right, type, node), type, result)

    def common_type(self, left: CType, right: CType) -> CType:
        if isinstance(left, Floating) or isinstance(right, Floating):
            bits = max(type.bits for type in (left, right) if isinstance(type, Floating))
            return Floating(bits)
        assert isinstance(left, Integer) and isinstance(right, Integer)
        left, right = (INT if type.type.bits < 32 else type for type in (left, right))
        assert isinstance(left, Integer) and isinstance(right, Integer)
        if left.type.bits != right.type.bits:
            return left if left.type.bits > right.type.bits else right
        return right if left.type.signed else left

    def _computed(self, sign: str, left: Operand, right: Operand, type: CType, result: CType) -> Operand:
        if isinstance(left.value, Known) and isinstance(right.value, Known):
            folded = self._folded(sign, left.value.value, right.value.value, type)
            if folded is not None:
                return Operand(result, value=Known(folded))
        first, second = self.slot_of(left), self.slot_of(right)
        slot = self.new_slot(result)
        self.emit(Binary(slot, sign, first, second, type))
        return Operand(result, slot)

    def _folded(self, sign: str, left: int, right: int, type: CType) -> int | None:
        """None where C does not define the value: then the machine reports it when it comes there."""
        if isinstance(type, Integer):
            try:
                return OPERATORS[sign](left, right, type.type)
            except Fault:
                return None
        if isinstance(type, Floating):
            value = OPERATORS[f"{sign}."](left, right, LONG.type)
            if sign not in _RELATIONS and type.bits == 32:
                value = float_bits(_single(float_value(value)))
            return value
        return None

    def _on_pointers(self, sign: str, left: Operand, right: Operand, node: Node) -> Operand:
        if sign in _RELATIONS:
            type = left.type if isinstance(left.type, Pointer | Opaque) else right.type
            if isinstance(left.type, Opaque) or isinstance(right.type, Opaque):
                type = left.type if isinstance(left.type, Opaque) else right.type
            left, right = self.convert(left, type, node), self.convert(right, type, node)
            if left.value is not None and right.value is not None and sign in ("==", "!="):
                return self.constant(int((left.value == right.value) == (sign == "==")))
            first, second = self.slot_of(left), self.slot_of(right)
            slot = self.new_slot(INT)
            self.emit(Binary(slot, sign, first, second, type))
            return Operand(INT, slot)
        if sign == "+" and isinstance(left.type, Integer) and isinstance(right.type, Pointer):
            left, right = right, left
        if isinstance(left.type, Pointer) and isinstance(right.type, Integer) and sign in ("+", "-"):
            return Operand(left.type, self.offset(left, right, node, 1 if sign == "+" else -1))
        if isinstance(left.type, Pointer) and isinstance(right.type, Pointer) and sign == "-":
            size = size_of(self.sized(left.type, node))
            first, second = self.slot_of(left), self.slot_of(right)
            slot = self.new_slot(LONG)
            self.emit(Difference(slot, first, second, max(size, 1)))
            return Operand(LONG, slot)
        raise self.context.error(
            "PG123", f"`{sign}` cannot combine a {shown(left.type)} and a {shown(right.type)}", node
        )


def _single(value: float) -> float:
    import struct

    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return value
    return float(single)
