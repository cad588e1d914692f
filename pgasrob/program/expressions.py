"""Integer expressions: trees, evaluation with C's meaning, partial evaluation, printing.

An expression is built from constants, registers, the names of memory cells (their address) and queues (their id),
``me`` and ``nodes``. Every operation carries the integer type it is done in; `.pgas` has 32-bit signed integers only,
so :data:`INT32` is the default everywhere. C programs also have doubles: a register or cell holds their 64 bits as a
signed integer, and operators on them are written with a dot.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field
from functools import partial
from itertools import repeat
from typing import Any, TypeGuard, TypeVar

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.program.float_functions import FUNCTIONS, FUNCTIONS_OF_TWO, applied
from pgasrob.program.value_classes import record

Evaluator = Callable[[Sequence[int]], int]
T = TypeVar("T")


class Apart(Exception):
    """Ranks for which one thing was to be computed need different ones: ``values``, one for each of them."""

    def __init__(self, values: Sequence[Hashable]) -> None:
        super().__init__("ranks that were taken as one do different things")
        self.values = tuple(values)


def alike(values: Sequence[T]) -> T:
    """The value that all ranks have, of ``values`` of each of them. Raises :class:`Apart` where they differ."""
    first = values[0]
    if any(each != first for each in values):
        raise Apart(values)
    return first


class Fault(Exception):
    """A command that cannot be evaluated (the design, section 3: "a fault"). The text says which values did it."""

    def __init__(self, why: str, code: str = Wrong.FAULT) -> None:
        super().__init__(why)
        self.code = code


@record
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

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -1 << (self.bits - 1), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1


INT32 = IntType(32, True)
MOST_NODES = 1 << 24
"""What "every number of nodes" goes up to, so that ranks and small multiples of them do not wrap around."""
GROWING = 1 << 40
"""Memory that grows with the number of nodes has addresses of its own as long as there is no number of them: a symbol
for the k-th of these objects, from 1 on, has k times this value."""


@record
class Const:
    value: int


@record
class Register:
    """A register, ``index`` its place in the register file of its rank."""

    name: str = field(hash=False)
    index: int


@record
class Symbol:
    """The name of a memory cell or of a queue; ``value`` is the address or the queue id it denotes."""

    name: str
    value: int


class ConstByRank(Const):
    """A constant that is another one, a number or the address of a cell, on each of some ranks for which code is made
    at once: ``each``, in the order of the ranks. Whoever needs the number itself sends the ranks apart
    (:class:`Apart`)."""

    __slots__ = ("each", "numbers")
    each: tuple[Const | Symbol, ...]
    numbers: tuple[int, ...]

    def __init__(self, each: tuple[Const | Symbol, ...]) -> None:
        object.__setattr__(self, "each", each)
        object.__setattr__(self, "numbers", tuple(one.value for one in each))

    @property
    def value(self) -> int:
        raise Apart(self.numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const | Symbol):
            return False
        others = other.each if isinstance(other, ConstByRank) else repeat(other)
        return alike([one == another for one, another in zip(self.each, others, strict=False)])

    def __hash__(self) -> int:
        raise Apart(self.numbers)

    def __repr__(self) -> str:
        return f"ConstByRank({self.each})"


def const_of(numbers: Sequence[int]) -> Const:
    """The constant that is so and so many on each rank."""
    return Const(numbers[0]) if len(set(numbers)) == 1 else ConstByRank(tuple(map(Const, numbers)))


@record
class Me:
    """The rank of the process that evaluates it."""


@record
class Nodes:
    """The number of nodes N."""


@record
class Unary:
    operator: str
    operand: Expr
    type: IntType = field(default=INT32, hash=False)


@record
class Binary:
    operator: str
    left: Expr
    right: Expr
    type: IntType = field(default=INT32, hash=False)  # it tells few apart, and is hashed as often as they are


@record
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr


Expr = Const | Register | Symbol | Me | Nodes | Unary | Binary | Conditional

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""For every relation the one that holds where it does not."""
MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""For every relation the same with its sides exchanged."""

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


def float_bits(value: float) -> int:
    """A double as the 64-bit signed integer that registers and cells hold for it. There is one NaN."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return _NAN if value != value else int(bits)


