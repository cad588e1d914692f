"""Statements: which of them run, and where jumps lead."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.c.compiler.net import function, printed

SHOW = 'printf("%d ", {});'


@pytest.mark.parametrize(
    ("body", "output"),
    [
        ("for (int i = 0; i < 5; i++) { if (i == 1) continue; if (i == 4) break; " + SHOW.format("i") + "}", "0 2 3 "),
        ("int i = 3; while (i--) " + SHOW.format("i"), "2 1 0 "),
        ("int i = 3; do " + SHOW.format("i") + "while (--i > 1);", "3 2 "),
        (
            "switch (2) { case 1: " + SHOW.format(1) + "case 2: " + SHOW.format(2) + "default: " + SHOW.format(3) + "}",
            "2 3 ",
        ),
        ("switch (7) { case 1: " + SHOW.format(1) + "break; default: " + SHOW.format(9) + "break; case 2: ; }", "9 "),
        ("int i = 0; again: " + SHOW.format("i") + "if (++i < 3) goto again;", "0 1 2 "),
        ("goto end; " + SHOW.format(1) + "end: " + SHOW.format(2), "2 "),
        ("int x = 1; { int x = 2; " + SHOW.format("x") + "} " + SHOW.format("x"), "2 1 "),
        (SHOW.format("({ int y = 4; y + 1; })"), "5 "),
        ("if (0) ; else if (1) " + SHOW.format(1) + "else " + SHOW.format(2), "1 "),
    ],
)
def test_what_runs(body: str, output: str) -> None:
    assert printed(body) == output


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("break;", "a `break` is only allowed in a loop"),
        ("continue;", "a `continue` is only allowed in a loop"),
        ("switch (n) { case 1: continue; }", "a `continue` is only allowed in a loop"),
        ("case 1: ;", "a `case` is only allowed in a `switch`"),
        ("switch (n) { default: ; default: ; }", "one `default`"),
        ("switch (n) { case 2: ; case 1 + 1: ; }", "the case 2 occurs twice"),
        ("switch (n) { case 1 << 8 == n: ; }", "must be a constant"),
        ("goto nowhere;", "no label `nowhere`"),
        ("here: ; here: ;", "`here` is defined twice"),
        ("return n;", "returns nothing"),
    ],
)
def test_what_is_out_of_place_is_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        function(body)
