"""Simplified guards and addresses have the value of the original, and are what one would write."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.expressions import INT32, Binary, Const, Expr, Fault, Register, Unary, evaluator, render
from pgasrob.program.parser import parse
from pgasrob.program.statements import Do
from pgasrob.render.algebra import _Atoms, simplify_guard, simplify_value

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


def products(factors: int, factor: str) -> str:
    return " * ".join([f"({factor})"] * factors)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # What would have thousands of terms stays a product, its factors simplified.
        (products(20, "r + s + 1") + " == 1", products(20, "r + s + 1") + " == 1"),
        (products(8, "r + 1 - 1 + s") + " == s", products(8, "r + s") + " == s"),
        # And so does what is no shorter when it is multiplied out.
        ("(r + s) * (r - 1) == 0", "(r + s) * (r - 1) == 0"),
        ("(r + s) * (r - s) == 0", "r * r - s * s == 0"),
    ],
)
def test_products_are_multiplied_out_where_that_is_shorter(before: str, after: str) -> None:
    assert render(simplify_guard(guard(before))) == after


@pytest.mark.parametrize(
    "text",
    [
        products(90, "r * s + 1"),
        "(" * 90 + "r" + " / s)" * 90,
        "(" * 60 + "r" + " ? s : r + 1)" * 60,
        " && ".join(f"(r == {number} || s == {number + 1})" for number in range(120)),
        " || ".join(f"(r + {number} > s && !(r - {number} < s))" for number in range(40)),
        "~" * 190 + "r",
    ],
)
def test_no_guard_is_too_much(text: str) -> None:
    """However it comes out, it is shown, and no much longer than it was."""
    original = guard(text)
    assert len(render(simplify_guard(original))) <= len(render(original)) + len("() == 0")


def test_a_guard_too_deep_for_the_stack_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(_Atoms, "logic", too_deep)
    assert render(simplify_guard(guard("!(r == 1)"))) == "!(r == 1)"
