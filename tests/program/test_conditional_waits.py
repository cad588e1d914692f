"""Which awaits are tests, and of which conditions."""

from __future__ import annotations

import pytest

from pgasrob.program import core
from pgasrob.program.reading import DEFAULT_READING, Reading
from tests.support import instance

DECLARATIONS = "memory x, y, flag[4];\nqueue q;\nregister r, s;"


def compared(*blocks: str, reading: Reading = DEFAULT_READING) -> list[tuple[int, ...]]:
    """What the awaits of rank 0 may compare with; nothing for one that reads its cell."""
    program = instance(*blocks, declarations=DECLARATIONS, reading=reading)
    forms = [edge.form for edge in program.automata[0].transitions]
    return [form.access.tests for form in forms if isinstance(form, core.Immediate) and form.condition is not None]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("await(mem[x] >= 2);", [(2,)]),
        ("await(mem[flag + me] == nodes);", [(1,)]),
        ("r <- 3; await(mem[x] >= r);", [(3,)]),
        ("while (r < 3) { r <- r + 1; await(mem[x] >= r); }", [(1, 2, 3)]),
        ("r <- mem[y]; await(mem[x] >= r);", [()]),
        ("r <- mem[y]; s <- r; await(mem[x] >= s);", [()]),
        ("loop { r <- r + 1; await(mem[x] >= r); }", [()]),
        ("await(mem[flag + r] == 1);", [()]),
        ("await(mem[flag + 9] == 1);", [()]),
        ("await(mem[x] >= 1 / r);", [()]),
        ("await_add(0, mem[x] >= 1, 1);", [()]),
        ("update(add, 1, 0, x, q); await(mem[x] >= 1); await(mem[y] >= 1);", [(), (1,)]),
        ("update(add, 1, 0, x, q, y); await(mem[x] >= 1);", [(1,)]),
        ("update(set, 1, 0, x, q); await(mem[x] >= 1);", [(1,)]),
        ("update(add, 1, 0, flag + r, q); await(mem[x] >= 1);", [()]),
    ],
)
def test_what_is_tested(block: str, expected: list[tuple[int, ...]]) -> None:
    assert compared(block) == expected


def test_an_update_of_another_process_counts() -> None:
    assert compared("await(mem[x] >= 1);", "notify(add, 1, 0, x, q);") == [()]
    assert compared("await(mem[x] >= 1);", "notify(add, 1, 0, y, q);") == [(1,)]


def polled(*blocks: str, reading: Reading = DEFAULT_READING) -> list[tuple[int, ...]]:
    """What the polls of rank 0 compare with; nothing for one that brings a value."""
    program = instance(*blocks, declarations=DECLARATIONS, reading=reading)
    forms = [edge.form for edge in program.automata[0].transitions]
    return [form.access.tests for form in forms if isinstance(form, core.Immediate) and form.until is not None]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("r <- mem[x]; while (r < 2) { r <- mem[x]; }", [(2,), (2,)]),
        ("while (!r) { r <- fetch(1, flag + me); }", [(0,)]),
        ("while (!r) { r <- mem[x]; } mem[y] <- r;", [()]),
        ("while (!r) { r <- mem[flag + s]; } s <- mem[y];", [()]),
        ("while (!r) { r <- mem[x]; } update(add, 1, 0, x, q);", [()]),
        ("while (r != s) { r <- mem[x]; }", [()]),
    ],
)
def test_polls_whose_value_is_only_compared(block: str, expected: list[tuple[int, ...]]) -> None:
    assert polled(block, "") == expected
    assert polled(block, "", reading=Reading(waits="value")) == [()] * len(expected)


def test_other_readings() -> None:
    assert compared("await(mem[x] >= 1);", reading=Reading(waits="value")) == [()]
    assert compared("notify(add, 1, 0, x, q); await(mem[x] >= 1);", reading=Reading(conflicts="all")) == [(1,)]
