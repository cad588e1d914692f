"""Which fetch_adds are only compared, and what becomes of them."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
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


C = """\
#include <stdio.h>
#include <shmem.h>
static int count, data, seen;
static int next(void) {{ return shmem_int_atomic_fetch_inc(&count, 0); }}
int main(void) {{
  shmem_init();
  int me = shmem_my_pe(), d = 0;
  if (me == 0) shmem_int_atomic_set(&data, 1, 1);
  int old = next();
  if (old == 5) shmem_quiet();
  if (me == 1) d = shmem_int_atomic_fetch(&data, 1);
  {shows}
  shmem_finalize();
  return d;
}}
"""


@pytest.mark.parametrize(
    ("shows", "answer"),
    [
        ("", "robust"),
        ('printf("%d\\n", d);', "robust"),
        ('printf("%d\\n", old);', "not robust"),
        ('seen = old; printf("%d\\n", seen);', "not robust"),
        ("if (old > 1) return 7;", "not robust"),
        ("for (int i = 0; i < old; i++) d += 2;", "not robust"),
    ],
)
def test_what_is_printed_later_is_not_only_compared(shows: str, answer: str) -> None:
    program = parse_c(C.format(shows=shows))
    assert pgasrob.check(program, nodes=2).verdict == answer
    assert pgasrob.check(program, nodes=2, waits="value").verdict == "not robust"


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
