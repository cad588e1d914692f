"""Expressions: C's values on 32 bits, faults, partial evaluation."""

from __future__ import annotations

import re
from ctypes import c_int32
from fractions import Fraction
from math import inf, nan, trunc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.expressions import (
    INT32,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    constant,
    evaluator,
    float_bits,
    float_value,
    registers_of,
    specialise,
)
from tests.program.strategies import INTEGERS, REGISTERS, expressions
from tests.support import examples

LEAST, GREATEST = -(2**31), 2**31 - 1
R, S = Register("r", 0), Register("s", 1)


def value(expr: Expr, *registers: int) -> int:
    return evaluator(expr)(registers)


# A slow reference: integers as they are in C, bit by bit where C says bits, exact fractions where it says truncation.


class NoValue(Exception):
    """C gives the expression no value."""


def reference(expr: Expr, registers: tuple[int, ...], me: int, nodes: int) -> int:
    """The value of ``expr`` on rank ``me`` of ``nodes``, by the definition of each operator."""

    def of(part: Expr) -> int:
        return reference(part, registers, me, nodes)

    match expr:
        case Const(value) | Symbol(_, value):
            return value
        case Register(_, index):
            return registers[index]
        case Me():
            return me
        case Nodes():
            return nodes
        case Conditional(test, yes, no):
            return of(yes) if of(test) != 0 else of(no)
        case Unary("!", operand):
            return 1 if of(operand) == 0 else 0
        case Unary("~", operand):
            return -1 - of(operand)
        case Unary("-", operand):
            return c_int32(0 - of(operand)).value
        case Binary("&&", left, right):
            return 1 if of(left) != 0 and of(right) != 0 else 0
        case Binary("||", left, right):
            return 1 if of(left) != 0 or of(right) != 0 else 0
        case Binary(symbol, left, right):
            return c_int32(_exact(symbol, of(left), of(right))).value
    raise AssertionError(expr)


