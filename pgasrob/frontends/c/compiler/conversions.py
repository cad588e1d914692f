"""Compiles the conversions of C (C11, 6.3)."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.code import Binary, Convert, Move
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import NOTHING, Operand, constant, is_arithmetic, is_scalar
from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.layout import shown, with_article
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import BOOL, INT, ULONG, CType, Floating, Integer, Pointer, Struct, Void
from pgasrob.frontends.c.values import Code, Known
from pgasrob.program.expressions import CONVERSIONS as _CONVERSIONS
from pgasrob.program.expressions import Fault, float_value


@dataclass(frozen=True, slots=True)
class Conversions:
    """Converts operands; nodes are only where errors point."""

    context: Context
    emitter: Emitter

    def convert(self, operand: Operand, to: CType, node: Node) -> Operand:
        """``operand`` as a ``to``."""
        of = operand.type
        if isinstance(to, Void):
            return NOTHING
        if isinstance(of, Void):
            raise self.context.error("PG123", f"`{self.context.text(node)}` is void: it has no value", node)
        if of == to:
            return operand
        if isinstance(of, Struct) or isinstance(to, Struct):
            if isinstance(of, Struct) and isinstance(to, Struct) and of.tag == to.tag:
                return operand
            raise self.context.error("PG123", f"{with_article(of, '`')} is no `{shown(to)}`", node)
        if not is_scalar(of) or not is_scalar(to):
            raise self.context.error("PG123", f"{with_article(of, '`')} cannot become {with_article(to, '`')}", node)
        if isinstance(to, Integer) and to.boolean:
            return self.truth(operand, BOOL)
        if is_arithmetic(of) and is_arithmetic(to):
            return self._arithmetic(operand, to, node)
        if isinstance(of, Floating) or isinstance(to, Floating):
            raise self.context.error("PG123", f"{with_article(of, '`')} cannot become {with_article(to, '`')}", node)
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
        return Operand(to, self.emitter.compute(to, Move, operand.slot))

    def _arithmetic(self, operand: Operand, to: CType, node: Node) -> Operand:
        """``operand`` converted between integer and floating types (C11, 6.3.1); constants are folded."""
        of = operand.type
        if of == to:
            return operand
        if isinstance(operand.value, Known):
            try:
                return constant(convert_known(operand.value.value, of, to), to)
            except Fault as fault:
                raise self.context.error("PG123", str(fault), node) from None
        if operand.slot is None and operand.value is not None and isinstance(to, Integer) and to.type.bits == 64:
            return Operand(to, value=operand.value)
        return Operand(to, self.emitter.compute(to, Convert, self.emitter.slot_of(operand), of, to))

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
            return constant(int(truth), type)
        if isinstance(operand.value, Code):
            return constant(1, type)
        slot = self.emitter.new_slot(type)
        value, zero = self.emitter.slot_of(operand), self.emitter.slot_of(constant(0, operand.type))
        self.emitter.emit(Binary(slot, "!=", value, zero, operand.type))
        return Operand(type, slot)

    def common_type(self, left: CType, right: CType) -> CType:
        """The type of the usual arithmetic conversions (C11, 6.3.1.8)."""
        if isinstance(left, Floating) or isinstance(right, Floating):
            bits = max(type.bits for type in (left, right) if isinstance(type, Floating))
            return Floating(bits)
        assert isinstance(left, Integer) and isinstance(right, Integer)
        left, right = (INT if type.type.bits < 32 else type for type in (left, right))
        assert isinstance(left, Integer) and isinstance(right, Integer)
        if left.type.bits != right.type.bits:
            return left if left.type.bits > right.type.bits else right
        return right if left.type.signed else left


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
