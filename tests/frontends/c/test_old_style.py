"""Functions without prototypes are those with them (what they compute is compared with gcc: `snippets`)."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.types import CHAR, DOUBLE, FLOAT, INT, UCHAR, ULONG, Function, Pointer
from tests.frontends.c.compiler.net import unit


@pytest.mark.parametrize(
    ("definition", "types"),
    [
        ("int f(a, b) float b; char *a; { return b; }", (Pointer(CHAR), FLOAT)),
        ("int f(a, b, c) unsigned char *a, c, **b; { return c; }", (Pointer(UCHAR), Pointer(Pointer(UCHAR)), UCHAR)),
        ("int f(a, g) int (*g)(int, double); { return g(a, 1); }", (INT, Pointer(Function(INT, (INT, DOUBLE))))),
        ("f(n) size_t n; { return n; }", (ULONG,)),
        ("typedef int t; int n; f(a) t a[4]; { return a[n]; }", (Pointer(INT),)),
        ("int before(a) int a; { return a; } struct s { int a; }; f(b) { return b; }", (INT,)),
    ],
)
def test_what_parameters_are(definition: str, types: tuple[object, ...]) -> None:
    function = unit(definition).functions["f"]
    assert [function.slots[slot].type for slot in function.parameters] == [*types]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int f(a) int b; { return b; }", "PG121"),
        ("int f(a) int a, ; { return a; }", "PG121"),
        ("int f(a) int a; char a; { return a; }", "PG121"),
        ("int f(a, b) { return a; }", "PG122"),
        ("int f(a) int a { return a; }", "PG107"),
    ],
)
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        unit(text)
    assert caught.value.diagnostics[0].code == code
