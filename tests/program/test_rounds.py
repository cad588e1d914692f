"""Loops that are counted, and those in which a rank may stay for ever."""

from __future__ import annotations

import pytest

from pgasrob.program.parser import parse


@pytest.mark.parametrize(
    ("block", "without_end"),
    [
        ("r <- 1; r <- 2;", False),
        ("while (r < 3) { mem[x] <- r; r <- r + 1; }", False),
        ("while (r < nodes) { choose { mem[x] <- 1; } or { skip; } r <- 1 + r; }", False),
        ("r <- 5; while (0 < r && s == 0) { s <- mem[x]; r <- r - 1; }", False),
        ("while (r < 2) { s <- 0; while (s < 2) { s <- s + 1; } r <- r + 1; }", False),
        ("while (r < 2) { s <- 0; while (s < 2) { s <- s + 1; r <- r + 1; } }", True),  # though it ends
        ("while (r < 2) { while (s == 0) { s <- mem[x]; } r <- r + 1; }", True),
        ("while (r != 3) { r <- r + 1; }", True),
        ("while (r < 3) { r <- r - 1; }", True),
        ("while (r < 3) { r <- r + 2; }", True),
        ("while (r < 3) { choose { r <- r + 1; } or { mem[x] <- 1; } }", True),
        ("while (r < 3) { r <- r + 1; if (r == 2) { r <- mem[x]; } }", True),
        ("while (r < s) { r <- r + 1; }", True),  # a bound that is a register may be changed
        ("loop { r <- r + 1; }", True),
        ("while (r < 3) { assert(r < 3); r <- r; }", True),
        ("while (s == 0) { s <- mem[x]; }", True),
    ],
)
def test_which_loops_may_have_no_end(block: str, without_end: bool) -> None:
    program = parse(f"program p; nodes 2; memory x; register r, s; process {{ {block} }}").instantiate(2)
    assert any(map(any, program.endless)) is without_end
    assert program.can_wait is without_end
