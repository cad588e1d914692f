"""Integer expressions: trees, evaluation with C's meaning, partial evaluation, printing.

An expression is built from constants, registers, the names of memory cells (their address) and queues (their id),
``me`` and ``nodes``. Every operation carries the integer type it is done in; `.pgas` has 32-bit signed integers only,
so :data:`INT32` is the default everywhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Evaluator = Callable[[Sequence[int]], int]


class Fault(Exception):
    """A command that cannot be evaluated (the design, section 3: "a fault"). The text says which values did it."""


@dataclass(frozen=True, slots=True)
class IntType:
    """An integer type of ``bits`` bits, two's complement when ``signed``."""

    bits: int
    signed: bool

    def wrap(self, value: int) -> int:
        """``value`` modulo 2**bits, in the range of the type."""
        value &= (1 << self.bits) - 1
        if self.signed and value >> (self.bits - 1):
            value -= 1 << self.bits
        return value


INT32 = IntType(32, True)


@dataclass(frozen=True, slots=True)
class Const:
    value: int


@dataclass(frozen=True, slots=True)
class Register:
    """A register, ``index`` its place in the register file of its rank."""

    name: str
    index: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a memory cell or of a queue; ``value`` is the address or the queue id it denotes."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Me:
    """The rank of the process that evaluates it."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The number of nodes N."""


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    operand: Expr
    type: IntType = INT32


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Expr
    right: Expr
    type: IntType = INT32


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr


Expr = Const | Register | Symbol | Me | Nodes | Unary | Binary | Conditional

RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

# C's binary operators from loosest to tightest; the printer and the grammar both follow this order.
PRECEDENCE: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
LEVEL = {symbol: level for level, symbols in enumerate(PRECEDENCE, start=1) for symbol in symbols}
UNARY_LEVEL = len(PRECEDENCE) + 1


def _divide(left: int, right: int, type: IntType) -> int:
    if right == 0:
        raise Fault(f"division by zero: {left} / 0")
    quotient = abs(left) // abs(right)
    return type.wrap(quotient if (left < 0) == (right < 0) else -quotient)


def _remainder(left: int, right: int, type: IntType) -> int:
    if right == 0:
        raise Fault(f"division by zero: {left} % 0")
    magnitude = abs(left) % abs(right)
    return -magnitude if left < 0 else magnitude


def _shift(move: Callable[[int, int], int], symbol: str) -> Callable[[int, int, IntType], int]:
    def shifted(left: int, right: int, type: IntType) -> int:
        if not 0 <= right < type.bits:
            raise Fault(f"shift outside 0..{type.bits - 1}: {left} {symbol} {right}")
        return type.wrap(move(left, right))

    return shifted


def _wrapped(compute: Callable[[int, int], int]) -> Callable[[int, int, IntType], int]:
    return lambda left, right, type: type.wrap(compute(left, right))


def _relation(compare: Callable[[int, int], bool]) -> Callable[[int, int, IntType], int]:
    return lambda left, right, type: int(compare(left, right))


_ARITHMETIC: dict[str, Callable[[int, int, IntType], int]] = {
    "+": _wrapped(operator.add),
    "-": _wrapped(operator.sub),
    "*": _wrapped(operator.mul),
    "&": _wrapped(operator.and_),
    "|": _wrapped(operator.or_),
    "^": _wrapped(operator.xor),
    "/": _divide,
    "%": _remainder,
    "<<": _shift(operator.lshift, "<<"),
    ">>": _shift(operator.rshift, ">>"),
    **{symbol: _relation(compare) for symbol, compare in RELATIONS.items()},
}


