"""C's operators on values of the machine: folded where both sides are known, else expressions of the calculus.

Results are within the range of their type. Signed overflow wraps. What has no value when it is known here, a division
by zero or a shift too far, stays an expression, which faults when a run comes to it.
"""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CType, Floating, Integer, Opaque, Pointer
from pgasrob.frontends.c.values import (
    UNDEFINED,
    Address,
    Code,
    Entry,
    Handle,
    Known,
    KnownByRank,
    ObjectId,
    Undefined,
    Unknown,
    Value,
    known_of,
    numbers,
)
from pgasrob.program.expressions import (
    INT32,
    MOST_NODES,
    NEGATED,
    OPERATORS,
    RELATIONS,
    Binary,
    Const,
    ConstByRank,
    Expr,
    Fault,
    IntType,
    Me,
    Nodes,
    Unary,
    const_of,
    constant,
    folded,
)

LONG = IntType(64, True)
WORD = IntType(64, False)
QUOTIENT = "address quotient"
"""The kind of the handle that an address is which has been divided."""


_OF_EQUALS = {"==": 1, "<=": 1, ">=": 1, "!=": 0, "<": 0, ">": 0, "-": 0, "^": 0}
"""What operators give for two integers that are the same."""


def expression(value: Known | Unknown) -> Expr:
    if isinstance(value, KnownByRank):
        return const_of(value.numbers)
    return Const(value.value) if isinstance(value, Known) else value.expr


def value_of(expr: Expr) -> Known | Unknown:
    if isinstance(expr, ConstByRank):
        return known_of(expr.numbers)
    return Known(expr.value) if isinstance(expr, Const) else Unknown(expr)


def integer_type(type: CType) -> IntType:
    """The type that integers and pointers are computed in."""
    return type.type if isinstance(type, Integer) else WORD


def unary(operator: str, source: Value, type: CType) -> Value:
    """``operator`` (one of ``- ~ !``) applied to ``source`` of type ``type``."""
    if isinstance(source, Undefined):
        return UNDEFINED
    if isinstance(source, Address | Entry | Code | Handle):
        if operator == "!":
            return Known(0)
        raise Problem("PG143", f"`{operator}` on a pointer", "compute with integers")
    operand = expression(source)
    if isinstance(type, Floating):
        if operator == "!":
            return value_of(folded(Binary("==.", operand, Const(0))))
        return value_of(folded(Unary("-.", operand)))
    if operator == "!":
        return value_of(negation(operand))
    return value_of(folded(Unary(operator, operand, integer_type(type))))


def negation(expr: Expr) -> Expr:
    """The int that is 1 when ``expr`` is zero."""
    match expr:
        case Binary(symbol, left, right, type) if symbol in NEGATED:
            return Binary(NEGATED[symbol], left, right, type)
        case Unary("!", operand) if is_truth(operand):
            return operand
    return folded(Unary("!", expr))


def is_truth(expr: Expr) -> bool:
    """Whether ``expr`` is 0 or 1 by its form."""
    match expr:
        case Binary(symbol):
            return symbol.rstrip(".") in RELATIONS or symbol in ("&&", "||")
        case Unary("!"):
            return True
    return False


def binary(operator: str, left: Value, right: Value, type: CType) -> Value:
    """``left operator right``, both of type ``type``."""
    if isinstance(left, Known) and isinstance(right, Known) and isinstance(type, Integer):
        # Most of what is computed; the same as below, without expressions.
        try:
            if isinstance(left, KnownByRank) or isinstance(right, KnownByRank):
                return _on_each(OPERATORS[operator], left, right, type.type)
            return Known(OPERATORS[operator](left.value, right.value, type.type))
        except Fault:
            pass
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return UNDEFINED
    if not isinstance(left, Known | Unknown) or not isinstance(right, Known | Unknown):
        return _on_pointers(operator, left, right)
    first, second = expression(left), expression(right)
    if isinstance(type, Floating):
        result = folded(Binary(f"{operator}.", first, second))
        if type.bits == 32 and operator not in RELATIONS:
            result = folded(Unary("float32", result))
        return value_of(result)
    if first == second and operator in _OF_EQUALS:
        return Known(_OF_EQUALS[operator])
    if operator in ("!=", "==") and constant(second) == 0 and is_truth(first):
        return value_of(first if operator == "!=" else negation(first))
    if operator in ("+", "-", "|", "^", "<<", ">>") and constant(second) == 0:
        return left
    if operator in ("+", "|", "^") and constant(first) == 0:
        return right
    if operator == "*" and 0 in (constant(first), constant(second)):
        return Known(0)
    if operator in ("*", "/") and constant(second) == 1:
        return left
    return value_of(folded(Binary(operator, first, second, integer_type(type))))


def _on_each(compute: Callable[[int, int, IntType], int], left: Known, right: Known, type: IntType) -> Known:
    return known_of([compute(one, other, type) for one, other in zip(numbers(left), numbers(right), strict=False)])


