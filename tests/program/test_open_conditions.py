"""Choices of what is open, against all values of the registers."""

from __future__ import annotations

from itertools import product

import pytest

from pgasrob.program.expressions import Binary, Const, Expr, Register, Unary, evaluator
from pgasrob.program.open_conditions import Facts, as_conditions, atoms, choices, reduced, truth

R, S = Register("r", 0), Register("s", 1)
VALUES = list(product(range(-3, 6), repeat=2))


def compared(register: Register, relation: str, value: int) -> Expr:
    return Binary(relation, register, Const(value))


COMPARISONS = [compared(R, relation, value) for relation in ("==", "!=", "<", "<=", ">", ">=") for value in (0, 1, 2)]
MIXED = Binary("||", Binary("&&", compared(R, "==", 1), Unary("!", S)), Unary("!", compared(R, "<", 3)))


def so(facts: Facts, values: tuple[int, ...]) -> bool:
    return all(bool(evaluator(each)(values)) for each in as_conditions(facts))


@pytest.mark.parametrize("atom", COMPARISONS, ids=str)
def test_comparisons_of_a_register_with_constants_decide_each_other(atom: Expr) -> None:
    decided = 0
    for other, holds in product([*COMPARISONS, R], (True, False)):
        answers = {bool(evaluator(atom)(each)) for each in VALUES if so({other: holds}, each)}
        assert truth(atom, {other: holds}) == (answers.pop() if len(answers) == 1 else None), other
        decided += len(answers) == 0
    assert decided >= 4


@pytest.mark.parametrize(
    "facts", [{}, {S: True}, {R: False}, {compared(R, "==", 1): True}, {compared(R, ">", 1): True}]
)
def test_each_choice_says_what_is_left(facts: Facts) -> None:
    found = list(choices(atoms(MIXED), facts))
    assert all(sum(so(more, each) for more in found) == so(facts, each) for each in VALUES)  # one and only one
    for more in (facts, *found):
        for each in VALUES:
            assert not so(more, each) or bool(evaluator(reduced(MIXED, more))(each)) == bool(evaluator(MIXED)(each))
    assert all(truth(MIXED, more) is not None for more in found)


def test_where_too_much_is_open_there_is_no_choice() -> None:
    assert not list(choices([compared(Register(f"r{each}", each), "==", 7) for each in range(5)], {}))
