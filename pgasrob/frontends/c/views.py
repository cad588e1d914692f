"""Parts of cells: a scalar that is narrower than the cell around it, as an expression over what the cell holds."""

from __future__ import annotations

from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import Integer
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register, Unary

WORD = IntType(64, False)


def extracted(cell: Register, size: int, at: int, type: Integer) -> Expr:
    """The integer of ``type`` that lies ``at`` bytes into the ``cell`` of ``size`` bytes."""
    bits = IntType(8 * size, False)
    whole = Unary("cast", cell, bits)
    moved = Binary(">>", whole, Const(8 * at), bits) if at else whole
    if type.boolean:
        return Binary("!=", Unary("cast", moved, IntType(8, False)), Const(0))
    return Unary("cast", moved, type.type)


def turned(cell: Register, at: int, value: Expr, type: Integer) -> Expr:
    """The bits of ``cell`` that are others when ``value``, of ``type``, comes to lie ``at`` bytes into it."""
    held = Unary("cast", cell, WORD)
    if at:
        held = Binary(">>", held, Const(8 * at), WORD)  # type: ignore[assignment]
    other = Binary("&", Binary("^", held, value, WORD), Const((1 << 8 * size_of(type)) - 1), WORD)
    return Binary("<<", other, Const(8 * at), WORD) if at else other
