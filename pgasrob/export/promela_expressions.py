"""Prints expressions and assignments of a model: in Promela where 32 bits suffice, else in embedded C.

Promela computes with C's `int`. An operation in another type gives the same there when its operands and its result
before it wraps fit; ranges show when they do. In embedded C all numbers are computed as `wide`, which has 128 bits, so
that nothing is lost before a result is converted to its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from pgasrob.analysis.intervals import Interval, operation, value_of
from pgasrob.program import core
from pgasrob.program.expressions import (
    INT32,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    constant,
    float_bits,
    render,
)
from pgasrob.program.float_functions import FUNCTIONS_OF_TWO
from pgasrob.semantics.effect import OPERATOR_OF

MOST_TEXT = 20_000
"""Characters of one expression, which can double with every division."""


class Unsupported(Exception):
    """The instance has no exact model; the text says why."""


EXACT = IntType(160, True)
"""A type in which no operation on integers of up to 64 bits wraps around."""
INT64, UINT64 = IntType(64, True), IntType(64, False)

PROMELA = {"bit": (0, 1), "byte": (0, 255), "short": (-(1 << 15), (1 << 15) - 1), "int": INT32.range}
"""Promela's types, smaller ones first."""
EMBEDDED = {"int64": INT64.range, "uint64": UINT64.range}
"""Types of variables that only embedded C sees; what fits neither is `wide`."""

DECLARATIONS = """\
c_decl {
  typedef long long int64;
  typedef unsigned long long uint64;
  typedef __int128 wide __attribute__((aligned(8)));
  wide old_wide;
  /* A double is kept as its bits. There is one NaN. */
  union both { double real; int64 bits; };
  static double real(wide value) { union both it; it.bits = (int64) value; return it.real; }
  union half { float real; int bits; };
  static wide bits32(wide value) { union half it; it.real = (float) real(value); return it.bits; }
  static wide bits(double value) { union both it; it.real = value; return value == value ? it.bits : 4095LL << 51; }
  static wide of_bits32(wide value) { union half it; it.bits = (int) value; return bits(it.real); }
};""".splitlines()
"""Declarations for embedded C. SPIN takes `name(...)` for a call with side-effects, so functions are called as
`(bits)(value)`."""


def type_of(values: Interval) -> str:
    """The smallest type for some values."""
    for name, bounds in (*PROMELA.items(), *EMBEDDED.items()):
        if _within(values, bounds):
            return name
    return "wide"


def _within(values: Interval, bounds: Interval) -> bool:
    return bounds[0] <= values[0] and values[1] <= bounds[1]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a model: its name, the values that it may have, its type, and where C finds it (``now.``)."""

    name: str
    values: Interval
    type: str
    place: str

    @property
    def is_plain(self) -> bool:
        """Whether Promela has the type."""
        return self.type in PROMELA

    @property
    def bytes(self) -> int:
        """Not less than it takes in a state."""
        return 4 if self.is_plain else 8 if self.type in EMBEDDED else 16

    def declaration(self, scope: str, start: int = 0) -> str:
        """With its initial value; ``scope`` is where it belongs if it is C's."""
        if self.is_plain:
            return f"{self.type} {self.name}{f' = {_literal(start)}' if start else ''};"
        return f'c_state "{self.type} {self.name}" "{scope}" "{_literal(start)}"'


OLD = Variable("old", INT32.range, "int", "")
"""Holds the old value of a cell during a command, for cells of Promela's types."""
OLD_WIDE = Variable("old_wide", (INT64.range[0], UINT64.range[1]), "wide", "")
"""The same for other cells."""