def float_value(bits: int) -> float:
    """The double that ``bits`` stand for; a value of more than 64 bits does for the lower ones."""
    (value,) = struct.unpack("<d", (bits & (1 << 64) - 1).to_bytes(8, "little"))
    return float(value)


_NAN = 0x7FF8 << 48


def _on_floats(compute: Callable[[float, float], float]) -> Callable[[int, int, IntType], int]:
    return lambda left, right, type: float_bits(compute(float_value(left), float_value(right)))


def _float_relation(compare: Callable[[Any, Any], bool]) -> Callable[[int, int, IntType], int]:
    return lambda left, right, type: int(compare(float_value(left), float_value(right)))


def _float_quotient(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or left != left:
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


def _nearest(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _single(value: float) -> float:
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(single)


def _truncated(value: float, type: IntType) -> int:
    lowest, highest = type.range
    if value != value or not lowest - 1 < value < highest + 1:
        raise Fault(f"{value} does not fit an integer of {type.bits} bits")
    return int(value)


def _relation(compare: Callable[[int, int], bool]) -> Callable[[int, int, IntType], int]:
    return lambda left, right, type: int(compare(left, right))


OPERATORS: dict[str, Callable[[int, int, IntType], int]] = {
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
    **{f"{symbol}.": _float_relation(compare) for symbol, compare in RELATIONS.items()},
    "+.": _on_floats(operator.add),
    "-.": _on_floats(operator.sub),
    "*.": _on_floats(operator.mul),
    "/.": _on_floats(_float_quotient),
    **{f"{name}.": _on_floats(partial(applied, name)) for name in FUNCTIONS_OF_TWO},
}
"""Binary operators by symbol: the operands, and the type that the operation is done in, give the result. Functions of
two doubles are among them, by their names and a dot."""


def _function(name: str) -> Callable[[int, IntType], int]:
    return lambda value, type: float_bits(applied(name, float_value(value)))


CONVERSIONS: dict[str, Callable[[int, IntType], int]] = {
    "cast": lambda value, type: type.wrap(value),
    "float": lambda value, type: float_bits(_nearest(value)),
    "int": lambda value, type: _truncated(float_value(value), type),
    "float32": lambda value, type: float_bits(_single(float_value(value))),
    "bits32": lambda value, type: int.from_bytes(struct.pack("<f", _single(float_value(value))), "little", signed=True),
    "of_bits32": lambda value, type: float_bits(struct.unpack("<f", (value & 0xFFFFFFFF).to_bytes(4, "little"))[0]),
    "-.": lambda value, type: float_bits(-float_value(value)),
    **{f"{name}.": _function(name) for name in FUNCTIONS},
}
"""Unary operators beside C's: to an integer type, from an integer to a double, from a double to an integer type, to the
precision of a float, from a float (held as a double) to its bits and back, the negation of a double, and functions."""


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
            if symbol in CONVERSIONS:
                convert = CONVERSIONS[symbol]
                return lambda registers: convert(inner(registers), type)
            return lambda registers: type.wrap(-inner(registers))
        case Binary("&&", left, right):
            first, second = evaluator(left), evaluator(right)
            return lambda registers: int(bool(first(registers) and second(registers)))
        case Binary("||", left, right):
            first, second = evaluator(left), evaluator(right)
            return lambda registers: int(bool(first(registers) or second(registers)))
        case Binary(symbol, left, right, type):
            first, second, compute = evaluator(left), evaluator(right), OPERATORS[symbol]
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
            return folded(Unary(symbol, specialise(operand, me, nodes), type))
        case Binary(symbol, left, right, type):
            first = specialise(left, me, nodes)
            second = specialise(right, me, nodes)
            # A constant left side of && and || decides alone, whatever the right side would do.
            decided = constant(first)
            if symbol == "&&" and decided == 0:
                return Const(0)
            if symbol == "||" and decided:
                return Const(1)
            return folded(Binary(symbol, first, second, type))
        case Conditional(condition, then, otherwise):
            test = specialise(condition, me, nodes)
            decided = constant(test)
            if decided is not None:
                return specialise(then if decided else otherwise, me, nodes)
            return Conditional(test, specialise(then, me, nodes), specialise(otherwise, me, nodes))
    return expr


def specialise_numbers(expr: Expr, me: int, nodes: int) -> Expr:
    """``expr`` for rank ``me`` of ``nodes``, its parts with a register, cell or queue kept as they are written."""
    if not any(isinstance(part, Register | Symbol) for part in parts(expr)):
        return specialise(expr, me, nodes)
    match expr:
        case Unary(symbol, operand, type):
            return Unary(symbol, specialise_numbers(operand, me, nodes), type)
        case Binary(symbol, left, right, type):
            return Binary(symbol, specialise_numbers(left, me, nodes), specialise_numbers(right, me, nodes), type)
        case Conditional(condition, then, otherwise):
            return Conditional(*(specialise_numbers(each, me, nodes) for each in (condition, then, otherwise)))
    return expr


def name_of(expr: Expr) -> str:
    """A text that no other expression has: a number, or the ``repr``; the rendered text would leave out types."""
    return str(expr.value) if isinstance(expr, Const) else repr(expr)


def is_of_rank(expr: Expr) -> bool:
    """Whether ``expr`` is computed from ``me``, ``nodes`` and constants alone: the same in all runs of a rank."""
    return not registers_of(expr)


def names_me_or_nodes(expr: Expr) -> bool:
    """Whether ``me`` or ``nodes`` stands in ``expr``."""
    return any(isinstance(part, Me | Nodes) for part in parts(expr))


def depends_on_rank(expr: Expr) -> bool:
    """Whether ``me`` stands in ``expr``."""
    return isinstance(expr, Me) or any(map(depends_on_rank, operands_of(expr)))


def constant(expr: Expr) -> int | None:
    """The value of ``expr`` when it is one constant or symbol, else None. The address of memory that grows with the
    number of nodes is no constant."""
    return expr.value if isinstance(expr, Const | Symbol) and not is_growing(expr) else None


def is_growing(expr: Expr) -> TypeGuard[Symbol]:
    """Whether ``expr`` stands for the first cell of memory that grows with the number of nodes."""
    return isinstance(expr, Symbol) and expr.value >= GROWING


def folded(expr: Unary | Binary) -> Expr:
    """``expr`` as one constant where it is one and has a value."""
    parts = (expr.operand,) if isinstance(expr, Unary) else (expr.left, expr.right)
    if any(constant(part) is None for part in parts):
        return expr
    try:
        return Const(evaluator(expr)(()))
    except Fault:
        return expr


def on_rank(place: int) -> Callable[[Expr], Expr | None]:
    """The change (see :func:`rewritten`) that makes an expression what it is on the rank at ``place`` among those for
    which code is made at once."""
    return lambda part: part.each[place] if isinstance(part, ConstByRank) else None


def rewritten(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """``expr`` with its parts replaced by what ``change`` gives for them, the largest first, and folded again; None
    leaves a part as it is."""
    new = change(expr)
    if new is not None:
        return new
    match expr:
        case Unary(symbol, operand, type):
            inner = rewritten(operand, change)
            return expr if inner is operand else folded(Unary(symbol, inner, type))
        case Binary(symbol, left, right, type):
            first, second = rewritten(left, change), rewritten(right, change)
            return expr if first is left and second is right else folded(Binary(symbol, first, second, type))
        case Conditional(condition, then, otherwise):
            test, yes, no = (rewritten(each, change) for each in (condition, then, otherwise))
            decided = constant(test)
            return Conditional(test, yes, no) if decided is None else yes if decided else no
    return expr


def branches_of(expr: Expr) -> Conditional | None:
    """``expr`` as ``?:``, where it is one or && or ||: its first operand decides which other one is evaluated."""
    match expr:
        case Binary("&&", left, right):
            return Conditional(left, Unary("!", Unary("!", right)), Const(0))
        case Binary("||", left, right):
            return Conditional(left, Const(1), Unary("!", Unary("!", right)))
    return expr if isinstance(expr, Conditional) else None


def operands_of(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of ``expr``."""
    match expr:
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return left, right
        case Conditional(condition, then, otherwise):
            return condition, then, otherwise
    return ()


def parts(expr: Expr) -> Iterator[Expr]:
    """``expr`` and all its subexpressions."""
    waiting = [expr]
    while waiting:
        each = waiting.pop()
        yield each
        if not isinstance(each, Register | Const):
            waiting += reversed(operands_of(each))


def flattened(expr: Expr, symbol: str, type: IntType | None = None) -> Iterator[Expr]:
    """The operands of nested operations ``symbol``, in ``type`` if one is given; ``expr`` itself where it is no such
    operation."""
    if isinstance(expr, Binary) and expr.operator == symbol and type in (None, expr.type):
        yield from flattened(expr.left, symbol, type)
        yield from flattened(expr.right, symbol, type)
    else:
        yield expr


def may_fault(expr: Expr) -> bool:
    """Whether the outermost operation of ``expr`` may have no value."""
    match expr:
        case Binary("/" | "%", _, right):
            return constant(right) in (None, 0) and not isinstance(right, Nodes)
        case Binary("<<" | ">>", _, right, type):
            places = constant(right)
            return places is None or not 0 <= places < type.bits
        case Unary("int"):
            return True
    return False


def faults_inside(expr: Expr) -> bool:
    """Whether any operation in ``expr`` may have no value."""
    return may_fault(expr) or any(map(faults_inside, operands_of(expr)))


NO_REGISTERS: frozenset[int] = frozenset()


def registers_of(expr: Expr) -> frozenset[int]:
    """The indexes of the registers that ``expr`` mentions."""
    if isinstance(expr, Register):
        return frozenset((expr.index,))
    if isinstance(expr, Binary):
        left, right = registers_of(expr.left), registers_of(expr.right)
        return (left | right if left else right) if right else left
    if isinstance(expr, Unary):
        return registers_of(expr.operand)
    if isinstance(expr, Conditional):
        return registers_of(expr.condition) | registers_of(expr.then) | registers_of(expr.otherwise)
    return NO_REGISTERS


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
        case Unary(symbol, operand, type) if symbol in CONVERSIONS:
            name = f"{'' if type.signed else 'u'}{symbol}{type.bits}" if symbol in ("cast", "int") else symbol
            if symbol != "-.":
                name = name.rstrip(".")
            return f"{name}({render(operand)})"
        case Unary(symbol, operand):
            # Without the space `-(-x)` would print as `--x`, which reads as another operator. And `-5` is a constant,
            # so the negation of the constant 5 is `-(5)`.
            literal = symbol == "-" and isinstance(operand, Const)
            inner = f"({render(operand)})" if literal else render(operand, UNARY_LEVEL)
            space = " " if symbol == "-" and inner.startswith("-") else ""
            text, mine = f"{symbol}{space}{inner}", UNARY_LEVEL
        case Binary(symbol, left, right) if symbol[:-1] in FUNCTIONS_OF_TWO:
            return f"{symbol[:-1]}({render(left)}, {render(right)})"
        case Binary(symbol, left, right):
            mine = LEVEL[symbol.rstrip(".")]
            text = f"{render(left, mine)} {symbol} {render(right, mine + 1)}"
        case Conditional(condition, then, otherwise):
            mine = 0
            text = f"{render(condition, 1)} ? {render(then)} : {render(otherwise)}"
            return f"({text})" if level > 0 else text
    return f"({text})" if mine < level else text