def evaluator(expr: Expr) -> Evaluator:
    """A function from the register file of a rank to the value of ``expr``.

    ``expr`` must be specialised (no ``me`` or ``nodes`` left). The function raises :class:`Fault` where C has no value:
    division by zero, a shift outside the width.
    """
    match expr:
        case Const(value) | Symbol(_, value):
            return lambda registers: value
        case Register(_, index):
            return lambda registers: registers[index]
        case Unary(symbol, operand, type):
            inner = evaluator(operand)
            if symbol == "!":
                return lambda registers: int(not inner(registers))
            if symbol == "~":
                return lambda registers: type.wrap(~inner(registers))
            return lambda registers: type.wrap(-inner(registers))
        case Binary("&&", left, right):
            first, second = evaluator(left), evaluator(right)
            return lambda registers: int(bool(first(registers) and second(registers)))
        case Binary("||", left, right):
            first, second = evaluator(left), evaluator(right)
            return lambda registers: int(bool(first(registers) or second(registers)))
        case Binary(symbol, left, right, type):
            first, second, compute = evaluator(left), evaluator(right), _ARITHMETIC[symbol]
            return lambda registers: compute(first(registers), second(registers), type)
        case Conditional(condition, then, otherwise):
            test, yes, no = evaluator(condition), evaluator(then), evaluator(otherwise)
            return lambda registers: yes(registers) if test(registers) else no(registers)
    raise ValueError(f"{render(expr)} must be specialised for a rank before it is evaluated")


def specialise(expr: Expr, me: int, nodes: int) -> Expr:
    """``expr`` for rank ``me`` of ``nodes``, with every part folded that has one value.

    A part that would fault is left as it is: it may stand in code that no run reaches.
    """
    match expr:
        case Me():
            return Const(me)
        case Nodes():
            return Const(nodes)
        case Unary(symbol, operand, type):
            return _fold(Unary(symbol, specialise(operand, me, nodes), type))
        case Binary(symbol, left, right, type):
            first = specialise(left, me, nodes)
            second = specialise(right, me, nodes)
            # A constant left side of && and || decides alone, whatever the right side would do.
            decided = constant(first)
            if symbol == "&&" and decided == 0:
                return Const(0)
            if symbol == "||" and decided:
                return Const(1)
            return _fold(Binary(symbol, first, second, type))
        case Conditional(condition, then, otherwise):
            test = specialise(condition, me, nodes)
            decided = constant(test)
            if decided is not None:
                return specialise(then if decided else otherwise, me, nodes)
            return Conditional(test, specialise(then, me, nodes), specialise(otherwise, me, nodes))
    return expr


def constant(expr: Expr) -> int | None:
    """The value of ``expr`` when it is one constant or symbol, else None."""
    return expr.value if isinstance(expr, Const | Symbol) else None


def _fold(expr: Unary | Binary) -> Expr:
    parts = (expr.operand,) if isinstance(expr, Unary) else (expr.left, expr.right)
    if any(constant(part) is None for part in parts):
        return expr
    try:
        return Const(evaluator(expr)(()))
    except Fault:
        return expr


def registers_of(expr: Expr) -> frozenset[int]:
    """The indexes of the registers that ``expr`` mentions."""
    match expr:
        case Register(_, index):
            return frozenset((index,))
        case Unary(_, operand):
            return registers_of(operand)
        case Binary(_, left, right):
            return registers_of(left) | registers_of(right)
        case Conditional(condition, then, otherwise):
            return registers_of(condition) | registers_of(then) | registers_of(otherwise)
    return frozenset()


def render(expr: Expr, level: int = 0) -> str:
    """``expr`` as source text, with the parentheses that an operator of ``level`` around it needs."""
    match expr:
        case Const(value):
            # A negative constant prints like the unary minus it stands for.
            return f"({value})" if value < 0 and level >= UNARY_LEVEL else str(value)
        case Register(name) | Symbol(name):
            return name
        case Me():
            return "me"
        case Nodes():
            return "nodes"
        case Unary(symbol, operand):
            # Without the space `-(-x)` would print as `--x`, which reads as another operator. And `-5` is a constant,
            # so the negation of the constant 5 is `-(5)`.
            literal = symbol == "-" and isinstance(operand, Const)
            inner = f"({render(operand)})" if literal else render(operand, UNARY_LEVEL)
            space = " " if symbol == "-" and inner.startswith("-") else ""
            text, mine = f"{symbol}{space}{inner}", UNARY_LEVEL
        case Binary(symbol, left, right):
            mine = LEVEL[symbol]
            text = f"{render(left, mine)} {symbol} {render(right, mine + 1)}"
        case Conditional(condition, then, otherwise):
            mine = 0
            text = f"{render(condition, 1)} ? {render(then)} : {render(otherwise)}"
            return f"({text})" if level > 0 else text
    return f"({text})" if mine < level else text
