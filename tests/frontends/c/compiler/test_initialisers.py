"""Initialisers with braces (C11, 6.7.9): which scalar lies where."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.code import Clear, Store
from pgasrob.frontends.c.values import Address, Known, ObjectId
from tests.frontends.c.compiler.net import function, unit


@pytest.mark.parametrize(
    ("declaration", "initial"),
    [
        ("int x[4] = {1, 2};", {0: 1, 4: 2}),
        ("int x[] = {[2] = 5, 6, [0] = 1};", {0: 1, 8: 5, 12: 6}),
        ("int x[5] = {[1 ... 3] = 7};", {4: 7, 8: 7, 12: 7}),
        ("struct { char a; int b[2]; } x[2] = {{1, {2, 3}}, 4, 5};", {0: 1, 4: 2, 8: 3, 12: 4, 16: 5}),
        ("struct { int a; struct { int b, c; } d; } x = {.d.c = 2, .a = 1};", {0: 1, 8: 2}),
        ("union { int a; char b[4]; } x = {.b = {0, 3}};", {1: 3}),
        ('char x[4] = "ab";', {0: 97, 1: 98}),
        ("int x = {3};", {0: 3}),
    ],
)
def test_constants_by_their_offset(declaration: str, initial: dict[int, int]) -> None:
    found = unit(declaration).objects["x"].initial
    assert {offset: value for offset, value, _ in found} == {at: Known(number) for at, number in initial.items()}


def test_an_address_is_a_constant() -> None:
    ((_, value, _),) = unit("int y[3]; int *x = &y[2];").objects["x"].initial
    assert value == Address(ObjectId("global", ("y",)), 8)


@pytest.mark.parametrize(("text", "clears", "stores"), [("{1, 2, 3}", 0, 3), ("{1, 2}", 1, 2), ("{[2] = n}", 1, 1)])
def test_a_local_is_cleared_where_not_all_of_it_is_set(text: str, clears: int, stores: int) -> None:
    code = function(f"int x[3] = {text}; p[0] = x[n];").code
    assert sum(isinstance(each, Clear) for each in code) == clears
    assert sum(isinstance(each, Store) for each in code) == stores + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x[2] = {1, 2, 3};", "has only 2 parts"),
        ("int x[2] = 3;", "in braces"),
        ('char x[2] = "abc";', "more than 2 characters"),
        ("struct { int a; } x = {.b = 1};", "has no member `b`"),
        ("int x[2] = {[2] = 1};", "no element 2"),
        ("int y; int x = y;", "must be a constant"),
        ("int x = {1, 2};", "has one value"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        unit(text)
