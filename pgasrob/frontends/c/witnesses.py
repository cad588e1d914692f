"""Looks for numbers for which all that a rank assumes of its unknown values is true.

Intervals do not see that `k / 2 > k` is false of all that is not negative, or that `k > l` and `l > k` are never true
together. So a way that a rank takes by such conditions may be one of no run. It is one of some run where numbers are
found; they are looked for from a few starts, by changing one unknown value after the other so that one more condition
becomes true. Where none are found nothing is known (`proofs/c-front-end.md`, section 1)."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain

from pgasrob.frontends.c.nondeterminism import Bounds, Leaf, leaves, only_leaves
from pgasrob.program.expressions import (
    CONVERSIONS,
    NEGATED,
    OPERATORS,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Unary,
    float_bits,
    float_value,
    names_me_or_nodes,
    operands_of,
    parts,
)
from pgasrob.program.float_functions import ON_FLOATS, applied
from pgasrob.stop_points import stop_point

STARTS, STEPS = 16, 24
"""From so many numbers a search begins, and changes so many one after the other."""
_LONG = IntType(64, True)
Claims = Mapping[Expr, Bounds]
Values = dict[Leaf, int]
Move = tuple[Leaf, int]
_EXACT: Mapping[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
"""What has no value in C where it does not fit into its signed type, although it wraps round in the calculus."""
_TESTS: Mapping[str, Callable[[float], bool]] = {
    "isnan()": math.isnan, "isinf()": math.isinf, "isfinite()": math.isfinite,
    "signbit()": lambda x: math.copysign(1, x) < 0,
}  # fmt: skip


def related(claims: Claims, to: Expr) -> dict[Expr, Bounds]:
    """Those of ``claims`` that say something of the unknown values in ``to``, or of others that those speak of."""
    found: dict[Expr, Bounds] = {}
    known, left = set(_drawn_in(to)), {each: set(_drawn_in(each)) for each in claims if _is_computed(each)}
    while near := [each for each, of in left.items() if known & of]:
        for each in near:
            found[each] = claims[each]
            known |= left.pop(each)
    return found


def has_values(claims: Claims) -> bool:
    """Whether numbers are found for which all ``claims`` are true, or it is not known what they speak of."""
    return not all(map(_is_computed, claims)) or found_values(tuple(claims.items())) is not None


@lru_cache(maxsize=1 << 14)
def found_values(claims: tuple[tuple[Expr, Bounds], ...]) -> Values | None:
    """Numbers for which all ``claims`` are true, if some are found."""
    search = _Search(claims)
    return search.values if search.finds() else None


def _drawn_in(expr: Expr) -> Iterator[Leaf]:
    """The unknown values of which ``expr`` is computed, and that are computed of no others."""
    for leaf in leaves(expr):
        if leaf.made is not None and _is_known(leaf.made):
            yield from _drawn_in(leaf.made)
        else:
            yield leaf


def _is_known(expr: Expr) -> bool:
    """Whether it is known what is computed in ``expr``."""
    names = (each.operator for each in parts(expr) if isinstance(each, Unary | Binary))
    return all(not name.endswith("()") or name in _TESTS or _function(name) is not None for name in names)


def _is_computed(expr: Expr) -> bool:
    """Whether ``expr`` is computed of unknown values alone, and how."""
    return only_leaves(expr) and not names_me_or_nodes(expr) and _is_known(expr)


def _function(name: str) -> tuple[str, bool] | None:
    """The function of doubles that is applied under ``name``, and whether it gives a float."""
    plain = name.removesuffix("()")
    if plain in ON_FLOATS:
        return plain, False
    return (plain[:-1], True) if plain.endswith("f") and plain[:-1] in ON_FLOATS else None


class _Search:
    def __init__(self, claims: Sequence[tuple[Expr, Bounds]]) -> None:
        self.claims = claims
        self.drawn = list(dict.fromkeys(chain.from_iterable(_drawn_in(term) for term, _ in claims)))
        constants = {each.value for term, _ in claims for each in parts(term) if isinstance(each, Const)}
        constants |= {bound for _, bounds in claims for bound in (bounds.low, bounds.high)}
        near = {value + change for value in constants for change in (-1, 0, 1)}
        self.pool = sorted(near | {0, 1, 2, -1, *map(float_bits, (1.0, -1.0, 0.5, 2.0, 1e6, 1e-6, math.nan))})
        computed = chain.from_iterable(map(parts, (term for term, _ in claims)))
        self.doubles = {
            operand for each in computed if isinstance(each, Unary | Binary) and each.operator.endswith(".")
            for operand in operands_of(each)
        }  # fmt: skip
        self.pick = random.Random(len(self.pool))
        self.values: Values = {}

    def finds(self) -> bool:
        for start in range(STARTS):
            stop_point()
            self.values = {leaf: self._first(leaf, start) for leaf in self.drawn}
            for _ in range(STEPS):
                wrong = [claim for claim in self.claims if not self._holds(*claim)]
                if not wrong:
                    return True
                moves = list(self._moves(*self.pick.choice(wrong)))
                if not moves or self.pick.random() < 0.1:
                    leaf = self.pick.choice(self.drawn)
                    moves = [(leaf, self._first(leaf, STARTS))]
                leaf, value = self.pick.choice(moves)
                self.values[leaf] = value if self.pick.random() < 0.8 else self._halfway(leaf, value)
        return False

    def _halfway(self, leaf: Leaf, value: int) -> int:
        """From what ``leaf`` is towards ``value``, so that two conditions that pull at it may meet."""
        if leaf not in self.doubles:
            return (self.values[leaf] + value) // 2
        middle = (float_value(self.values[leaf]) + float_value(value)) / 2
        return float_bits(middle) if math.isfinite(middle) else value

    def _first(self, leaf: Leaf, start: int) -> int:
        """What ``leaf`` is at first: something plain, and later anything."""
        low, high = leaf.low, leaf.high
        for term, bounds in self.claims:
            if term == leaf and bounds.low <= high and low <= bounds.high:
                low, high = max(low, bounds.low), min(high, bounds.high)
        plain = (0, 1, low, high, float_bits(1.0))
        chosen = plain[start] if start < len(plain) else self.pick.choice(self.pool)
        if start > len(plain) and self.pick.random() < 0.3:
            chosen = self.pick.randint(low, high)
        return min(max(chosen, low), high)

    def _holds(self, term: Expr, bounds: Bounds) -> bool:
        with suppress(Fault):
            return self._value(term) in bounds
        return False

    def _value(self, expr: Expr) -> int:
        match expr:
            case Leaf():
                return self.values[expr] if expr in self.values or expr.made is None else self._value(expr.made)
            case Const(value):
                return value
            case Binary("&&" | "||" as symbol, left, right):
                decides = symbol == "||"
                return int(bool(self._value(right)) if bool(self._value(left)) != decides else decides)
            case Conditional(condition, then, otherwise):
                return self._value(then if self._value(condition) else otherwise)
            case Unary(symbol, operand, type):
                value = self._value(operand)
                return self._applied(symbol, value) if symbol.endswith("()") else _computed(symbol, value, type)
            case Binary(symbol, left, right, type):
                one, other = self._value(left), self._value(right)
                if symbol.endswith("()"):
                    return self._applied(symbol, one, other)
                if type.signed and symbol in _EXACT and type.wrap(exact := _EXACT[symbol](one, other)) != exact:
                    raise Fault("it is too large for its type")
                return OPERATORS[symbol](one, other, type)
        raise Fault("it is not known here")

    def _applied(self, name: str, *numbers: int) -> int:
        doubles = map(float_value, numbers)
        if name in _TESTS:
            return int(_TESTS[name](*doubles))
        found = _function(name)
        if found is None:
            raise Fault("it is not known here")
        bits = float_bits(applied(found[0], *doubles))
        return CONVERSIONS["float32"](bits, _LONG) if found[1] else bits

    # Changes of one unknown value

    def _moves(self, term: Expr, bounds: Bounds) -> Iterator[Move]:
        """Changes by which ``term`` may come to lie within ``bounds``."""
        if bounds.low <= 0 <= bounds.high and 0 in bounds.others:
            yield from self._to_truth(term, True)
        wanted = {bounds.low, bounds.high, *(value for value in (0, 1, *self.pool) if value in bounds)}
        for value in self.pick.sample(sorted(wanted), min(len(wanted), 4)):
            yield from self._to(term, value)

    def _to(self, expr: Expr, value: int) -> Iterator[Move]:
        """Changes by which ``expr`` may become ``value``."""
        match expr:
            case Leaf() if expr in self.values:
                if expr.low <= value <= expr.high:
                    yield expr, value
            case Leaf(made=made) if made is not None:
                yield from self._to(made, value)
            case Unary("!", operand):
                yield from self._to_truth(operand, not value)
            case Unary(symbol, operand, type):
                for each in _before(symbol, value, type):
                    yield from self._to(operand, each)
            case Binary(symbol) if symbol.rstrip(".") in RELATIONS or symbol in ("&&", "||"):
                yield from self._to_truth(expr, bool(value))
            case Binary("*" | "*.", left, right) if left == right:
                root = float_bits(math.sqrt(max(float_value(value), 0))) if "." in expr.operator else 0
                yield from self._to(left, root or math.isqrt(max(value, 0)))
            case Binary(_, left, right):
                with suppress(Fault, OverflowError, ValueError, ZeroDivisionError):
                    one, other = self._value(left), self._value(right)
                    for side, each in _sides(expr, one, other, value, self.pick):
                        yield from self._to(right if side else left, each)
            case Conditional(condition, then, otherwise):
                for truth, way in ((True, then), (False, otherwise)):
                    yield from self._to(way, value)
                    yield from self._to_truth(condition, truth)

    def _to_truth(self, condition: Expr, truth: bool) -> Iterator[Move]:
        """Changes by which ``condition`` may become true, or false."""
        match condition:
            case Unary("!", operand):
                yield from self._to_truth(operand, not truth)
            case Binary("&&" | "||", left, right):
                yield from self._to_truth(left, truth)
                yield from self._to_truth(right, truth)
            case Binary(symbol, left, right) if symbol.rstrip(".") in RELATIONS:
                with suppress(Fault):
                    one, other = self._value(left), self._value(right)
                    wanted = symbol.rstrip(".") if truth else NEGATED[symbol.rstrip(".")]
                    strict = wanted not in ("==", "<=", ">=")
                    sign = 1 if wanted in (">", ">=") else -1
                    if symbol.endswith("."):
                        change = sign * self.pick.choice((0.0, 0.25, 7.0))
                        yield from self._to(left, _beyond(other, change, sign * strict))
                        yield from self._to(right, _beyond(one, -change, -sign * strict))
                    else:
                        change = sign * self.pick.choice((1, 7)) * strict
                        yield from self._to(left, other + change)
                        yield from self._to(right, one - change)
            case _:
                yield from self._to(condition, self.pick.choice((1, 2, -1)) if truth else 0)


def _computed(symbol: str, value: int, type: IntType) -> int:
    match symbol:
        case "!":
            return int(not value)
        case "-":
            return type.wrap(-value)
        case "~":
            return type.wrap(~value)
    return CONVERSIONS[symbol](value, type)


def _beyond(bits: int, change: float, sign: int) -> int:
    """A double and ``change``, or if ``sign`` is not 0 the next one in that direction, where ``change`` is 0."""
    value = float_value(bits)
    return float_bits(value + change if change or not sign else math.nextafter(value, sign * math.inf))


_INVERSE: Mapping[str, Callable[[float], float]] = {
    "sqrt": lambda y: y * y, "exp": math.log, "log": math.exp, "exp2": math.log2, "log2": lambda y: 2.0**y,
    "log10": lambda y: 10.0**y, "cbrt": lambda y: y**3, "sin": math.asin, "cos": math.acos, "tan": math.atan,
    "log1p": math.expm1, "expm1": math.log1p, "fabs": lambda y: -y,
}  # fmt: skip


def _before(symbol: str, value: int, type: IntType) -> Iterator[int]:
    """What may have become ``value`` by a unary operator."""
    match symbol:
        case "-":
            yield type.wrap(-value)
        case "~":
            yield type.wrap(~value)
        case "-.":
            yield float_bits(-float_value(value))
        case "float":
            with suppress(OverflowError, ValueError):
                yield from (math.floor(float_value(value)), math.ceil(float_value(value)))
        case "int":
            yield from (float_bits(float(value)), float_bits(value + (0.5 if value >= 0 else -0.5)))
        case "cast":
            yield from (value, value + (1 << type.bits), value - (1 << type.bits))
        case _:
            yield value
            inverse = _INVERSE.get(symbol.rstrip("().").removesuffix("f")) or _INVERSE.get(symbol.rstrip("()."))
            with suppress(OverflowError, ValueError):
                yield float_bits(inverse(float_value(value)) if inverse else float_value(value) + 0.25)


def _sides(expr: Binary, one: int, other: int, value: int, pick: random.Random) -> Iterator[tuple[int, int]]:
    """What the left (0) or the right side (1), which are ``one`` and ``other`` now, may be for the operation ``expr``
    to give ``value``, when the other side stays as it is."""
    symbol = expr.operator
    if symbol.endswith((".", "()")):
        sides = _sides_of_doubles(symbol.rstrip("()."), *map(float_value, (one, other, value)))
        yield from ((side, float_bits(each)) for side, each in sides)
        return
    match symbol:
        case "+":
            yield from ((0, value - other), (1, value - one))
        case "-":
            yield from ((0, value + other), (1, one - value))
        case "^":
            yield from ((0, value ^ other), (1, value ^ one))
        case "*":
            yield from ((side, value // by + pick.choice((0, 0, 1))) for side, by in ((0, other), (1, one)) if by)
            divisor = pick.randrange(2, 50)
            if value % divisor == 0:
                yield from ((0, divisor), (1, divisor))
            if other % 2:
                yield 0, expr.type.wrap(value * pow(other, -1, 1 << expr.type.bits))
        case "/":
            yield from ((0, value * other + pick.choice((0, other // 2))), (1, one // value if value else one + 1))
        case "%":
            yield from ((0, one - one % other + value), (0, value), (1, abs(one - value) or 1)) if other else ((1, 1),)
        case "<<":
            yield 0, value >> max(other, 0)
        case ">>":
            yield 0, value << min(max(other, 0), 63)
        case "&":
            yield from ((0, one & ~other | value & other), (1, other & ~one | value & one), (0, value), (1, value))
        case "|":
            yield from ((0, value), (1, value), (0, value & ~other), (1, value & ~one))


def _sides_of_doubles(name: str, left: float, right: float, wanted: float) -> list[tuple[int, float]]:
    match name:
        case "+":
            return [(0, wanted - right), (1, wanted - left)]
        case "-":
            return [(0, wanted + right), (1, left - wanted)]
        case "*":
            return [(0, wanted / right), (1, wanted / left)] if left and right else [(0, wanted), (1, 1.0)]
        case "/":
            return [(0, wanted * right), (1, left / wanted if wanted else left)]
        case "pow" if wanted > 0 and right:
            return [(0, wanted ** (1 / right))]
        case "fmod":
            return [(0, wanted), (0, left - math.fmod(left, right) + wanted)]
    return [(0, wanted), (1, wanted)]