class Scope:
    """Prints expressions over the variables that a command sees: registers by number, then variables added to them."""

    def __init__(self, registers: list[Variable], values: tuple[Interval, ...]) -> None:
        self._variables = registers
        self._file = values

    def adding(self, *variables: Variable) -> tuple[Scope, tuple[Register, ...]]:
        """The scope with more variables, and the expressions that they are."""
        first = len(self._variables)
        scope = Scope([*self._variables, *variables], (*self._file, *(variable.values for variable in variables)))
        return scope, tuple(Register(variable.name, first + place) for place, variable in enumerate(variables))

    def variable(self, register: Register) -> Variable:
        return self._variables[register.index]

    # Texts

    def condition(self, expr: Expr) -> str:
        """``expr`` where Promela wants a condition."""
        return self._promela(expr) if self.is_plain(expr) else f"c_expr {{ {self._c(expr)} }}"

    def assigned(self, variable: Variable, expr: Expr) -> list[str]:
        """The statement that sets ``variable``; none when it has the value already."""
        if isinstance(expr, Register) and self.variable(expr) == variable:
            return []
        if variable.is_plain and self.is_plain(expr):
            return [f"{variable.name} = {self._promela(expr)};"]
        return [f"c_code {{ {variable.place}{variable.name} = {self._c(expr)}; }};"]

    # What Promela can express

    def is_plain(self, expr: Expr) -> bool:
        """Whether Promela computes ``expr`` without loss."""
        match expr:
            case Const(value) | Symbol(_, value):
                return _within((value, value), INT32.range)
            case Register():
                return self.variable(expr).is_plain
            case Conditional(condition, then, otherwise):
                return self.is_plain(condition) and self.is_plain(then) and self.is_plain(otherwise)
            case Unary("!", operand):
                return self.is_plain(operand)
            case Unary("cast", operand, type):
                values = value_of(operand)(self._file)
                return self.is_plain(operand) and (type == INT32 or values is None or _within(values, type.range))
            case Unary("-" | "~" as symbol, operand, type):
                values = value_of(Unary(symbol, operand, EXACT))(self._file)
                return self.is_plain(operand) and _fits(values, type)
            case Unary():
                return False
            case Binary(symbol, left, right, type):
                if symbol.endswith(".") or not (self.is_plain(left) and self.is_plain(right)):
                    return False
                return symbol in ("&&", "||", *RELATIONS) or self._computes(symbol, left, right, type)
            case Me() | Nodes():
                raise _unspecialised(expr)
            case _:
                assert_never(expr)

    def _computes(self, symbol: str, left: Expr, right: Expr, type: IntType) -> bool:
        first, second = value_of(left)(self._file), value_of(right)(self._file)
        if type == INT32 or first is None or second is None:
            return True
        if symbol in ("<<", ">>") and not _within(second, (0, 31)):
            return False
        return _fits(operation(symbol)(first, second, EXACT), type)

    def _promela(self, expr: Expr) -> str:
        """``expr``, which must be plain, in Promela; where ``expr`` faults, the text may mean anything."""
        text = self._promela_text(expr)
        if len(text) > MOST_TEXT:
            raise Unsupported(f"an expression takes {len(text):,} characters in Promela, which has no temporary values")
        return text

    def _promela_text(self, expr: Expr) -> str:
        match expr:
            case Const(value) | Symbol(_, value):
                return _literal(value)
            case Register():
                return self.variable(expr).name
            case Conditional(condition, then, otherwise):
                return f"({self._promela(condition)} -> {self._promela(then)} : {self._promela(otherwise)})"
            case Unary("cast", operand):
                return self._promela(operand)
            case Unary(symbol, operand):
                return f"({symbol}{self._promela(operand)})"
            case Binary(symbol, left, right):
                first, second = self._promela(left), self._promela(right)
                plain = f"({first} {symbol} {second})"
                divisor = constant(right)
                if symbol in ("/", "%") and divisor in (None, -1):
                    # The processor traps at INT_MIN / -1.
                    by_minus_one = f"(-{first})" if symbol == "/" else "0"
                    return by_minus_one if divisor == -1 else f"({second} == (-1) -> {by_minus_one} : {plain})"
                return plain
            case Me() | Nodes():
                raise _unspecialised(expr)
            case _:
                assert_never(expr)

    # C

    def _c(self, expr: Expr) -> str:
        """``expr`` as a `wide` number in C; where ``expr`` faults, the text may mean anything."""
        text = self._c_text(expr)
        if len(text) > MOST_TEXT:
            raise Unsupported(f"an expression takes {len(text):,} characters in C")
        return text

    def _c_text(self, expr: Expr) -> str:
        match expr:
            case Const(value) | Symbol(_, value):
                return f"(wide) {_literal(value)}"
            case Register():
                variable = self.variable(expr)
                return f"(wide) {variable.place}{variable.name}"
            case Conditional(condition, then, otherwise):
                return f"({self._c(condition)} ? {self._c(then)} : {self._c(otherwise)})"
            case Unary(symbol, operand, type):
                return _unary_in_c(symbol, self._c(operand), type)
            case Binary(symbol, left, right, type):
                first, second = self._c(left), self._c(right)
                if symbol[:-1] in FUNCTIONS_OF_TWO:
                    raise Unsupported(f"the function `{symbol[:-1]}`")
                if symbol.endswith("."):
                    text = f"((real)({first}) {symbol[:-1]} (real)({second}))"
                    return f"(wide) {text}" if symbol[:-1] in RELATIONS else f"(bits){text}"
                text = f"({first} {symbol} {second})"
                # A remainder never wraps around.
                return f"(wide) {text}" if symbol in ("&&", "||", "%", *RELATIONS) else _wrapped(text, type)
            case Me() | Nodes():
                raise _unspecialised(expr)
            case _:
                assert_never(expr)


