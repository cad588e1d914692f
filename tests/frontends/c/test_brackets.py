"""Brackets without partners are told where they open, and reading goes on."""

from __future__ import annotations

import random

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.brackets import PARTNERS, with_brackets
from pgasrob.frontends.c.tokens import Source, Token, tokenise

WORDS = (*"()[]{};,=n(;{}", "if", "for", "else")


def tokens(text: str) -> list[Token]:
    source = Source("x.c", text)
    return [*tokenise(source)]


@pytest.mark.parametrize(
    ("text", "mended", "message"),
    [
        ("int f(void) { g(1, 2; }", "int f ( void ) { g ( 1 , 2 ) ; }", "this `(` is not closed"),
        ("int f(int n { g(); }", "int f ( int n ) { g ( ) ; }", "this `(` is not closed"),
        ("int f(void) { if (n { g(); } }", "int f ( void ) { if ( n ) { g ( ) ; } }", "this `(` is not closed"),
        ("int f(void) { while (n g(); }", "int f ( void ) { ; }", "this `(` is not closed"),
        ("int f(void) { for (;; i++ { } }", "int f ( void ) { for ( ; ; i ++ ) { } }", "this `(` is not closed"),
        ("int f(void) { g(1)); }", "int f ( void ) { g ( 1 ) ; }", "`)` closes nothing"),
        ("int f(void) { if n) g(); }", "int f ( void ) { if ( n ) g ( ) ; }", "a `(` is missing after `if`"),
        ("int f(void) { g(a[1); }", "int f ( void ) { g ( a [ 1 ] ) ; }", "this `[` is not closed"),
        ("int a[2;", "int a [ 2 ] ;", "this `[` is not closed"),
    ],
)
def test_what_is_plain_is_mended(text: str, mended: str, message: str) -> None:
    found, (wrong,) = with_brackets(tokens(text))
    assert " ".join(each.text for each in found) == mended
    assert (wrong.code, wrong.message) == ("PG107", message)


@pytest.mark.parametrize("text", ["int f(void) { g(1]; }", "int f(void) { {", "int f(void) } {", "int f(void) { (("])
def test_what_is_not_plain_ends_it(text: str) -> None:
    with pytest.raises(SourceError):
        with_brackets(tokens(text))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("int f(void) {\n  for (;;) {\n    g();\n  h();\n}\nint i(void) {\n  j();\n}", 2, "this `{` is not closed"),
        ("int f(void)\n{\n  if (n)\n  {\n    g();\n}", 4, "this `{` is not closed"),
        ("int f(void) {\n  g();\n  }\n}\nint i(void) {\n}", 3, "`}` closes nothing"),
    ],
)
def test_the_indentation_shows_which_brace_it_is(text: str, line: int, message: str) -> None:
    found, (wrong,) = with_brackets(tokens(text))
    assert (wrong.line, wrong.message) == (line, message)
    assert [each.text for each in found].count("{") == [each.text for each in found].count("}")


def test_where_braces_match_the_indentation_does_not_matter() -> None:
    text = tokens("int f(void) {\n    if (n) {\n  g(); }\n      }\n")
    assert with_brackets(text) == (text, [])


def test_whatever_is_given_all_brackets_have_partners_behind_it() -> None:
    for seed in range(500):
        draw = random.Random(seed)
        text = " ".join(
            draw.choices(
                ["(", ")", "[", "]", "{", "}", ";", ",", "=", "n", "if", "for", "else", "(", "{", ";", "}"],
                k=draw.randrange(40),
            )
        )
        try:
            found, wrong = with_brackets(tokens(text))
        except SourceError:
            continue
        opened: list[str] = []
        for each in found:
            if each.text in PARTNERS.values():
                opened.append(each.text)
            elif each.text in PARTNERS:
                assert opened.pop() == PARTNERS[each.text], text
        assert not opened, text
        assert wrong or [each.text for each in found] == text.split()
