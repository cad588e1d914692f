"""Unknown values: times, random numbers, what an assumed-pure function returns, what is loaded from a cell that may
hold such a value.

An unknown value is a leaf of an expression, a register with a negative index, of which no more is known than that it
lies between two bounds. As long as it is only moved, computed with and printed, it costs nothing; what becomes of it
where it decides something is said in `undecided.py` and `flows.py`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from pgasrob.analysis.intervals import Interval, value_of
from pgasrob.frontends.c.types import CType, Integer
from pgasrob.frontends.c.values import ObjectId, Unknown, Value
from pgasrob.program.expressions import (
    CONVERSIONS,
    MIRRORED,
    MOST_NODES,
    NEGATED,
    OPERATORS,
    RELATIONS,
    Binary,
    Const,
    Expr,
    Me,
    Nodes,
    Register,
    Unary,
    float_bits,
    float_value,
    parts,
    rewritten,
)
from pgasrob.program.value_classes import record

if TYPE_CHECKING:
    pass

CLOCK = "clock"
RANDOM = "rand"
INPUT = "input"
UNKNOWN = "unknown"
ANY = (-1 << 63, (1 << 64) - 1)
"""The values of all types."""
TIME = (0, (1 << 63) - 1)
"""Of a clock: as an integer, or as the bits of a double."""


@record
class Leaf(Register):
    """An unknown value from ``low`` to ``high``.

    ``exact``: it may be each of them, whatever else is known. ``origins``: where a value was given up that might have
    been chosen exactly: cells and variables, as in `Facts.decisive`. ``cells``: those, as in `Cells.named_by`, one of
    which it has been loaded from and is what ``found`` says of the number there; ``site``: the place of the program
    that has loaded it. ``drawn``: it has been drawn there for these cells instead. ``own``: no other rank has a part in
    it. ``fixed``: it is computed of what the run knows alone, though not here. ``made``: what it is computed of, where
    that is large, or by functions that the calculus does not have (`is_applied`).
    """

    low: int
    high: int
    exact: bool = True
    origins: frozenset[Hashable] = field(default=frozenset(), hash=False)  # what is long, and tells few apart
    cells: tuple[tuple[ObjectId, int | None], ...] = field(default=(), hash=False)
    found: Expr | None = field(default=None, hash=False)
    site: Hashable = field(default=None, compare=False)
    drawn: bool = False
    own: bool = True
    fixed: bool = False
    made: Expr | None = field(default=None, hash=False)


@record
class Bounds:
    """What is assumed of a term since a branch was taken: it lies between ``low`` and ``high``, and is none of
    ``others``."""

    low: int
    high: int
    others: frozenset[int] = frozenset()

    @property
    def values(self) -> list[int]:
        return [value for value in range(self.low, self.high + 1) if value not in self.others]

    @property
    def count(self) -> int:
        return self.high - self.low + 1 - len(self.others)

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high and value not in self.others

    def some(self, most: int) -> Iterator[int]:
        """Values from both ends and about 0, so many of each."""
        places = range(self.low, self.low + most), range(-most, most), range(self.high - most + 1, self.high + 1)
        return (value for value in sorted(set().union(*places)) if value in self)


Assumed = Mapping[Expr, Bounds]


def application(name: str, operands: Sequence[Expr]) -> Expr:
    """The function ``name`` of ``operands``, which the calculus does not have: it is in no command."""
    return Unary(f"{name}()", operands[0]) if len(operands) == 1 else Binary(f"{name}()", operands[0], operands[1])


def is_applied(expr: Expr) -> bool:
    """Whether ``expr`` is what :func:`application` makes."""
    return isinstance(expr, Unary | Binary) and expr.operator.endswith("()")


def range_of(type: CType) -> Interval:
    """The values of ``type``; those of a pointer or a double are numbers of 64 bits."""
    if not isinstance(type, Integer):
        return ANY
    return (0, 1) if type.boolean else type.type.range


def leaves(expr: Expr) -> list[Leaf]:
    """The unknown values in ``expr``, each once."""
    if isinstance(expr, Register | Const):
        return [expr] if isinstance(expr, Leaf) else []
    return list(dict.fromkeys(each for each in parts(expr) if isinstance(each, Leaf)))


def leaves_of(value: Value) -> list[Leaf]:
    return leaves(value.expr) if isinstance(value, Unknown) else []


def only_leaves(expr: Expr) -> bool:
    """Whether no true register is in ``expr``."""
    if isinstance(expr, Register):
        return isinstance(expr, Leaf)
    return all(isinstance(each, Leaf) for each in parts(expr) if isinstance(each, Register))


def replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    """``expr`` with ``new`` for ``old``."""
    return rewritten(expr, lambda part: new if part == old else None)


def values_of(expr: Expr, assumed: Assumed) -> Bounds | None:
    """What ``expr`` may be, or more; None when it has no value."""
    known = assumed.get(expr)
    if known is not None:
        return known
    intervals: list[Interval] = []

    def named(part: Expr) -> Expr | None:
        found: Interval
        if part in assumed:
            found = assumed[part].low, assumed[part].high
        elif isinstance(part, Leaf):
            found = part.low, part.high
        elif isinstance(part, Register):
            found = ANY
        elif isinstance(part, Me | Nodes):
            found = int(isinstance(part, Nodes)), MOST_NODES
        elif isinstance(part, Unary) and part.operator == "int" and leaves(part):
            found = _truncated(part, assumed)
        elif is_applied(part):
            found = ANY
        else:
            return None
        intervals.append(found)
        return Register("", len(intervals) - 1)

    interval = value_of(rewritten(expr, named))(tuple(intervals))
    return None if interval is None else Bounds(*interval)


def _truncated(expr: Unary, assumed: Assumed) -> Interval:
    """A double converted to an integer. Where it does not fit, any integer comes of it."""
    low, high = expr.type.range
    found = _double(expr.operand, assumed)
    if found is None or not all(math.isfinite(each) and low <= math.trunc(each) <= high for each in found):
        return low, high
    return math.trunc(found[0]), math.trunc(found[1])


def _double(expr: Expr, assumed: Assumed) -> tuple[float, float] | None:
    """The least and the greatest value of a double; None where it may be any. Rounding keeps the order."""
    match expr:
        case Const(bits):
            return float_value(bits), float_value(bits)
        case Unary("float", operand, type):
            found = values_of(operand, assumed)
            if found is None:
                return None
            low, high = (float_value(CONVERSIONS["float"](each, type)) for each in (found.low, found.high))
            return low, high
        case Unary("float32", operand, type):
            inner = _double(operand, assumed)
            if inner is None:
                return None
            low, high = (float_value(CONVERSIONS["float32"](float_bits(each), type)) for each in inner)
            return low, high
        case Binary("+." | "-." | "*." | "/." as symbol, left, right, type):
            first, second = _double(left, assumed), _double(right, assumed)
            if first is None or second is None or (symbol == "/." and second[0] <= 0 <= second[1]):
                return None
            corners = [
                float_value(OPERATORS[symbol](float_bits(one), float_bits(other), type))
                for one in first
                for other in second
            ]
            return None if any(math.isnan(each) for each in corners) else (min(corners), max(corners))
    return None


# Conditions


def literal(condition: Expr, truth: bool) -> tuple[Expr, str, int]:
    """``condition``, which holds or not, as a term, a relation and a constant."""
    match condition:
        case Unary("!", operand):
            return literal(operand, not truth)
        case Binary(symbol, left, Const(value)) if symbol in RELATIONS:
            return _unmoved(left, symbol if truth else NEGATED[symbol], value)
        case Binary(symbol, Const(value), right) if symbol in RELATIONS:
            return _unmoved(right, MIRRORED[symbol if truth else NEGATED[symbol]], value)
    return uncast(condition), "!=" if truth else "==", 0


def _unmoved(term: Expr, relation: str, value: int) -> tuple[Expr, str, int]:
    """The relation of ``term`` to ``value`` as one of what a constant is added to there: sums wrap, and so equal ones
    are of equal numbers."""
    match term:
        case Binary("+" | "-" as symbol, inner, Const(moved), type) if relation in ("==", "!="):
            if type.wrap(value) == value and leaves(inner):
                return _unmoved(inner, relation, type.wrap(value - moved if symbol == "+" else value + moved))
    return uncast(term), relation, value


def uncast(expr: Expr) -> Expr:
    """``expr`` without a cast that changes nothing."""
    match expr:
        case Unary("cast", operand, type):
            found = values_of(operand, {}) if only_leaves(operand) else None
            if found is not None and type.range[0] <= found.low and found.high <= type.range[1]:
                return uncast(operand)
    return expr


def narrowed(bounds: Bounds, relation: str, value: int) -> Bounds | None:
    """What is left of ``bounds`` when it is related to ``value`` so; None when nothing is."""
    low, high, others = bounds.low, bounds.high, bounds.others
    match relation:
        case "==":
            low, high = max(low, value), min(high, value)
        case "!=":
            others |= {value}
        case "<" | "<=":
            high = min(high, value - (relation == "<"))
        case _:
            low = max(low, value + (relation == ">"))
    while low <= high and low in others:
        low += 1
    while low <= high and high in others:
        high -= 1
    others = frozenset(each for each in others if low < each < high)
    return Bounds(low, high, others) if low <= high else None
