"""Intervals contain what expressions evaluate to; compared with trying all values of small types."""

from __future__ import annotations

import random
from itertools import product

import pytest

from pgasrob.analysis import intervals
from pgasrob.analysis.intervals import (
    File,
    comparing,
    joined_files,
    may_fault,
    narrowing,
    splitting,
    value_of,
    value_within,
    wrapped,
)
from pgasrob.program import expressions
from pgasrob.program.expressions import (
    CONVERSIONS,
    NEGATED,
    PRECEDENCE,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Register,
    Unary,
    evaluator,
)
from tests.support import alternating, examples

INT, UNSIGNED = IntType(4, True), IntType(4, False)
A, B = Register("a", 0), Register("b", 1)
OPERATORS = [symbol for symbols in PRECEDENCE for symbol in symbols]
ON_DOUBLES = [symbol for symbol in expressions.OPERATORS if symbol.endswith(".")]


def random_expr(choose: random.Random, depth: int) -> Expr:
    if depth == 0 or choose.random() < 0.2:
        return choose.choice((A, B, Const(choose.randint(-4, 4)), Const(choose.randint(0, 2))))
    type = choose.choice((INT, INT, UNSIGNED))
    inner = [random_expr(choose, depth - 1) for _ in range(3)]
    kind = choose.random()
    if kind < 0.15:
        return Unary(choose.choice(("!", "~", "-", "!", "~", "-", *CONVERSIONS)), inner[0], type)
    if kind < 0.25:
        return Conditional(*inner)
    return Binary(choose.choice(ON_DOUBLES if kind > 0.95 else OPERATORS), inner[0], inner[1], type)


def random_file(choose: random.Random) -> File:
    first, second = (sorted(choose.randint(-8, 15) for _ in range(2)) for _ in range(2))
    if choose.random() < 0.5:
        second = [second[0], min(second[1], second[0] + 1)]
    return (first[0], first[1]), (second[0], second[1])


def values(expr: Expr, file: File) -> dict[tuple[int, ...], int | None]:
    """The values of ``expr`` for all registers in ``file``; None where it faults."""
    found: dict[tuple[int, ...], int | None] = {}
    evaluate = evaluator(expr)
    for registers in product(*(range(low, high + 1) for low, high in file)):
        try:
            found[registers] = evaluate(registers)
        except Fault:
            found[registers] = None
    return found


def check(expr: Expr, file: File) -> int:
    """Compare intervals with all values; says how many values too many there are."""
    found = values(expr, file)
    having = [value for value in found.values() if value is not None]
    interval = value_of(expr)(file)
    if interval is None:
        assert not having
    elif having:
        assert interval[0] <= min(having) and max(having) <= interval[1]
    if len(having) < len(found):
        assert may_fault(expr, file)
    legal, within = [value for value in having if 0 <= value <= 3], value_within(expr, 0, 3)(file)
    assert within is None or (interval and max(interval[0], 0) <= within[0] <= within[1] <= min(interval[1], 3))
    if legal:
        assert within is not None and within[0] <= min(legal) and max(legal) <= within[1]
    for truth in (True, False):
        left = narrowing(expr, truth)(file)
        for registers, value in found.items():
            if value is not None and bool(value) == truth:
                assert left is not None
                assert all(low <= held <= high for held, (low, high) in zip(registers, left, strict=True))
        if left is not None:
            assert joined_files(file, left) is file
    return interval[1] - interval[0] - max(having) + min(having) if interval and having else 0


@pytest.mark.parametrize("block", range(4))
def test_intervals_of_random_expressions(block: int) -> None:
    choose = random.Random(block)
    for _ in range(examples(133, nightly=20_000)):
        check(random_expr(choose, choose.randint(1, 3)), random_file(choose))


@pytest.mark.parametrize("type", [INT, UNSIGNED])
@pytest.mark.parametrize("symbol", OPERATORS + ON_DOUBLES)
def test_intervals_of_every_operator(symbol: str, type: IntType) -> None:
    choose = random.Random(symbol)
    for _ in range(examples(40, nightly=2_000)):
        check(Binary(symbol, A, B, type), random_file(choose))


