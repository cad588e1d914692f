"""Declarations in functions: which variables live in slots, which in memory, and for how long."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.types import CHAR, Array
from tests.frontends.c.compiler.net import function, printed, unit


def test_only_what_needs_an_address_lies_in_memory() -> None:
    found = function(
        "int slot = n, object, *q = &object, array[2]; struct s { int a; } v; q[0] = slot + array[0] + v.a;"
    )
    assert sorted(found.objects) == ["array", "object", "v"]
    assert {"slot", "q", "n", "p"} <= {each.name for each in found.slots}


def test_a_static_variable_keeps_its_value() -> None:
    before = "int next(void) { static int x = 5; return x++; } int other(void) { static int x; return ++x; }"
    assert printed('printf("%d %d %d", next(), next(), other());', before) == "5 6 1"
    assert sorted(unit(before).objects) == ["next.x", "other.x"]


def test_an_initialiser_gives_the_length() -> None:
    assert function('char x[] = "abc"; p[0] = x[n];').objects["x"].type == Array(CHAR, 4)


def test_a_length_that_is_computed() -> None:
    assert printed('int n = 3; int x[n + 1]; x[3] = 8; printf("%d %d", x[3], (int) (sizeof x / sizeof *x));') == "8 4"


def test_parameters_are_variables_too() -> None:
    twice = "int twice(int x) { int *q = &x; *q *= 2; return x; }"
    before = twice + "int sum(struct s { int a, b; } v) { v.a++; return v.a + v.b; }"
    assert printed('struct s v = {1, 2}; printf("%d %d %d", twice(4), sum(v), v.a);', before) == "8 4 1"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int x, x;", "declared twice in this block"),
        ("int x[n] = {0};", "no initialiser"),
        ("static int x[n];", "no initialiser"),
        ("typedef int t[n];", "must be a constant"),
        ("struct s x;", "has no definition"),
        ("static int x = n;", "must be a constant"),
    ],
)
def test_what_is_no_declaration_is_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        function(body)
