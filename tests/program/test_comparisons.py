"""Conditions that compare one register with a number."""

from __future__ import annotations

import pytest

from pgasrob.program.comparisons import branches, compared
from pgasrob.program.core import Test
from tests.support import instance

DECLARATIONS = "memory x;\nregister r, s;"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("r == 1", ("==", 1)),
        ("!(r < 2)", (">=", 2)),
        ("3 > r", ("<", 3)),
        ("r", ("!=", 0)),
        ("!!r", ("!=", 0)),
        ("!r || r == 0", ("==", 0)),
        ("r > 0 && r > 1", None),
        ("r == s", None),
        ("s == 1", None),
        ("r + 1 == 1", None),
    ],
)
def test_how_a_condition_compares_a_register(condition: str, expected: tuple[str, int] | None) -> None:
    (edge,) = instance(f"assume({condition});", declarations=DECLARATIONS).automata[0].out[0]
    assert isinstance(edge.form, Test)
    assert compared(edge.form.condition, 0) == expected


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("if (r == 1) { s <- 1; }", [("==", 1), ("!=", 1)]),
        ("if (r == 1) { mem[x] <- r; }", None),
        ("if (s == 1) { s <- 1; }", None),
        ("assume(r == 1);", None),
        ("choose { assume(r == 1); } or { assume(r == 2); }", None),
        ("choose { assume(r == 1); } or { assume(r != 1); } or { s <- 1; }", None),
    ],
)
def test_branches_by_a_comparison_alone(block: str, expected: list[tuple[str, int]] | None) -> None:
    automaton = instance(block, declarations=DECLARATIONS).automata[0]
    found = branches(automaton, 0, 0)
    assert (None if found is None else [comparison for comparison, _ in found]) == expected
