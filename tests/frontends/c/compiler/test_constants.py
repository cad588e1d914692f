"""Constant expressions: their values are known from the text alone."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.types import INT, Array
from tests.frontends.c.compiler.net import unit


@pytest.mark.parametrize(
    ("length", "value"),
    [
        ("sizeof(int[3]) / sizeof(char)", 12),
        ("A + 1", 6),
        ("(char) 300", 44),
        ("1 ? 2 : n", 2),
        ("0 && n || 1", 1),
        ("-7 / 2 + 8", 5),
        ("_Alignof(double)", 8),
        ("__builtin_offsetof(struct s, b)", 4),
        ("sizeof \"abc\"", 4),
        ("(int) 3.9", 3),
    ],
)  # fmt: skip
def test_the_length_of_an_array(length: str, value: int) -> None:
    found = unit(f"enum {{ A = 5 }}; struct s {{ char a; int b; }}; int n; int x[{length}];").objects["x"].type
    assert found == Array(INT, value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int n; int x[n];", "must be a constant"),
        ("int f(void) { return 1; } enum { A = f() };", "must be a constant"),
        ("_Static_assert(1 + 1 == 3, \"sum\");", "a static assertion fails: sum"),
        ("_Static_assert();", "needs a condition"),
        ("int x[1 / 0];", "must be a constant"),
        ("int *p = (int *) 8 + n;", "."),
    ],
)  # fmt: skip
def test_what_is_no_constant_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        unit(text)


def test_a_static_assertion_that_holds_leaves_nothing() -> None:
    found = unit('_Static_assert(sizeof(long) == 8, "LP64"); int x;')
    assert list(found.objects) == ["x"] and not found.functions
