"""Conversions of constants (C11, 6.3)."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.compiler.conversions import convert_known
from pgasrob.frontends.c.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, UCHAR, UINT, ULONG, CType
from pgasrob.program.expressions import float_bits
from tests.frontends.c.compiler.net import unit


@pytest.mark.parametrize(
    ("value", "of", "to", "result"),
    [
        (300, INT, CHAR, 44),
        (200, INT, CHAR, -56),
        (-1, INT, UCHAR, 255),
        (-1, INT, ULONG, 2**64 - 1),
        (2**32 + 5, LONG, UINT, 5),
        (3, INT, DOUBLE, float_bits(3.0)),
        (2**24 + 1, INT, FLOAT, float_bits(2.0**24)),
        (2**24 + 1, INT, DOUBLE, float_bits(2.0**24 + 1)),
        (float_bits(0.1), DOUBLE, FLOAT, float_bits(0.10000000149011612)),
        (float_bits(-3.9), DOUBLE, INT, -3),
    ],
)
def test_constants_are_converted(value: int, of: CType, to: CType, result: int) -> None:
    assert convert_known(value, of, to) == result


@pytest.mark.parametrize(
    ("declaration", "type"),
    [
        ("char c; short s; __typeof__(c + s) x;", INT),
        ("unsigned u; int i; __typeof__(u + i) x;", UINT),
        ("unsigned u; long l; __typeof__(u + l) x;", LONG),
        ("unsigned long u; long l; __typeof__(u + l) x;", ULONG),
        ("float f; int i; __typeof__(f * i) x;", FLOAT),
        ("float f; double d; __typeof__(f * d) x;", DOUBLE),
        ("_Bool x;", BOOL),
    ],
)
def test_the_common_type_of_two_operands(declaration: str, type: CType) -> None:
    assert unit(declaration).objects["x"].type == type


@pytest.mark.parametrize(
    "text", ["int x = (int) 1e300;", "struct s { int a; } a; int *p = a;", "double d; int *p = d;"]
)
def test_what_cannot_be_converted_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match=r"\S"):
        unit(f"void f(void) {{ {text} }}")