def _on_pointers(operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Entry) or isinstance(right, Entry):
        raise NumberNeeded(f"`{operator}` on a pointer to the entry of a rank differs between ranks")
    if operator in ("==", "!="):
        equal = _same(left, right)
        if isinstance(equal, bool):
            return Known(int(equal == (operator == "==")))
        return value_of(equal if operator == "==" else negation(equal))
    if isinstance(left, Address) and isinstance(right, Address) and left.place == right.place:
        if operator in RELATIONS:
            return value_of(folded(Binary(operator, _offset(left), _offset(right), LONG)))
        if operator == "-" and isinstance(left.offset, int) and isinstance(right.offset, int):
            return Known(left.offset - right.offset)
    if isinstance(left, Address) and isinstance(right, Known) and isinstance(left.offset, int):
        # An address as an integer: moved by a known distance it is an address again. Objects are aligned to 64 bytes.
        if operator in ("+", "-"):
            distance = LONG.wrap(right.value)
            moved = left.offset + (distance if operator == "+" else -distance)
            return Address(left.object, moved, left.owner, left.mapped)
        if operator in ("%", "&") and 0 < right.value <= 64:
            bits = right.value if operator == "%" else right.value + 1
            if bits & (bits - 1) == 0:
                return Known(left.offset % bits)
    if isinstance(left, Known) and operator in ("+", "*", "&"):
        return _on_pointers(operator, right, left)
    if isinstance(right, Known) and (rounded := _rounded(operator, left, right.value)):
        return rounded
    raise Problem(
        "PG143",
        f"`{operator}` on pointers that are not known well enough",
        "compare pointers into one object, or compute with indices",
    )


def _rounded(operator: str, left: Value, number: int) -> Value | None:
    """An address that is rounded down, `p & ~(n - 1)` or `p / n * n`, to a power of two: objects begin at multiples of
    whatever they are rounded to (Kind.PLATFORM). The quotient is a value of its own until it is multiplied."""
    match operator, left:
        case "&", Address(object, int() as offset, owner, mapped):
            size = -number % (1 << 64)
            if size > 0 and size & (size - 1) == 0:
                return Address(object, offset // size * size, owner, mapped)
        case "/", Address(object, int() as offset, int() | None as owner, mapped) if (
            number > 0 and number & (number - 1) == 0
        ):
            return Handle(QUOTIENT, (object, offset // number, number, owner, int(mapped)))
        case "*", Handle(kind, (object, int() as places, size, owner, mapped)) if (kind, size) == (QUOTIENT, number):
            assert isinstance(object, ObjectId) and isinstance(owner, int | None)
            return Address(object, places * number, owner, bool(mapped))
    return None


def _same(left: Value, right: Value) -> bool | Expr:
    if isinstance(left, Address) and isinstance(right, Address):
        if left.place != right.place:
            if left.object == right.object and _may_be_one(left.owner, right.owner):
                raise NumberNeeded("whether two pointers point to one place differs between ranks")
            return False
        equal = folded(Binary("==", _offset(left), _offset(right), LONG))
        known = constant(equal)
        return equal if known is None else bool(known)
    return left == right


def _may_be_one(first: int | Expr | None, second: int | Expr | None) -> bool:
    """Whether two owners that are written differently may be one rank. A number is another rank than one's own."""
    symbolic = isinstance(first, Expr) or isinstance(second, Expr)
    return symbolic and first != second and not (isinstance(first, Const) and isinstance(second, Const))


def _offset(address: Address) -> Expr:
    return Const(address.offset) if isinstance(address.offset, int) else address.offset


def convert(source: Value, of: CType, to: CType) -> Value:
    """``source``, of type ``of``, converted to type ``to`` (C11, 6.3)."""
    if isinstance(source, Known) and isinstance(of, Integer) and isinstance(to, Integer) and not to.boolean:
        if isinstance(source, KnownByRank):
            return known_of([to.type.wrap(number) for number in source.numbers])
        return Known(to.type.wrap(source.value))
    if isinstance(source, Undefined):
        return UNDEFINED
    if isinstance(source, Address | Entry | Code | Handle):
        if isinstance(to, Integer) and to.boolean:
            return Known(1)
        if isinstance(to, Pointer | Opaque) or (isinstance(to, Integer) and to.type.bits == 64):
            return source
        if isinstance(source, Handle):
            return source
        raise Problem("PG143", "a pointer is converted to a type that cannot hold it", "keep it in a pointer")
    expr = expression(source)
    if isinstance(to, Integer) and to.boolean:
        if isinstance(of, Floating):
            return value_of(folded(Binary("!=.", expr, Const(0))))
        return value_of(expr if is_truth(expr) else folded(Binary("!=", expr, Const(0), integer_type(of))))
    if isinstance(to, Integer | Pointer | Opaque):
        wanted = integer_type(to)
        if isinstance(of, Floating):
            return value_of(folded(Unary("int", expr, wanted)))
        return value_of(cast(expr, integer_type(of), wanted))
    if isinstance(to, Floating):
        if not isinstance(of, Floating):
            expr = folded(Unary("float", expr, integer_type(of)))
        return value_of(folded(Unary("float32", expr)) if to.bits == 32 and of != to else expr)
    return source


def cast(expr: Expr, of: IntType, to: IntType) -> Expr:
    """``expr`` of one integer type in another."""
    low, high = to.range
    lowest, highest = of.range
    if isinstance(expr, Me | Nodes):
        lowest, highest = 0, MOST_NODES
    if (low <= lowest and highest <= high) or is_truth(expr):
        return expr
    if isinstance(expr, Unary) and expr.operator == "cast" and to.bits <= expr.type.bits:
        expr = expr.operand
    return folded(Unary("cast", expr, to))


def size(expr: Expr) -> int:
    """How many operations and leaves ``expr`` has."""
    match expr:
        case Unary(_, operand):
            return 1 + size(operand)
        case Binary(_, left, right):
            return 1 + size(left) + size(right)
    return 1


__all__ = ["INT32", "binary", "cast", "convert", "expression", "size", "unary", "value_of"]
