"""A condition on a root says the same as the condition on its number that stands for it: compared by computing both."""

from __future__ import annotations

import math
from itertools import product

import pytest

from pgasrob.frontends.c.nondeterminism import ANY, Leaf, leaves, replaced
from pgasrob.frontends.c.roots import ORDERED, without_roots
from pgasrob.program.expressions import Binary, Const, Expr, Register, Unary, evaluator, float_bits, float_value

NUMBER = Leaf("number", -1, *ANY)
ROOT = Leaf("root", -2, *ANY, made=Unary("sqrt()", NUMBER))
NUMBERS = [*map(float, (0, -0.0, 1, 2, 4, -1, 1e-6, 1e300, 5e-324)), math.inf, -math.inf, math.nan]


def of(value: float) -> Const:
    return Const(float_bits(value))


SHAPES: dict[str, Expr] = {
    "itself": ROOT,
    "half": Binary("/.", ROOT, of(2.0)),
    "falls": Binary("-.", of(3.0), ROOT),
    "negative": Unary("-.", Binary("*.", of(-1e200), ROOT)),
    "more": Binary("+.", ROOT, of(-0.0)),
    "single": Unary("float32", Binary("*.", ROOT, of(1e-3))),
}


def root_of(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def holds(condition: Expr, number: float) -> bool:
    expr = replaced(replaced(condition, NUMBER, Register("", 0)), ROOT, Register("", 1))
    return bool(evaluator(expr)((float_bits(number), float_bits(root_of(number)))))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_number_answers_for_its_root(shape: str) -> None:
    for symbol, bound, exchanged in product(ORDERED, (1e-3, 0.0, -1.0, 2.0, 1e154, math.inf, math.nan), (False, True)):
        sides = (of(bound), SHAPES[shape]) if exchanged else (SHAPES[shape], of(bound))
        condition = Binary(symbol, *sides)
        solved = without_roots(condition)
        assert ROOT not in leaves(solved)
        near = [part.right.value for part in (solved, getattr(solved, "right", None))
                if isinstance(part, Binary) and isinstance(part.right, Const)]  # fmt: skip
        around = [float_value(bits + by) for bits in near for by in (-1, 0, 1) if bits > 0]
        for number in NUMBERS + around:
            assert holds(solved, number) == holds(condition, number), (condition, number)


@pytest.mark.parametrize(
    "kept",
    [
        Binary("==.", ROOT, of(2.0)),
        Binary("<.", Binary("/.", of(1.0), ROOT), of(2.0)),
        Binary("<.", Binary("*.", ROOT, of(0.0)), of(2.0)),
        Binary("<.", Binary("+.", ROOT, of(-math.inf)), of(2.0)),
        Binary("<.", Binary("-.", ROOT, NUMBER), of(2.0)),
        Binary("<.", ROOT, Register("bound", 0)),
    ],
)
def test_other_conditions_on_roots_are_kept(kept: Expr) -> None:
    assert without_roots(kept) == kept