@pytest.mark.parametrize("type", [INT, UNSIGNED])
@pytest.mark.parametrize("symbol", CONVERSIONS)
def test_intervals_of_every_conversion(symbol: str, type: IntType) -> None:
    choose = random.Random(symbol)
    for _ in range(examples(20, nightly=1_000)):
        file = random_file(choose)
        check(Unary(symbol, A, type), file)
        check(Unary(symbol, Unary("float", A), type), file)
        check(Unary(symbol, Binary("+.", Unary("float", A), Unary("float", B)), type), file)


def test_doubles_that_are_certain_are_exact() -> None:
    half, big = Const(expressions.float_bits(0.5)), Const(expressions.float_bits(1e10))
    product = Binary("*.", half, Unary("float", A))
    for expr, expected in [
        (Unary("int", product), (2, 2)),
        (Binary(">.", product, half), (1, 1)),
        (Unary("int", Binary("*.", product, big), IntType(64, True)), (25_000_000_000,) * 2),
        (Unary("int", Binary("*.", product, big)), None),  # a fault
    ]:
        assert value_of(expr)(((5, 5), (0, 0))) == expected
        assert may_fault(expr, ((5, 5), (0, 0))) == (expected is None)
    assert value_of(product)(((4, 5), (0, 0))) == IntType(64, True).range
    assert value_of(Binary(">.", product, half))(((4, 5), (0, 0))) == (0, 1)


def test_a_cast_that_changes_nothing_lets_conditions_through() -> None:
    wide = Unary("cast", A, IntType(64, False))
    assert narrowing(less(wide, Const(3)), True)(((0, 9), (0, 9))) == ((0, 2), (0, 9))
    assert narrowing(less(wide, Const(3)), True)(((-1, 9), (0, 9))) == ((-1, 9), (0, 9))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "%", "<<", ">>", "==", "<", ">="])
def test_intervals_of_nonnegative_operands_with_a_constant_are_exact(symbol: str) -> None:
    type = IntType(16, True)
    for low, high, constant in product(range(4), range(4, 12, 3), range(1, 4)):
        if symbol != "%" or low // constant == high // constant or high - low >= constant:
            assert check(Binary(symbol, A, Const(constant), type), ((low, high), (0, 0))) == 0


def test_bounds_and_wrapping() -> None:
    assert INT.range == (-8, 7) and UNSIGNED.range == (0, 15)
    assert wrapped(-3, 5, INT) == (-3, 5)
    assert wrapped(9, 12, INT) == (-7, -4)  # all of them wrap
    assert wrapped(6, 9, INT) == (-8, 7)
    assert wrapped(-3, -1, UNSIGNED) == (13, 15)
    assert wrapped(0, 16, UNSIGNED) == (0, 15)


def less(left: Expr, right: Expr) -> Expr:
    return Binary("<", left, right)


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        (less(A, Const(3)), ((0, 2), (0, 9))),
        (less(Const(3), A), ((4, 9), (0, 9))),
        (less(A, B), ((0, 8), (1, 9))),
        (Unary("!", less(A, B)), ((0, 9), (0, 9))),
        (less(Binary("+", A, Const(2)), Const(5)), ((0, 2), (0, 9))),
        (less(Binary("-", Const(9), A), Const(5)), ((5, 9), (0, 9))),
        (Binary("==", Binary("+", A, B), Const(3)), ((0, 3), (0, 3))),
        (Binary("==", A, Const(7)), ((7, 7), (0, 9))),
        (Binary("!=", A, Const(0)), ((1, 9), (0, 9))),
        (Binary("!=", A, Const(10)), ((0, 9), (0, 9))),
        (Binary("==", A, Const(10)), None),
        (A, ((1, 9), (0, 9))),
        (Unary("!", A), ((0, 0), (0, 9))),
        (Binary("&&", less(Const(1), A), less(A, Const(4))), ((2, 3), (0, 9))),
        (Unary("!", Binary("||", less(A, Const(2)), less(Const(5), A))), ((2, 5), (0, 9))),
        (Binary("||", less(A, Const(2)), Binary("==", A, Const(4))), ((0, 4), (0, 9))),
        (Conditional(A, less(A, Const(3)), Const(0)), ((1, 2), (0, 9))),
        (less(Binary("*", A, B), Const(5)), ((0, 9), (0, 9))),
    ],
)
def test_what_is_left_when_a_condition_is_true(condition: Expr, left: File | None) -> None:
    assert narrowing(condition, True)(((0, 9), (0, 9))) == left


def test_a_sum_that_wraps_says_nothing_of_its_parts() -> None:
    condition = less(Binary("+", A, Const(1), INT), Const(0))
    assert narrowing(condition, True)(((0, 7), (0, 0))) == ((0, 7), (0, 0))


