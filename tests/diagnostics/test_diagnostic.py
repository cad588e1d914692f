"""One finding as text: it cannot disturb the terminal it is printed on."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import Diagnostic, on_screen, visible


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ring.pgas", "ring.pgas"),
        ("größe 1.pgas", "größe 1.pgas"),
        ("a\x1b[2J.pgas", r"a\x1b[2J.pgas"),
        ("a\nb\t.pgas", r"a\nb\t.pgas"),
        ("a\u202eb.pgas", r"a\u202eb.pgas"),  # turns the direction of writing round
        ("\udcff.pgas", r"\xff.pgas"),  # a byte that is not UTF-8, as Python has it
        ("\ud800.pgas", r"\ud800.pgas"),
    ],
)
def test_what_would_not_show_is_escaped(name: str, shown: str) -> None:
    assert visible(name) == visible(shown) == shown
    assert Diagnostic("PG001", "no file", name).render() == f"{shown}: error[PG001]: no file"
    assert Diagnostic("PG010", "odd", name, 2, 3).position == f"{shown}:2:3"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('printf("größe\\n");\t// 😀', 'printf("größe\\n");\t// 😀'),
        ("a\x1b[31mred\x07", "a␛[31mred␇"),
        ("\x7f\x9b31m", "␡\ufffd31m"),
        ("\u202ea\u200bb\u2028", "\ufffda\ufffdb\ufffd"),
        ("\ud800", "\ufffd"),
    ],
)
def test_a_terminal_does_not_act_on_a_source(text: str, shown: str) -> None:
    assert on_screen(text) == shown
    assert len(shown) == len(text), "carets stand below what they are about"
    assert shown in Diagnostic("PG125", "odd", "a.c", 1, 1, excerpt=text).render()
