"""Conditions on the square root of an unknown value, as conditions on that value.

The calculus computes no roots. But a correctly rounded root never falls where its number grows, nor do sums with a
constant and products with one change that there is one number from which on a relation holds, or no longer holds."""

from __future__ import annotations

import math
from bisect import bisect_left

from pgasrob.frontends.c.nondeterminism import Leaf, leaves, replaced
from pgasrob.program.expressions import (
    Binary,
    Const,
    Expr,
    Register,
    Unary,
    evaluator,
    float_bits,
    float_value,
    rewritten,
)

INFINITY = float_bits(math.inf)
ORDERED = ("<.", "<=.", ">.", ">=.")


def without_roots(condition: Expr) -> Expr:
    """``condition`` with what it says of roots said of their numbers, where it relates one root to a constant."""
    return rewritten(condition, _solved)


def _solved(part: Expr) -> Expr | None:
    match part:
        case Binary(symbol, left, right) if symbol in ORDERED:
            sides = (left, right), (right, left)
            match leaves(part):
                case [Leaf(root=root) as leaf] if root is not None:
                    if any(_grows_or_falls(one, leaf) and isinstance(other, Const) for one, other in sides):
                        return _of_number(part, leaf, root)
    return None


def _grows_or_falls(expr: Expr, leaf: Leaf) -> bool:
    """Whether ``expr`` only grows, or only falls, as ``leaf`` grows from 0 to infinity."""
    match expr:
        case Unary("-." | "float32", operand):
            return _grows_or_falls(operand, leaf)
        case Binary("+." | "-." | "*.", Const(bits), operand) | Binary("+." | "-." | "*." | "/.", operand, Const(bits)):
            scale = float_value(bits)
            return math.isfinite(scale) and (scale != 0 or expr.operator in "+.-.") and _grows_or_falls(operand, leaf)
    return expr == leaf


def _of_number(relation: Expr, leaf: Leaf, number: Expr) -> Expr:
    """``relation``, which holds from some root on or up to one, as a condition on the ``number``; none holds of NaN."""
    test = evaluator(replaced(relation, leaf, Register("root", 0)))

    def holds(bits: int) -> bool:
        return bool(test((float_bits(math.sqrt(float_value(bits))),)))

    at_zero, zero = holds(0), Const(0)
    # Doubles that are not negative are in the order of their bits.
    changes = bisect_left(range(INFINITY + 1), True, key=lambda bits: holds(bits) != at_zero)
    if not at_zero:
        return Binary(">=.", number, Const(changes)) if changes <= INFINITY else zero
    positive = Binary(">=.", number, zero)
    return Binary("&&", positive, Binary("<.", number, Const(changes))) if changes <= INFINITY else positive
