"""Interval arithmetic: the values of an expression over registers in intervals, and registers narrowed by a condition.

An interval is a pair (low, high), both included. Expressions are compiled once to functions of the *file*, the
intervals of a rank's registers, since a fixpoint evaluates them often. None is the empty set: an expression that faults
in every case, or a file that no register file lies in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter, lshift, or_, rshift, xor

from pgasrob.program.expressions import (
    CONVERSIONS,
    MIRRORED,
    NEGATED,
    OPERATORS,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Register,
    Symbol,
    Unary,
    registers_of,
    render,
)

Interval = tuple[int, int]
File = tuple[Interval, ...]

Value = Callable[[File], Interval | None]
"""The values of an expression over a file."""
Narrow = Callable[[File], File | None]
"""The part of a file that satisfies a condition."""
Split = Callable[[File], tuple[File | None, File | None]]
"""The parts of a file in which a condition is true, and in which it is false."""
Limit = Callable[[File, int, int], File | None]
"""The part of a file in which an expression lies between two bounds."""
Operation = Callable[[Interval, Interval, IntType], Interval | None]
"""From the intervals of the operands to that of the result, in a type."""

_EITHER = (0, 1)
_COMPILED = 4_096
"""Expressions whose functions are kept."""
_KEPT = 64
"""Values that are kept of one of them."""


def joined(first: Interval, second: Interval) -> Interval:
    """The least interval that contains both."""
    return min(first[0], second[0]), max(first[1], second[1])


def joined_files(first: File, second: File) -> File:
    """The least file that contains both; ``first`` itself when that is the one."""
    if first == second:
        return first
    grown = False
    found = []
    for one, other in zip(first, second, strict=True):
        if other[0] < one[0] or other[1] > one[1]:
            one, grown = joined(one, other), True
        found.append(one)
    return tuple(found) if grown else first


DOUBLES = IntType(64, True).range
"""The interval of every double that is not certain: the bits that represent doubles are not ordered as the numbers."""


def wrapped(low: int, high: int, type: IntType) -> Interval:
    """The values of ``type`` that those between ``low`` and ``high`` wrap to."""
    least, greatest = type.range
    if least <= low and high <= greatest:
        return low, high
    first, last = type.wrap(low), type.wrap(high)
    # One turn around for all of them keeps them together.
    return (first, last) if last - first == high - low else (least, greatest)


# Values


@lru_cache(_COMPILED)
def value_of(expr: Expr) -> Value:
    """The values of ``expr``, which must be specialised."""
    match expr:
        case Const(value) | Symbol(_, value):
            only = (value, value)
            return lambda file: only
        case Register(_, index):
            return lambda file: file[index]
        case Unary("!", operand):
            return _truth(operand, of_zero=1, of_others=0)
        case Unary(symbol, operand, type) if symbol in CONVERSIONS:
            return _converted(symbol, value_of(operand), type)
        case Unary(symbol, operand, type):
            inner, less = value_of(operand), int(symbol == "~")  # ~x is -x - 1
            return lambda file: (
                None if (found := inner(file)) is None else wrapped(-found[1] - less, -found[0] - less, type)
            )
        case Binary("&&" | "||" as symbol, left, right):
            return _short_circuit(symbol, left, right)
        case Binary(symbol, left, right, type):
            return _binary(symbol, value_of(left), value_of(right), type)
        case Conditional(condition, then, otherwise):
            return _kept(expr, _either(condition, value_of(then), value_of(otherwise)))
    raise ValueError(f"{render(expr)} must be specialised for a rank before it is evaluated")


@lru_cache(_COMPILED)
def value_within(expr: Expr, least: int, greatest: int) -> Value:
    """The values of ``expr`` between two bounds, None where there are none. Of an index that is checked, as in `i < 4 ?
    a + i : -1`, they are those of one branch, where all values together span more."""
    if isinstance(expr, Conditional):
        ways = (value_within(each, least, greatest) for each in (expr.then, expr.otherwise))
        return _kept(expr, _either(expr.condition, *ways))
    whole = value_of(expr)

    def within(file: File) -> Interval | None:
        found = whole(file)
        if found is None or found[1] < least or greatest < found[0]:
            return None
        return max(found[0], least), min(found[1], greatest)

    return within


def _converted(symbol: str, inner: Value, type: IntType) -> Value:
    convert, widest = CONVERSIONS[symbol], type.range if symbol == "int" else DOUBLES

    def value(file: File) -> Interval | None:
        found = inner(file)
        if found is None:
            return None
        if symbol == "cast":
            return wrapped(*found, type)
        if found[0] != found[1]:
            return widest
        try:
            only = convert(found[0], type)
        except Fault:
            return None
        return only, only

    return value


def _truth(expr: Expr, of_zero: int, of_others: int) -> Value:
    inner = value_of(expr)

    def truth(file: File) -> Interval | None:
        found = inner(file)
        if found is None:
            return None
        if found == (0, 0):
            return of_zero, of_zero
        return _EITHER if found[0] <= 0 <= found[1] else (of_others, of_others)

    return truth


def _short_circuit(symbol: str, left: Expr, right: Expr) -> Value:
    """The values of && and ||: the right side is evaluated only where the left one does not decide."""
    decides = int(symbol == "||")
    ways = splitting(left)
    rest = _truth(right, of_zero=0, of_others=1)

    def value(file: File) -> Interval | None:
        decided, further = _in_turn(ways(file), bool(decides))
        last = None if further is None else rest(further)
        if decided is None:
            return last
        return (decides, decides) if last is None else joined(last, (decides, decides))

    return value


def _either(condition: Expr, then: Value, otherwise: Value) -> Value:
    ways = splitting(condition)

    def value(file: File) -> Interval | None:
        first, second = ways(file)
        one = None if first is None else then(first)
        other = None if second is None else otherwise(second)
        if one is None or other is None:
            return other if one is None else one
        return joined(one, other)

    return value


def _kept(expr: Expr, value: Value) -> Value:
    """``value``, that of ``expr``, which keeps what it has found: in a fixpoint it is asked again and again of files
    that differ in other registers, for each rank."""
    registers = sorted(registers_of(expr))
    if not registers:
        return value
    read, found = itemgetter(*registers), dict[object, Interval | None]()

    def known(file: File) -> Interval | None:
        key = read(file)
        try:
            return found[key]
        except KeyError:
            if len(found) >= _KEPT:
                found.clear()
            found[key] = values = value(file)
            return values

    return known


def _binary(symbol: str, left: Value, right: Value, type: IntType) -> Value:
    compute = operation(symbol)

    def value(file: File) -> Interval | None:
        first, second = left(file), right(file)
        return None if first is None or second is None else compute(first, second, type)

    return value


def operation(symbol: str) -> Operation:
    """What a binary operator makes of the intervals of its operands, && and || left out."""
    if symbol.endswith("."):
        return _on_doubles(symbol)
    return _ARITHMETIC.get(symbol) or _relation(symbol)


def _on_doubles(symbol: str) -> Operation:
    compute, widest = OPERATORS[symbol], _EITHER if symbol[:-1] in RELATIONS else DOUBLES

    def value(left: Interval, right: Interval, type: IntType) -> Interval:
        if left[0] != left[1] or right[0] != right[1]:
            return widest
        only = compute(left[0], right[0], type)
        return only, only

    return value


def _relation(symbol: str) -> Operation:
    never = NEGATED[symbol]

    def related(left: Interval, right: Interval, type: IntType) -> Interval:
        if not may_be_related(symbol, left, right):
            return 0, 0
        return _EITHER if may_be_related(never, left, right) else (1, 1)

    return related


def may_be_related(symbol: str, left: Interval, right: Interval) -> bool:
    """Whether some values of the two are related."""
    match symbol:
        case "==":
            return left[0] <= right[1] and right[0] <= left[1]
        case "!=":
            return left != right or left[0] != left[1]
        case "<" | "<=":
            return RELATIONS[symbol](left[0], right[1])
    return RELATIONS[symbol](left[1], right[0])


def _add(left: Interval, right: Interval, type: IntType) -> Interval:
    return wrapped(left[0] + right[0], left[1] + right[1], type)


def _subtract(left: Interval, right: Interval, type: IntType) -> Interval:
    return wrapped(left[0] - right[1], left[1] - right[0], type)


def _multiply(left: Interval, right: Interval, type: IntType) -> Interval:
    corners = [one * other for one in left for other in right]
    return wrapped(min(corners), max(corners), type)


def _divide(left: Interval, right: Interval, type: IntType) -> Interval | None:
    # The quotient is monotone in the dividend, and in the divisor on either side of 0.
    divisors = [divisor for divisor in (*right, -1, 1) if divisor and right[0] <= divisor <= right[1]]
    corners = [_quotient(dividend, divisor) for dividend in left for divisor in divisors]
    return wrapped(min(corners), max(corners), type) if corners else None


def _quotient(dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _remainder(left: Interval, right: Interval, type: IntType) -> Interval | None:
    most = max(abs(right[0]), abs(right[1])) - 1
    if most < 0:
        return None
    low, high = left
    if right[0] == right[1] and low >= 0 and low // (most + 1) == high // (most + 1):
        return low % (most + 1), high % (most + 1)
    # It has the sign of the dividend, and no more than its magnitude.
    return max(low, -most) if low < 0 else 0, min(high, most) if high > 0 else 0


def _and(left: Interval, right: Interval, type: IntType) -> Interval:
    if left[0] == left[1] and right[0] == right[1]:
        return wrapped(left[0] & right[0], left[0] & right[0], type)
    highs = [side[1] for side in (left, right) if side[0] >= 0]
    return wrapped(0, min(highs), type) if highs else _any_bits(left, right, type)


def _any_bits(left: Interval, right: Interval, type: IntType) -> Interval:
    """All that fits the bits of the two; an operation on bits sets no others."""
    bits = max(bound.bit_length() for bound in (*left, *right))
    return wrapped(-(1 << bits) if left[0] < 0 or right[0] < 0 else 0, (1 << bits) - 1, type)


def _on_bits(compute: Callable[[int, int], int]) -> Operation:
    def value(left: Interval, right: Interval, type: IntType) -> Interval:
        if left[0] == left[1] and right[0] == right[1]:
            return wrapped(compute(left[0], right[0]), compute(left[0], right[0]), type)
        return _any_bits(left, right, type)

    return value


def _shift(move: Callable[[int, int], int]) -> Operation:
    def value(left: Interval, right: Interval, type: IntType) -> Interval | None:
        low, high = max(right[0], 0), min(right[1], type.bits - 1)
        if low > high:
            return None
        corners = [move(moved, by) for moved in left for by in (low, high)]
        return wrapped(min(corners), max(corners), type)

    return value


_ARITHMETIC: dict[str, Operation] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
    "&": _and,
    "|": _on_bits(or_),
    "^": _on_bits(xor),
    "<<": _shift(lshift),
    ">>": _shift(rshift),
}


# Conditions


@lru_cache(_COMPILED)
def narrowing(condition: Expr, truth: bool) -> Narrow:
    """The part of a file in which ``condition`` has a value and is true, or false, as ``truth`` says."""
    match condition:
        case Unary("!", operand):
            return narrowing(operand, not truth)
        case Binary("&&" | "||" as symbol, left, right):
            decides, last = symbol == "||", narrowing(right, truth)
            if truth != decides:
                first = narrowing(left, truth)
                return lambda file: None if (narrowed := first(file)) is None else last(narrowed)
            return _this_or(splitting(left), decides, last)
        case Binary(symbol, left, right) if symbol in RELATIONS:
            return comparing(left, symbol if truth else NEGATED[symbol], right)
        case Conditional(test, then, otherwise):
            return _one_of(splitting(test), narrowing(then, truth), narrowing(otherwise, truth))
    return comparing(condition, "!=" if truth else "==", Const(0))


@lru_cache(_COMPILED)
def splitting(condition: Expr) -> Split:
    """The parts of a file in which ``condition`` is true and false: :func:`narrowing` both ways in one walk through it,
    since each way needs both ways of its operands."""
    match condition:
        case Unary("!", operand):
            turned = splitting(operand)
            return lambda file: _in_turn(turned(file), False)
        case Binary("&&" | "||" as symbol, left, right):
            return _split_short_circuit(symbol == "||", splitting(left), splitting(right))
        case Conditional(test, then, otherwise):
            return _split_either(splitting(test), splitting(then), splitting(otherwise))
    yes, no = narrowing(condition, True), narrowing(condition, False)
    return lambda file: (yes(file), no(file))


def _in_turn(ways: tuple[File | None, File | None], truth: bool) -> tuple[File | None, File | None]:
    """The part where a condition is ``truth``, then the other one, of its true and its false part."""
    return ways if truth else (ways[1], ways[0])


def _split_short_circuit(decides: bool, left: Split, right: Split) -> Split:
    def split(file: File) -> tuple[File | None, File | None]:
        decided, further = _in_turn(left(file), decides)
        like, other = (None, None) if further is None else _in_turn(right(further), decides)
        return _in_turn((_either_file(decided, like), other), decides)

    return split


def _split_either(test: Split, then: Split, otherwise: Split) -> Split:
    def split(file: File) -> tuple[File | None, File | None]:
        yes, no = test(file)
        one = (None, None) if yes is None else then(yes)
        other = (None, None) if no is None else otherwise(no)
        return _either_file(one[0], other[0]), _either_file(one[1], other[1])

    return split


def _this_or(first: Split, truth: bool, second: Narrow) -> Narrow:
    def narrow(file: File) -> File | None:
        one, rest = _in_turn(first(file), truth)
        return _either_file(one, None if rest is None else second(rest))

    return narrow


def _one_of(test: Split, then: Narrow, otherwise: Narrow) -> Narrow:
    def narrow(file: File) -> File | None:
        yes, no = test(file)
        return _either_file(None if yes is None else then(yes), None if no is None else otherwise(no))

    return narrow


def _either_file(one: File | None, other: File | None) -> File | None:
    """The least file that contains both."""
    if one is None or other is None:
        return other if one is None else one
    return joined_files(one, other)


def comparing(left: Expr, symbol: str, right: Expr) -> Narrow:
    """The part of a file in which ``left`` and ``right`` are related."""
    first, second = value_of(left), value_of(right)
    limit_left, limit_right = limiting(left), limiting(right)

    def narrow(file: File) -> File | None:
        one, other = first(file), second(file)
        if one is None or other is None or not may_be_related(symbol, one, other):
            return None
        narrowed = limit_left(file, *related_to(symbol, one, other))
        return None if narrowed is None else limit_right(narrowed, *related_to(MIRRORED[symbol], other, one))

    return narrow


def related_to(symbol: str, one: Interval, other: Interval) -> Interval:
    """The part of ``one`` whose values are related to some value of ``other``; there must be some."""
    low, high = one
    match symbol:
        case "==":
            return max(low, other[0]), min(high, other[1])
        case "!=":
            if other[0] == other[1]:
                return low + (low == other[0]), high - (high == other[0])
            return one
        case "<" | "<=":
            return low, min(high, other[1] - (symbol == "<"))
    return max(low, other[0] + (symbol == ">")), high


@lru_cache(_COMPILED)
def limiting(expr: Expr) -> Limit:
    """The part of a file in which ``expr`` has a value that lies between two bounds."""
    match expr:
        case Register(_, index):
            return lambda file, low, high: _limited(file, index, low, high)
        case Binary("+", left, right, type):
            return _limiting_sum(left, right, type, sign=1)
        case Binary("-", left, right, type):
            return _limiting_sum(left, right, type, sign=-1)
        case Unary("cast", operand, type):
            return _limiting_cast(operand, type)
    value = value_of(expr)

    def limit(file: File, low: int, high: int) -> File | None:
        found = value(file)
        return None if found is None or found[1] < low or high < found[0] else file

    return limit


def _limited(file: File, index: int, low: int, high: int) -> File | None:
    least, greatest = file[index]
    if low <= least and greatest <= high:
        return file
    low, high = max(low, least), min(high, greatest)
    return (*file[:index], (low, high), *file[index + 1 :]) if low <= high else None


def _limiting_cast(operand: Expr, type: IntType) -> Limit:
    inner, limit_inner = value_of(operand), limiting(operand)
    least, greatest = type.range

    def limit(file: File, low: int, high: int) -> File | None:
        found = inner(file)
        if found is None:
            return None
        if found[0] < least or found[1] > greatest:
            return file  # it may wrap
        return limit_inner(file, low, high)

    return limit


def _limiting_sum(left: Expr, right: Expr, type: IntType, sign: int) -> Limit:
    first, second = value_of(left), value_of(right)
    limit_left, limit_right = limiting(left), limiting(right)
    least, greatest = type.range

    def around(file: File, low: int, high: int, one: Interval, added: Interval) -> File | None:
        """Where the sum may wrap: the bounds say something of one side if the other one is a number."""
        if low > high:
            return None
        if added[0] == added[1] and least <= one[0] and one[1] <= greatest:
            return limit_left(file, *wrapped(low - added[0], high - added[0], type))
        if one[0] == one[1] and sign > 0 and least <= added[0] and added[1] <= greatest:
            return limit_right(file, *wrapped(low - one[0], high - one[0], type))
        return file

    def limit(file: File, low: int, high: int) -> File | None:
        one, other = first(file), second(file)
        if one is None or other is None:
            return None
        added = other if sign > 0 else (-other[1], -other[0])
        if one[0] + added[0] < least or one[1] + added[1] > greatest:
            return around(file, max(low, least), min(high, greatest), one, added)
        narrowed = limit_left(file, low - added[1], high - added[0])
        if narrowed is None:
            return None
        low, high = low - one[1], high - one[0]
        return limit_right(narrowed, low, high) if sign > 0 else limit_right(narrowed, -high, -low)

    return limit


# Faults


def may_fault(expr: Expr, file: File) -> bool:
    """Whether ``expr`` may have no value for some registers in ``file``."""
    match expr:
        case Unary("int", operand, _):
            found = value_of(operand)(file)
            return found is None or found[0] != found[1] or may_fault(operand, file) or value_of(expr)(file) is None
        case Unary(_, operand):
            return may_fault(operand, file)
        case Binary("&&" | "||" as symbol, left, right):
            return may_fault(left, file) or _may_fault_after(left, symbol == "&&", right, file)
        case Binary(symbol, left, right, type):
            if may_fault(left, file) or may_fault(right, file):
                return True
            found = value_of(right)(file)
            if found is None:
                return True
            if symbol in ("/", "%"):
                return found[0] <= 0 <= found[1]
            return symbol in ("<<", ">>") and (found[0] < 0 or found[1] >= type.bits)
        case Conditional(condition, then, otherwise):
            return (
                may_fault(condition, file)
                or _may_fault_after(condition, True, then, file)
                or _may_fault_after(condition, False, otherwise, file)
            )
    return False


def _may_fault_after(condition: Expr, truth: bool, expr: Expr, file: File) -> bool:
    narrowed = narrowing(condition, truth)(file)
    return narrowed is not None and may_fault(expr, narrowed)
