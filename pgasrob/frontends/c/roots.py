"""Conditions on a double that change at a few numbers, and those on the square root of an unknown value, as conditions
on that value.

The calculus computes no roots. But a correctly rounded root never falls where its number grows, nor do sums with a
constant and products with one change that there is one number from which on a relation holds, or no longer holds."""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache

from pgasrob.frontends.c.nondeterminism import Leaf, leaves, replaced
from pgasrob.program.expressions import (
    RELATIONS,
    Binary,
    Conditional,
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
                case [Leaf(made=Unary("sqrt()", root)) as leaf]:
                    if any(_grows_or_falls(one, leaf) and isinstance(other, Const) for one, other in sides):
                        return _of_number(part, leaf, root)
    return None


@lru_cache(maxsize=1 << 12)
def breaks(condition: Expr, number: Register) -> tuple[int, ...] | None:
    """The doubles at which ``condition``, which looks at the ``number`` alone, may change, and those before them; None
    where they are not known. So it has each of its values at one of these, at an infinity or at what is no number."""
    relations = _relations(condition)
    if relations is None:
        return None
    found: list[int] = []
    for each in relations:
        changing, constant = (each.left, each.right) if isinstance(each.right, Const) else (each.right, each.left)
        changing = _without_sign(changing)
        if not isinstance(constant, Const) or not _grows_or_falls(changing, number):
            return None
        for value in dict.fromkeys((constant.value, float_bits(-float_value(constant.value)), 0)):
            found += _changes(changing, number, value)
    return tuple(found)


def _relations(condition: Expr) -> list[Binary] | None:
    """The relations of doubles of which ``condition`` is made; None where there is something else in it."""
    match condition:
        case Binary("&&" | "||", left, right):
            one, other = _relations(left), _relations(right)
            return None if one is None or other is None else one + other
        case Unary("!", operand) | Binary("==" | "!=", operand, Const(0)):
            return _relations(operand)
        case Binary(symbol) if symbol.endswith(".") and symbol.rstrip(".") in RELATIONS:
            return [condition]
    return None


def _without_sign(expr: Expr) -> Expr:
    """``expr``, or what it is the magnitude of."""
    match expr:
        case Conditional(Binary("<.", one, Const(0)), Unary("-.", other), third) if one == other == third:
            return one
    return expr


def _changes(expr: Expr, number: Register, value: int) -> Iterator[int]:
    """Where ``expr``, which only grows or falls, comes to ``value`` and goes on from there, and what is before."""
    compute = evaluator(replaced(expr, number, Register("number", 0)))
    for relation in (operator.lt, operator.le):

        def holds(place: int, relation: Callable[[float, float], bool] = relation) -> bool:
            return relation(float_value(compute((_bits(place),))), float_value(value))

        before, behind = -INFINITY, INFINITY
        least = holds(before)
        if holds(behind) == least:
            continue
        while behind - before > 1:
            middle = (before + behind) // 2
            before, behind = (middle, behind) if holds(middle) == least else (before, middle)
        yield from (_bits(before), _bits(behind))


def _bits(place: int) -> int:
    """The double at a ``place`` in the order of doubles, in which 0 is at 0."""
    return place if place >= 0 else float_bits(-float_value(-place))


def _grows_or_falls(expr: Expr, leaf: Register) -> bool:
    """Whether ``expr`` only grows, or only falls, as ``leaf`` grows."""
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
