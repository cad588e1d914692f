"""Lvalues: variables, elements, members, and what is none."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.c.compiler.net import function, printed

SET = "struct s { int a; struct { int b, c[2]; }; } v = {1, {2, {3, 4}}}, *q = &v; int x[2][2] = {{1, 2}, {3, 4}};"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("v.a", 1), ("q->b", 2), ("v.c[1]", 4), ("(*q).c[0]", 3), ("*v.c", 3),
        ("x[1][0]", 3), ("1[x][1]", 4), ("*(*x + 1)", 2), ("(&x[1])[0][1]", 4), ("*&x[0][0]", 1),
        ("(int[3]){5, 6, 7}[2]", 7), ("((struct s){.a = 9}).a", 9), ("\"abc\"[1]", 98),
    ],
)  # fmt: skip
def test_what_is_read_and_written(place: str, value: int) -> None:
    assert printed(f'{SET} printf("%d", {place});') == str(value)
    if not place.startswith(("(int", "((struct", '"')):
        assert printed(f'{SET} {place} = 77; printf("%d", {place});') == "77"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("*n = 1;", "points to nothing"),
        ("n[1] = 1;", "has no elements"),
        ("n.a = 1;", "has no members"),
        ("p->a = 1;", "has no members"),
        ("struct s { int a; } v; v.b = 1;", "its members are `a`"),
        ("(n + 1) = 2;", "is no variable"),
        ("&n + &n;", "cannot combine"),
        ("&5;", "is no variable"),
        ("NET_ALL = 2;", "is a constant"),
    ],
)
def test_what_is_no_lvalue_is_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        function(body)
