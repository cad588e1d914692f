"""Expressions over 32-bit signed integers, their C text and their values (the design: sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Expr: TypeAlias = "Int | Name | Unary | Binary | Conditional"


class Fault(Exception):
    """A command that cannot be evaluated (the design: section 3, "A *fault*")."""


@dataclass(frozen=True, slots=True)
class Int:
    """An integer literal, 0 to 2^31; a negative number is a `-` before one."""

    value: int

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 2**31:
            raise ValueError(f"no literal of the grammar: {self.value}")


@dataclass(frozen=True, slots=True)
class Name:
    """A register (its value), a memory cell (its address), a queue (its id), `me` or `nodes`."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    symbol: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    symbol: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    test: Expr
    yes: Expr
    no: Expr


def lift(value: Expr | int | str) -> Expr:
    """An expression from an int, a name, or an expression."""
    if isinstance(value, int):
        return Int(value) if value >= 0 else Unary("-", Int(-value))
    return Name(value) if isinstance(value, str) else value


def op(symbol: str, *operands: Expr | int | str) -> Expr:
    """`op("+", "me", 1)` is me + 1, `op("!", "r")` is !r, `op("?:", c, a, b)` is c ? a : b."""
    trees = [lift(operand) for operand in operands]
    return (
        Conditional(*trees) if len(trees) == 3 else Binary(symbol, *trees) if len(trees) == 2 else Unary(symbol, *trees)
    )


def wrap(value: int) -> int:
    """The 32-bit signed integer that is equal to `value` modulo 2^32."""
    return (value + 2**31) % 2**32 - 2**31


def evaluate(expr: Expr, names: Mapping[str, int]) -> int:
    """The value of `expr`; what `&&`, `||` and `?:` skip is not evaluated and cannot fault."""
    match expr:
        case Int(value):
            return wrap(value)
        case Name(name):
            return names[name]
        case Unary(symbol, operand):
            value = evaluate(operand, names)
            return {"!": int(value == 0), "~": ~value, "-": wrap(-value)}[symbol]
        case Conditional(test, yes, no):
            return evaluate(yes if evaluate(test, names) else no, names)
        case Binary("&&", left, right):
            return int(evaluate(left, names) != 0 and evaluate(right, names) != 0)
        case Binary("||", left, right):
            return int(evaluate(left, names) != 0 or evaluate(right, names) != 0)
        case Binary(symbol, left, right):
            return _binary(symbol, evaluate(left, names), evaluate(right, names))
    raise TypeError(f"no expression: {expr!r}")


def _binary(symbol: str, a: int, b: int) -> int:
    match symbol:
        case "+":
            return wrap(a + b)
        case "-":
            return wrap(a - b)
        case "*":
            return wrap(a * b)
        case "/" | "%":
            if b == 0:
                raise Fault("division by zero")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return wrap(quotient if symbol == "/" else a - quotient * b)
        case "<<" | ">>":
            if not 0 <= b <= 31:
                raise Fault(f"shift by {b}")
            return wrap(a << b) if symbol == "<<" else a >> b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case _:
            return int(compare(symbol, a, b))


def compare(relop: str, a: int, b: int) -> bool:
    """The six relations of the grammar's `relop`."""
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[relop]


# Loosest first, as in C.
_LEVELS = tuple(map(str.split, ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")))
_LEVEL = {symbol: level for level, symbols in enumerate(_LEVELS, start=1) for symbol in symbols}
_UNARY, _ATOM = len(_LEVELS) + 1, len(_LEVELS) + 2


def _level(expr: Expr) -> int:
    match expr:
        case Conditional():
            return 0
        case Binary(symbol):
            return _LEVEL[symbol]
        case Unary():
            return _UNARY
    return _ATOM


def to_text(expr: Expr, above: int = 0) -> str:
    """C text with no more parentheses than C's precedence asks for (so that a parser's precedence is tested too)."""
    level = _level(expr)
    match expr:
        case Int(value):
            text = str(value)
        case Name(name):
            text = name
        case Unary(symbol, operand):
            # `--` is no operator of the grammar, but nothing says how two minus signs in a row are read
            inner = _ATOM if isinstance(operand, Unary) else _UNARY
            text = symbol + to_text(operand, inner)
        case Binary(symbol, left, right):
            text = f"{to_text(left, level)} {symbol} {to_text(right, level + 1)}"
        case Conditional(test, yes, no):
            text = f"{to_text(test, 1)} ? {to_text(yes)} : {to_text(no)}"
    return f"({text})" if level < above else text


def may_fault(expr: Expr) -> bool:
    """Whether `expr` divides or shifts, which has no value for some operands."""
    match expr:
        case Unary(_, operand):
            return may_fault(operand)
        case Binary(symbol, left, right):
            return symbol in ("/", "%", "<<", ">>") or may_fault(left) or may_fault(right)
        case Conditional(test, yes, no):
            return any(map(may_fault, (test, yes, no)))
    return False
