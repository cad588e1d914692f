"""Types and declarators as they are written."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.types import (
    CHAR,
    DOUBLE,
    INT,
    LONG,
    LONG_DOUBLE,
    UCHAR,
    ULONG,
    USHORT,
    Array,
    CType,
    Function,
    Opaque,
    Pointer,
    Struct,
)
from tests.frontends.c.compiler.net import unit


@pytest.mark.parametrize(
    ("declaration", "type"),
    [
        ("long unsigned int long x;", ULONG),
        ("short unsigned x;", USHORT),
        ("long double x;", LONG_DOUBLE),
        ("signed char x;", CHAR),
        ("uint8_t x;", UCHAR),
        ("enum { A = 3, B } x[B];", Array(INT, 4)),
        ("int *x[3];", Array(Pointer(INT), 3)),
        ("int (*x)[3];", Pointer(Array(INT, 3))),
        ("long (*x)(int, double *);", Pointer(Function(LONG, (INT, Pointer(DOUBLE))))),
        ("int x[] = {1, 2, 3};", Array(INT, 3)),
        ("typedef int pair[2]; pair x[3];", Array(Array(INT, 2), 3)),
        ("#include <net.h>\nnet_handle x;", Opaque("net_handle")),
    ],
)
def test_a_declaration(declaration: str, type: CType) -> None:
    assert unit(declaration).objects["x"].type == type


def test_members_lie_where_alignment_puts_them() -> None:
    type = unit("struct s { char a; long b; union { int c; char d[6]; }; } x;").objects["x"].type
    assert isinstance(type, Struct)
    assert [(field.name, field.offset) for field in type.fields] == [("a", 0), ("b", 8), ("", 16)]
    assert (type.size, type.alignment) == (24, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct s x;", "has no definition"),
        ("struct s { int a, a; };", "two members"),
        ("struct s { int a : 3; };", "bit-fields"),
        ("int x[-1];", "cannot have -1 elements"),
        ("int x[2][];", "only the first length"),
        ("struct s { int a[]; int n; };", "the length of this array is not given"),
        ("struct s { int a[]; };", "the length of this array is not given"),
        ("struct s { int n; int a[], b; };", "the length of this array is not given"),
        ("struct s { int n; int a[]; } s; unsigned long x = sizeof s.a;", "the length of this array is not given"),
        ("int n; void f(void) { int (*p)[] = 0; p++; }", "the length of this array is not given"),
        ("int n; void f(void) { typedef int row[n]; }", "must be a constant"),
        ("int n; void f(void) { int x = sizeof *(int (*)[n]) 0; }", "not supported"),
        ("int n; void f(void) { (void)(int[n]){1}; }", "must be a constant"),
        ("void x;", "nothing can have the type"),
        ("int f(void)[3];", "."),
        ("enum { A, A };", "declared twice"),
        ("short double x;", "is no type"),
    ],
)
def test_what_is_no_type_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        unit(text)
