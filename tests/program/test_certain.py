"""What is certain of an expression of which parts are unknown, against all values for these."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from pgasrob.program.certain import FALSE, TRUE, UNKNOWN, either, holds
from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Register,
    Unary,
    evaluator,
    parts,
    rewritten,
)
from tests.support import examples

R, S = Register("r", 0), Register("s", 1)
ZERO, ONE = Const(0), Const(1)


def op(symbol: str, left: Expr, right: Expr) -> Expr:
    return Binary(symbol, left, right)


@pytest.mark.parametrize(
    ("expr", "when", "never"),
    [
        (op("&&", R, UNKNOWN), [], [0]),
        (op("&&", UNKNOWN, R), [], [0]),
        (op("||", UNKNOWN, R), [1, 2, -1, 65536], []),
        (op("&", UNKNOWN, R), [], [0]),
        (op("*", R, UNKNOWN), [], [0]),
        (op("|", R, UNKNOWN), [1, 2, -1, 65536], []),
        (op("==", op("|", R, UNKNOWN), Const(-1)), [-1], []),
        (op("+", R, UNKNOWN), [], []),
        (op("<", op("&", R, UNKNOWN), ONE), [0], []),
        (op("==", op("*", R, UNKNOWN), Const(7)), [], [0]),
        # what is known is taken together: 2 & 1 and 65536 * 65536 are 0
        (op("&", op("&", R, UNKNOWN), ONE), [], [0, 2, 65536]),
        (op("*", op("*", R, UNKNOWN), Const(65536)), [], [0, 65536]),
        (op("|", op("==", UNKNOWN, ZERO), op("==", R, ZERO)), [0], []),
        (op("|", op("<", UNKNOWN, ZERO), op("|", R, ZERO)), [1, 2, -1, 65536], []),
        (Unary("!", op("&&", UNKNOWN, R)), [0], []),
        (Conditional(R, UNKNOWN, Const(3)), [0], []),
        (Conditional(R, Const(0), UNKNOWN), [], [1, 2, -1, 65536]),
        (Conditional(UNKNOWN, R, op("<", ZERO, R)), [1, 2, 65536], [0]),
        (UNKNOWN, [], []),
        (op("==", UNKNOWN, UNKNOWN), [], []),  # they need not be the same
    ],
)  # fmt: skip
def test_one_operand_may_decide(expr: Expr, when: list[int], never: list[int]) -> None:
    values = [0, 1, 2, -1, 65536]
    found, refuted = evaluator(holds(expr)), evaluator(holds(expr, False))
    assert [value for value in values if found([value])] == [value for value in values if value in when]
    assert [value for value in values if refuted([value])] == [value for value in values if value in never]


def test_what_is_known_is_kept() -> None:
    assert holds(R) == R
    assert holds(R, False) == Unary("!", R)
    assert holds(op("&&", UNKNOWN, ZERO), False) == TRUE


def test_an_expression_with_too_much_to_look_at_says_nothing() -> None:
    expr = op("&", UNKNOWN, R)
    for _ in range(150):
        expr = op("+", expr, ZERO)
    assert holds(expr, False) == FALSE
    ways: Expr = UNKNOWN
    for number in range(17):
        ways = Conditional(op("==", S, Const(number)), Const(number), ways)
    assert holds(op("==", ways, R)) == FALSE


TYPES = (IntType(32, True), IntType(8, False), IntType(64, True))
VALUES = (0, 1, 2, -1, 3, 255, 1 << 16, -(1 << 31))


def drawn(source: random.Random, depth: int) -> Expr:
    """An expression that has a value whatever its registers hold."""
    if depth == 0 or source.random() < 0.1:
        return source.choice((R, S, UNKNOWN, UNKNOWN, ZERO, ONE, Const(-1), Const(1 << 16)))
    type = source.choice(TYPES)
    kind = source.choice(("unary", "binary", "binary", "binary", "binary", "?:"))
    first, second = drawn(source, depth - 1), drawn(source, depth - 1)
    if kind == "unary":
        return Unary(source.choice(("!", "!", "-", "~", "cast")), first, type)
    if kind == "?:":
        return Conditional(drawn(source, depth - 1), first, second)
    symbols = ("&&", "||", "&", "|", "*", "+", "-", "^", "==", "!=", "<", ">=")
    return Binary(source.choice(symbols), first, second, type)


def filled(expr: Expr, values: list[int]) -> Expr:
    """``expr`` with each unknown part replaced by one of ``values``, from left to right."""
    left = iter(values)
    return rewritten(expr, lambda part: Const(next(left)) if part == UNKNOWN else None)


def test_random_expressions() -> None:
    """Where it says that an expression holds, or does not, this is so for all that may stand for the unknown."""
    seen: Counter[str] = Counter()
    source = random.Random(7)
    for _ in range(examples(300, nightly=60_000)):
        expr = drawn(source, source.choice((2, 3)))
        unknown = sum(part == UNKNOWN for part in parts(expr))
        if not 1 <= unknown <= 3:
            continue
        ways = [evaluator(filled(expr, list(values))) for values in product(VALUES, repeat=unknown)]
        ways = ways if len(ways) <= 64 else source.sample(ways, 64)
        for wanted in (True, False):
            found = holds(expr, wanted)
            assert all(part != UNKNOWN for part in parts(found))
            said = evaluator(found)
            for registers in product(VALUES, repeat=2):
                certain = all(bool(way(registers)) == wanted for way in ways)
                seen["told" if said(registers) else "certain, and not told" if certain else "open"] += 1
                assert certain or not said(registers), (expr, wanted, registers)
    assert seen["told"] > seen["certain, and not told"] > 0
    assert seen["open"] > 1_000


def test_either() -> None:
    assert either(FALSE, R) == R == either(R, FALSE)
    assert either(R, ONE) == TRUE