def _unary_in_c(symbol: str, operand: str, type: IntType) -> str:
    match symbol:
        case "!":
            return f"(wide) !({operand})"
        case "-" | "~":
            return _wrapped(f"({symbol}({operand}))", type)
        case "cast":
            return _wrapped(f"({operand})", type)
        case "int":
            return f"(wide) (real)({operand})"
        case "float":
            return f"(bits)((double) ({operand}))"
        case "float32":
            return f"(bits)((float) (real)({operand}))"
        case "bits32":
            return f"(bits32)({operand})"
        case "of_bits32":
            return f"(of_bits32)({operand})"
        case "-.":
            return f"(bits)(-(real)({operand}))"
    raise Unsupported(f"the function `{symbol.rstrip('.')}`")


_C_TYPES = {8: "char", 16: "short", 32: "int", 64: "long long"}


def _wrapped(text: str, type: IntType) -> str:
    """``text`` converted to ``type``."""
    if type.bits not in _C_TYPES:
        raise Unsupported(f"an operation on {type.bits}-bit {'' if type.signed else 'un'}signed integers")
    return f"(wide) ({'signed' if type.signed else 'unsigned'} {_C_TYPES[type.bits]}) {text}"


def _fits(exact: Interval | None, type: IntType) -> bool:
    """Whether a result is the same in ``type`` and in 32 bits; None: it has none."""
    return type == INT32 or exact is None or (_within(exact, type.range) and _within(exact, INT32.range))


def _literal(value: int) -> str:
    for (least, greatest), suffix in ((INT32.range, ""), (INT64.range, "LL"), (UINT64.range, "ULL")):
        if value == least < 0:
            return f"(-{greatest}{suffix} - 1)"  # its absolute value is no number of the type
        if least <= value <= greatest:
            return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"
    raise Unsupported(f"{value} has more than 64 bits")


def _unspecialised(expr: Expr) -> ValueError:
    return ValueError(f"{render(expr)} must be specialised for a rank")


# Faults


def has_value(expr: Expr) -> Expr | None:
    """A condition under which ``expr`` does not fault, itself without fault; None when it never does."""
    match expr:
        case Unary("int", operand, type):
            return _all([has_value(operand), *_near(operand, type)])
        case Unary(_, operand):
            return has_value(operand)
        case Binary("&&" | "||" as symbol, left, right):
            rest = has_value(right)
            if rest is not None:
                rest = Binary("||", Unary("!", left) if symbol == "&&" else left, rest)
            return _all([has_value(left), rest])
        case Binary(symbol, left, right, type):
            own: list[Expr] = []
            value = constant(right)
            if symbol in ("/", "%") and not value:
                own = [Const(0) if value == 0 else Binary("!=", right, Const(0))]
            elif symbol in ("<<", ">>") and value is None:
                own = [Binary(">=", right, Const(0)), Binary("<", right, Const(type.bits))]
            elif symbol in ("<<", ">>") and value not in range(type.bits):
                own = [Const(0)]
            return _all([has_value(left), has_value(right), *own])
        case Conditional(condition, then, otherwise):
            yes, no = has_value(then), has_value(otherwise)
            branch = None
            if yes is not None or no is not None:
                branch = Conditional(condition, yes or Const(1), no or Const(1))
            return _all([has_value(condition), branch])
        case Const() | Symbol() | Register():
            return None
        case Me() | Nodes():
            raise _unspecialised(expr)
        case _:
            assert_never(expr)


def _near(operand: Expr, type: IntType) -> Iterator[Expr]:
    """The conditions under which the double ``operand``, cut off to an integer, fits ``type``."""
    low, high = type.range
    # If low - 1 is a double, all greater doubles are cut off to low or more; else low is the least double that fits.
    exact = int(float(low - 1)) == low - 1
    yield Binary("<." if exact else "<=.", Const(float_bits(float(low - 1 if exact else low))), operand)
    yield Binary("<.", operand, Const(float_bits(float(high + 1))))


def _all(conditions: list[Expr | None]) -> Expr | None:
    found: Expr | None = None
    for condition in conditions:
        if condition is not None:
            found = condition if found is None else Binary("&&", found, condition)
    return found


# Updates


def updated(update: core.Update[Expr], old: Expr, operand: Expr, expected: Expr | None) -> Expr:
    """The value of a cell after an update (`semantics.effect.updated`), by its old value, the operand, and the value
    that a compare_swap expects."""
    match update.operation:
        case "set":
            return operand
        case "fetch":
            return old
        case "compare_swap":
            assert expected is not None, "a compare_swap expects something"
            return Conditional(Binary("==", old, expected), operand, old)
        case "min":
            return Conditional(Binary("<", old, operand), old, operand)
        case "max":
            return Conditional(Binary("<", old, operand), operand, old)
        case "min.":
            return Conditional(Binary("<.", old, operand), old, operand)
        case "max.":
            return Conditional(Binary("<.", old, operand), operand, old)
    return Binary(OPERATOR_OF[update.operation], old, operand, update.type)
