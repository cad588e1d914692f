"""Which fetch_adds are only compared, and what becomes of them."""

from __future__ import annotations

import pytest

from pgasrob.program import core
from pgasrob.program.commands import TestedAdd
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.semantics.sequential import SequentialSpace
from tests.support import instance

DECLARATIONS = "memory x, y, flag[4];\nqueue q;\nregister r, s;"


def outcomes(*blocks: str, reading: Reading = DEFAULT_READING) -> list[tuple[str, int, str]]:
    """How the adds of rank 0 that are only compared compare, with what, and what they add."""
    program = instance(*blocks, declarations=DECLARATIONS, reading=reading)
    forms = [edge.form for edge in program.automata[0].transitions if isinstance(edge.command, TestedAdd)]
    return [
        (form.condition.relation, form.access.tests[0], form.access.counts)
        for form in forms
        if isinstance(form, core.Immediate) and form.condition is not None
    ]


ONE = [("==", 1, "1 int32"), ("!=", 1, "1 int32")]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("r <- fetch_add(0, x, 1); if (r == 1) { mem[y] <- 1; }", ONE),
        ("r <- fetch_add(0, x, 1); if (r != 1) { mem[y] <- 1; }", ONE[::-1]),
        ("r <- fetch_add(0, x, 1); if (nodes == r) { mem[y] <- 1; }", ONE),
        ("r <- fetch_add(0, x, 2); if (r < 1) { s <- 1; }", [("<", 1, "2 int32"), (">=", 1, "2 int32")]),
        ("r <- fetch_add(0, x, 1); if (r == 1) { mem[y] <- r; }", []),
        ("r <- fetch_add(0, x, 1); if (r == s) { mem[y] <- 1; }", []),
        ("r <- fetch_add(0, x, s); if (r == 1) { mem[y] <- 1; }", []),
        ("r <- fetch_add(0, flag + s, 1); if (r == 1) { mem[y] <- 1; }", []),
        ("r <- fetch_add(0, x, 1); s <- 1; if (r == 1) { mem[y] <- 1; }", []),
        ("r <- fetch_add(0, x, 1); if (r == 1) { } update(add, 1, 0, x, q);", []),
        ("r <- fetch_add(0, x, 1); if (r == 1) { } update(add, 1, 0, y, q);", ONE),
        ("r <- fetch_add(7, x, 1); if (r == 1) { mem[y] <- 1; }", []),
        ("r <- fetch_add(0, x - 1, 1); if (r == 1) { mem[y] <- 1; }", []),
        ("loop { r <- fetch_add(0, x, 1); if (r < 1) { mem[y] <- 1; } }", []),
        ("loop { r <- fetch_add(0, x, 1); if (r == 1) { mem[y] <- 1; } }", ONE),
    ],
)
def test_which_are_only_compared(block: str, expected: list[tuple[str, int, str]]) -> None:
    assert outcomes(block) == expected


def test_by_value_none_is() -> None:
    assert outcomes("r <- fetch_add(0, x, 1); if (r == 1) { mem[y] <- 1; }", reading=Reading(waits="value")) == []


def test_they_lead_to_where_the_comparison_does() -> None:
    block = "r <- fetch_add(0, x, 1); if (r == 0) { mem[y] <- 1; } else { mem[y] <- 2; }"
    program = instance(block, "", declarations=DECLARATIONS)
    space = SequentialSpace(program)
    ((word, after),) = space.successors(space.initial)
    assert word[0].kind == "fetch_add" and after.memory[0] == 1
    ((_, end),) = space.successors(after)
    assert end.memory[1] == 1
