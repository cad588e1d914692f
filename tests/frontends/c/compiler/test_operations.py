"""Operators on operands: constants are folded, pointers count elements, and the rest is refused."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.code import Binary
from tests.frontends.c.compiler.net import function, printed


def test_constants_are_folded_unless_they_have_no_value() -> None:
    assert not any(isinstance(each, Binary) for each in function("p[0] = (7 - 2) * 3 << 1;").code)
    assert any(isinstance(each, Binary) for each in function("p[0] = 1 / 0;").code)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 / -2", -3), ("7 % -2", 1), ("-1 < 1u", 0), ("-1L < 1u", 1), ("1 << 3 | 5 & 6 ^ 1", 13),
        ("&x[3] - &x[1]", 2), ("*(x + 2)", 30), ("*(2 + x)", 30), ("&x[1] > x", 1), ("x == &x[0]", 1),
        ("(char *) &x[1] - (char *) x", 4), ("(1.5 + 2) * 2", 7), ("(unsigned char) 255 + 1", 256),
        ("x[1] -= 5", 15), ("x[1]++ + x[1]", 41), ("--x[1]", 19), ("!x[1] + ~0", -1), ("x && 0 || 3", 1),
    ],
)  # fmt: skip
def test_what_is_computed(expression: str, value: int) -> None:
    assert printed(f'int x[4] = {{10, 20, 30, 40}}; printf("%d", (int) ({expression}));') == str(value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("p * 2;", "cannot combine"),
        ("1.5 % 2;", "needs integers"),
        ("1 << 2.0;", "needs integers"),
        ("p + p;", "cannot combine"),
        ("struct s { int a; } v; v + 1;", "needs numbers"),
        ("int x[2]; x = 0;", "cannot be assigned"),
        ("struct u *q = 0; q + 1;", "has no definition"),
    ],
)
def test_what_no_operator_takes_is_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        function(body)
