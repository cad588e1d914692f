"""Macro calls that are wrong are mended, and the file is read on."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c.preprocessor import preprocess
from pgasrob.frontends.c.tokens import Source


@pytest.mark.parametrize(
    ("call", "expanded", "wrong"),
    [
        ("M(1, 2);", "1 < 2 ;", []),
        ("M(1);", "1 < M ;", ["the macro `M` takes 2 arguments, not 1"]),
        ("M(1, 2, 3);", "1 < 2 ;", ["the macro `M` takes 2 arguments, not 3"]),
        ("M(f(1, 2), 3; g();", "f ( 1 , 2 ) < 3 ; g ( ) ;", ["the arguments of the macro `M` are not closed"]),
        ("if (ONE(1 { g(); }", "if ( 1 { g ( ) ; }", ["the arguments of the macro `ONE` are not closed"]),
        ("M(", "< M", ["the arguments of the macro `M` are not closed", "the macro `M` takes 2 arguments, not 1"]),
        ("ONE(M(1));", "1 < M ;", ["the macro `M` takes 2 arguments, not 1"]),
    ],
)
def test_calls_are_mended(call: str, expanded: str, wrong: list[str]) -> None:
    text = f"#define M(a, b) a < b\n#define ONE(a) a\n{call}\n"
    found = preprocess(Source("x.c", text), Registry())
    assert [each.message for each in found.wrong] == wrong
    assert found.mistaken == {each.split("`")[1] for each in wrong}
    assert " ".join(each.text for each in found.tokens) == expanded