def test_an_index_that_is_checked_is_one_of_the_array() -> None:
    """Whatever the index is, and though sums of it may wrap, the address is that of an element, or none."""
    index, array = Binary("+", A, Const(2), INT), 5
    checked = Binary("&&", Binary(">=", index, Const(0)), less(index, Const(4)))
    address = Conditional(checked, Binary("+", Const(array), index), Const(-1))
    file = (INT.range, (0, 0))
    assert value_of(address)(file) == (-1, 8)
    assert value_within(address, 0, 15)(file) == (5, 8)
    check(address, file)
    for sum, element in ((Binary("+", Const(2), A, INT), 1), (Binary("-", A, Const(3), INT), 6)):
        assert narrowing(Binary("==", sum, Const(3)), True)(file) == ((element, element), (0, 0))


def test_what_stands_behind_a_condition_may_rely_on_it() -> None:
    quotient = Binary("/", Const(6), A)
    assert may_fault(quotient, ((0, 3), (0, 0)))
    assert not may_fault(quotient, ((1, 3), (0, 0)))
    assert not may_fault(Binary("&&", A, quotient), ((0, 3), (0, 0)))
    assert not may_fault(Binary("||", Unary("!", A), quotient), ((0, 3), (0, 0)))
    assert not may_fault(Conditional(A, quotient, Const(0)), ((0, 3), (0, 0)))
    assert may_fault(Conditional(A, Const(0), quotient), ((0, 3), (0, 0)))
    assert value_of(Conditional(A, quotient, Const(0)))(((0, 3), (0, 0))) == (0, 6)


def two_walks(condition: Expr, truth: bool, file: File | None) -> File | None:
    """What is left of ``file`` when ``condition`` is ``truth``, by its definition, which asks its left part twice."""
    if file is None:
        return None
    match condition:
        case Unary("!", operand):
            return two_walks(operand, not truth, file)
        case Binary("&&" | "||" as symbol, left, right):
            decides = symbol == "||"
            last = two_walks(right, truth, two_walks(left, not decides, file))
            return last if truth != decides else one_of(two_walks(left, decides, file), last)
        case Binary(symbol, left, right) if symbol in RELATIONS:
            return comparing(left, symbol if truth else NEGATED[symbol], right)(file)
        case Conditional(test, then, otherwise):
            ways = (two_walks(test, True, file), then), (two_walks(test, False, file), otherwise)
            return one_of(*(two_walks(branch, truth, left) for left, branch in ways))
    return comparing(condition, "!=" if truth else "==", Const(0))(file)


def one_of(first: File | None, second: File | None) -> File | None:
    return joined_files(first, second) if first is not None and second is not None else first or second


def test_one_walk_finds_what_two_find() -> None:
    choose = random.Random(5)
    for _ in range(examples(1_000, nightly=40_000)):
        condition, file = random_expr(choose, choose.randint(1, 5)), random_file(choose)
        expected = tuple(two_walks(condition, truth, file) for truth in (True, False))
        assert splitting(condition)(file) == expected
        assert tuple(narrowing(condition, truth)(file) for truth in (True, False)) == expected


def test_a_deep_condition_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(symbol: str, left: tuple[int, int], right: tuple[int, int]) -> bool:
        nonlocal steps
        steps += 1
        return related(symbol, left, right)

    related = intervals.may_be_related
    monkeypatch.setattr(intervals, "may_be_related", counted)
    condition, file = alternating(40), ((0, 100),) * 40
    for found in (value_of(condition)(file), narrowing(condition, True)(file), narrowing(condition, False)(file)):
        assert found is not None
    assert may_fault(condition, file) is False
    assert 200 < steps < 10_000


def test_values_of_a_choice_are_found_once_for_the_registers_that_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[File] = []

    def either(*_: object) -> intervals.Value:
        return lambda file: asked.append(file) or file[0]  # type: ignore[func-returns-value]

    monkeypatch.setattr(intervals, "_either", either)
    value = value_of.__wrapped__(Conditional(A, B, Const(1)))
    files: list[File] = [((low, 9), (1, 1), (other, other)) for low in range(intervals._KEPT + 5) for other in range(3)]
    assert [value(file) for file in files] == [file[0] for file in files]
    assert len(asked) == intervals._KEPT + 5
