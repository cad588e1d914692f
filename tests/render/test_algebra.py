"""Simplified guards and addresses have the value of the original, and are what one would write."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.expressions import INT32, Binary, Const, Expr, Fault, Register, Unary, evaluator, render
from pgasrob.program.parser import parse
from pgasrob.program.statements import Do
from pgasrob.render.algebra import simplify_guard, simplify_value

R, S = Register("r", 0), Register("s", 1)
VALUES = st.sampled_from([0, 1, 2, -1, 7, 2**31 - 1, -(2**31)])
OPERATORS = ["+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "/", "&"]
LEAVES = st.one_of(st.just(R), st.just(S), VALUES.map(Const))
EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(Unary, st.sampled_from(["-", "!", "~"]), inner),
    ),
    max_leaves=8,
)  # fmt: skip


def guard(text: str) -> Expr:
    program = parse(f"memory x; register r, s; process {{ assume({text}); }}")
    statement = program.processes[0].body.statements[0]
    assert isinstance(statement, Do)
    return statement.command.condition  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("!(r == 1)", "r != 1"),
        ("!(r < s)", "r >= s"),
        ("r < s && !(r >= s)", "r < s"),
        ("r == 1 || !(r == 1)", "1"),
        ("!(r == 1 && s == 2)", "r != 1 || s != 2"),
        ("r + 1 - 1 == s", "r == s"),
        ("!r", "r == 0"),
        ("2 * r - r == 0", "r == 0"),
        ("r + 1 > s + 1", "r + 1 > s + 1"),  # nothing moves across a comparison: the sums may wrap
    ],
)
def test_guards_become_what_one_would_write(before: str, after: str) -> None:
    assert render(simplify_guard(guard(before))) == after


def value(expr: Expr, registers: tuple[int, int]) -> int | None:
    try:
        return INT32.wrap(evaluator(expr)(registers))
    except Fault:
        return None


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, VALUES, VALUES)
def test_a_simplified_value_is_the_value(expr: Expr, r: int, s: int) -> None:
    original = value(expr, (r, s))
    if original is not None:
        assert value(simplify_value(expr), (r, s)) == original


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, VALUES, VALUES)
def test_a_simplified_guard_is_true_where_the_guard_is(expr: Expr, r: int, s: int) -> None:
    original = value(expr, (r, s))
    if original is not None:
        assert bool(value(simplify_guard(expr), (r, s))) == bool(original)