def _exact(symbol: str, a: int, b: int) -> int:
    """The mathematical result, which the caller reduces to 32 bits."""
    match symbol:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            if b == 0:
                raise NoValue
            quotient = trunc(Fraction(a, b))
            return quotient if symbol == "/" else a - b * quotient
        case "<<" | ">>":
            if b < 0 or b > 31:
                raise NoValue
            return a * 2**b if symbol == "<<" else a // 2**b
        case "&" | "|" | "^":
            wanted = {"&": (2,), "|": (1, 2), "^": (1,)}[symbol]  # how many of the two bits are set
            return sum(2**bit for bit in range(32) if (a // 2**bit) % 2 + (b // 2**bit) % 2 in wanted)
        case "==":
            return int(a - b == 0)
        case "!=":
            return int(a - b != 0)
        case "<":
            return int(a - b < 0)
        case "<=":
            return int(a - b <= 0)
        case ">":
            return int(a - b > 0)
        case ">=":
            return int(a - b >= 0)
    raise AssertionError(symbol)


def expected(expr: Expr, registers: tuple[int, ...], me: int, nodes: int) -> int | None:
    try:
        return reference(expr, registers, me, nodes)
    except NoValue:
        return None


def got(expr: Expr, registers: tuple[int, ...]) -> int | None:
    try:
        return evaluator(expr)(registers)
    except Fault:
        return None


FILES = st.tuples(*[INTEGERS] * len(REGISTERS))


@settings(max_examples=examples(360, 20_000))
@given(expressions(), FILES, st.integers(0, 4), st.integers(1, 5))
def test_values_and_faults_are_those_of_c(expr: Expr, registers: tuple[int, ...], me: int, nodes: int) -> None:
    """And partial evaluation changes neither the value nor whether there is one."""
    assert got(specialise(expr, me, nodes), registers) == expected(expr, registers, me, nodes)


@settings(max_examples=examples(300, 5_000))
@given(
    expressions(st.one_of(INTEGERS.map(Const), st.sampled_from(REGISTERS))),
    FILES,
)
def test_evaluation_alone(expr: Expr, registers: tuple[int, ...]) -> None:
    """Without `me` and `nodes` there is nothing to specialise, so nothing is folded before."""
    assert got(expr, registers) == expected(expr, registers, 0, 1)


@settings(max_examples=examples(300, 5_000))
@given(st.sampled_from(sorted({"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", *RELATIONS})), FILES)
def test_every_binary_operator(symbol: str, registers: tuple[int, ...]) -> None:
    expr = Binary(symbol, R, S)
    assert got(expr, registers) == expected(expr, registers, 0, 1)


@settings(max_examples=examples(300, 5_000))
@given(expressions(), st.integers(0, 4), st.integers(1, 5))
def test_specialised_expressions_mention_registers_only(expr: Expr, me: int, nodes: int) -> None:
    special = specialise(expr, me, nodes)
    assert registers_of(special) <= registers_of(expr)
    assert "Me(" not in repr(special) and "Nodes(" not in repr(special)
    assert specialise(special, me, nodes) == special
    if not registers_of(expr) and expected(expr, (), me, nodes) is not None:
        assert constant(special) == expected(expr, (), me, nodes)


@pytest.mark.parametrize(
    ("symbol", "left", "right", "result"),
    [
        ("+", GREATEST, 1, LEAST),
        ("-", LEAST, 1, GREATEST),
        ("*", 65_536, 65_536, 0),
        ("*", LEAST, -1, LEAST),
        ("/", 7, -2, -3),
        ("/", -7, 2, -3),
        ("/", LEAST, -1, LEAST),
        ("%", 7, -2, 1),
        ("%", -7, 2, -1),
        ("%", LEAST, -1, 0),
        ("<<", 1, 31, LEAST),
        ("<<", 3, 31, LEAST),
        (">>", -1, 31, -1),
        (">>", -5, 1, -3),
        (">>", LEAST, 31, -1),
        ("&", -1, 5, 5),
        ("^", -1, 5, -6),
        ("&&", 2, -1, 1),
        ("||", 0, -1, 1),
        ("<", -1, 0, 1),
    ],
)
def test_corners(symbol: str, left: int, right: int, result: int) -> None:
    assert value(Binary(symbol, R, S), left, right) == result
    assert specialise(Binary(symbol, Const(left), Const(right)), 0, 1) == Const(result)


@pytest.mark.parametrize(("symbol", "operand", "result"), [("-", LEAST, LEAST), ("~", 0, -1), ("!", 5, 0), ("!", 0, 1)])
def test_unary_corners(symbol: str, operand: int, result: int) -> None:
    assert value(Unary(symbol, R), operand) == result


@pytest.mark.parametrize(
    ("symbol", "left", "right", "message"),
    [
        ("/", 5, 0, "division by zero: 5 / 0"),
        ("%", 5, 0, "division by zero: 5 % 0"),
        ("<<", 1, 32, "shift outside 0..31: 1 << 32"),
        ("<<", 1, -1, "shift outside 0..31: 1 << -1"),
        (">>", 1, 32, "shift outside 0..31: 1 >> 32"),
    ],
)
def test_faults_name_the_values(symbol: str, left: int, right: int, message: str) -> None:
    with pytest.raises(Fault, match=f"^{re.escape(message)}$"):
        value(Binary(symbol, R, S), left, right)
    # In code that nobody runs it is none: partial evaluation leaves it as it is.
    faulty = Binary(symbol, Const(left), Const(right))
    assert specialise(faulty, 0, 1) == faulty


FAULTY = Binary("/", Const(1), Const(0))


@pytest.mark.parametrize(
    ("expr", "result"),
    [
        (Binary("&&", Const(0), FAULTY), Const(0)),
        (Binary("||", Const(3), FAULTY), Const(1)),
        (Conditional(Const(1), Const(2), FAULTY), Const(2)),
        (Conditional(Const(0), FAULTY, Const(2)), Const(2)),
        (Conditional(Binary("==", Me(), Const(1)), R, FAULTY), R),
        (Binary("&&", R, FAULTY), Binary("&&", R, FAULTY)),
        (Binary("&&", FAULTY, Const(0)), Binary("&&", FAULTY, Const(0))),
        (Binary("*", Const(0), R), Binary("*", Const(0), R)),  # folded only where every part has a value
        (Binary("+", Symbol("a", 4), Me()), Const(5)),
        (Symbol("a", 4), Symbol("a", 4)),  # a name by itself keeps its name, for reports
        (Binary("-", Nodes(), Const(1)), Const(2)),
    ],
)
def test_what_is_skipped_cannot_fault(expr: Expr, result: Expr) -> None:
    assert specialise(expr, 1, 3) == result


@pytest.mark.parametrize(("expr", "result"), [(Binary("&&", R, FAULTY), 0), (Conditional(R, FAULTY, Const(7)), 7)])
def test_what_is_skipped_is_not_evaluated(expr: Expr, result: int) -> None:
    assert value(expr, 0) == result
    with pytest.raises(Fault):
        value(expr, 1)


@pytest.mark.parametrize(
    ("type", "symbol", "left", "right", "result"),
    [
        (IntType(64, True), "+", GREATEST, 1, 2**31),
        (IntType(64, True), "<<", 1, 32, 2**32),
        (IntType(64, True), "+", 2**63 - 1, 1, -(2**63)),
        (IntType(32, False), "-", 0, 1, 2**32 - 1),
        (IntType(8, False), "+", 255, 1, 0),
        (IntType(8, True), "*", 16, 8, -128),
    ],
)
def test_operations_are_done_in_their_type(type: IntType, symbol: str, left: int, right: int, result: int) -> None:
    assert value(Binary(symbol, R, S, type), left, right) == result
    assert specialise(Binary(symbol, Const(left), Const(right), type), 0, 1) == Const(result)


def test_unary_operations_are_done_in_their_type() -> None:
    assert value(Unary("-", R, IntType(8, True)), -128) == -128
    assert value(Unary("~", R, IntType(8, False)), 1) == 254
    assert value(Unary("-", R, IntType(64, True)), LEAST) == 2**31


@given(st.integers(-(2**70), 2**70))
def test_wrapping_is_a_conversion_to_the_type(number: int) -> None:
    assert INT32.wrap(number) == c_int32(number % 2**32).value
    assert IntType(8, False).wrap(number) == number % 256


@pytest.mark.parametrize("expr", [Me(), Nodes(), Binary("+", R, Me())])
def test_what_depends_on_the_rank_must_be_specialised_first(expr: Expr) -> None:
    with pytest.raises(ValueError, match="must be specialised"):
        evaluator(expr)


def test_registers_of() -> None:
    expr = Conditional(Binary("+", R, Const(1)), Unary("-", Register("t", 2)), Symbol("x", 1))
    assert registers_of(expr) == {0, 2}
    assert registers_of(Conditional(S, Const(1), R)) == {0, 1}
    assert registers_of(Me()) == frozenset()


# Doubles, as the 64 bits of which a register holds them

LONG = IntType(64, signed=True)


def test_the_bits_of_doubles() -> None:
    numbers = [0.0, -0.0, 1.0, -2.0, inf, nan, -nan]
    bits = [0, -(2**63), 0x3FF << 52, -(2**62), 0x7FF << 52, 0x7FF8 << 48, 0x7FF8 << 48]
    assert [float_bits(number) for number in numbers] == bits
    assert list(map(repr, map(float_value, bits))) == ["0.0", "-0.0", "1.0", "-2.0", "inf", "nan", "nan"]
    assert float_value(float_bits(-2.0) + 2**64) == -2.0


@pytest.mark.parametrize(
    ("symbol", "left", "right", "result"),
    [
        ("+.", 0.5, 0.25, 0.75),
        ("-.", 0.5, 0.75, -0.25),
        ("*.", -0.5, 3.0, -1.5),
        ("*.", 1e200, -1e200, -inf),
        ("/.", 1.0, -4.0, -0.25),
        ("/.", 1.0, 0.0, inf),
        ("/.", -1.0, 0.0, -inf),
        ("/.", 1.0, -0.0, -inf),
        ("/.", -inf, -0.0, inf),
        ("/.", 0.0, 0.0, nan),
        ("/.", nan, 0.0, nan),
        ("-.", inf, inf, nan),
    ],
)
def test_arithmetic_of_doubles(symbol: str, left: float, right: float, result: float) -> None:
    assert value(Binary(symbol, R, S, LONG), float_bits(left), float_bits(right)) == float_bits(result)


@pytest.mark.parametrize(
    ("left", "right", "holding"),
    [
        (-2.0, -1.0, {"<", "<=", "!="}),
        (-1.0, -2.0, {">", ">=", "!="}),
        (0.0, -0.0, {"==", "<=", ">="}),
        (nan, nan, {"!="}),
        (nan, 1.0, {"!="}),
    ],
)
def test_relations_of_doubles(left: float, right: float, holding: set[str]) -> None:
    compared = {
        symbol: value(Binary(f"{symbol}.", R, S, LONG), float_bits(left), float_bits(right)) for symbol in RELATIONS
    }
    assert compared == {symbol: int(symbol in holding) for symbol in RELATIONS}


@pytest.mark.parametrize(
    ("symbol", "operand", "result"),
    [
        ("-.", float_bits(0.0), -0.0),
        ("-.", float_bits(-1.5), 1.5),
        ("float", -3, -3.0),
        ("float", 2**53 + 1, 2.0**53),
        ("float", 10**400, inf),
        ("float", -(10**400), -inf),
        ("float32", float_bits(0.1), 0.10000000149011612),
        ("float32", float_bits(-1e300), -inf),
        ("float32", float_bits(1e300), inf),
        ("of_bits32", 0x3FC00000, 1.5),
        ("of_bits32", -0x40400000, -1.5),
        ("of_bits32", 0xBFC00000, -1.5),
        ("sqrt.", float_bits(2.25), 1.5),
        ("log.", float_bits(0.0), -inf),
        ("exp.", float_bits(1e4), inf),
    ],
)
def test_conversions_to_doubles(symbol: str, operand: int, result: float) -> None:
    assert value(Unary(symbol, R, LONG), operand) == float_bits(result)


@pytest.mark.parametrize(
    ("number", "type", "result"),
    [
        (-2.9, INT32, -2),
        (2.0**31 - 0.5, INT32, GREATEST),
        (2.0**31, INT32, None),
        (-(2.0**31) - 0.5, INT32, LEAST),
        (-(2.0**31) - 1, INT32, None),
        (-0.5, IntType(8, signed=False), 0),
        (-1.0, IntType(8, signed=False), None),
        (255.5, IntType(8, signed=False), 255),
        (256.0, IntType(8, signed=False), None),
        (nan, INT32, None),
        (inf, INT32, None),
        (-inf, INT32, None),
    ],
)
def test_a_double_is_truncated_to_an_integer_that_fits_or_has_none(
    number: float, type: IntType, result: int | None
) -> None:
    converted = Unary("int", R, type)
    if result is not None:
        assert value(converted, float_bits(number)) == result
        return
    with pytest.raises(Fault, match=f"^{re.escape(str(number))} does not fit an integer of {type.bits} bits$"):
        value(converted, float_bits(number))
