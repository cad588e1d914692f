"""Merging: which local commands are run at once."""

from __future__ import annotations

import pytest

from pgasrob.program.instance import Instance
from pgasrob.reference.attack import AttackSpace, State
from pgasrob.reference.merging import MOST, merged
from tests.support import instance


def start(program: Instance) -> State:
    initial = AttackSpace(program).initial
    assert isinstance(initial, State)
    return initial


@pytest.mark.parametrize(
    ("block", "kinds"),
    [
        ("r <- 1; s <- r + 1; mem[x] <- s;", "assign assign"),
        ("if (r == 0) { r <- 5; } mem[x] <- r;", "assume assign"),
        ("assert(r == 0); r <- 1; mem[x] <- r;", "assert assign"),
        ("while (r < 3) { r <- r + 1; }", "assume assign " * 3 + "assume"),
        ("choose { assume(r == 1); } or { assume(r == 0); } mem[x] <- 1;", "assume"),
        ("mem[x] <- 1; r <- 1;", ""),
        ("choose { r <- 1; } or { s <- r; }", ""),  # two that are enabled
        ("choose { assume(r == 0); } or { assume(s == 0); }", ""),
        ("choose { r <- 1; } or { assert(r == 0); }", ""),
        ("choose { r <- 1; } or { s <- mem[x]; }", ""),  # a load may read something else later
        ("choose { r <- 1; } or { await(mem[x] == 1); }", ""),
        ("choose { r <- 1; } or { barrier; }", ""),
        ("assume(r == 1);", ""),
        ("assert(r == 1); r <- 1;", ""),  # a false assertion is to be reported
        ("choose { r <- 1; } or { assert(r == 1); }", ""),
        ("choose { r <- 1; } or { s <- 1 / r; }", ""),  # and so is a fault
        ("r <- 1; s <- 1 / (r - 1);", "assign"),
    ],
)
def test_what_is_merged(block: str, kinds: str) -> None:
    program = instance(block)
    word, state = merged(program, start(program), [0])
    assert [letter.kind for _, letter in word] == kinds.split()
    assert {part for part, _ in word} <= {1}
    assert (state == start(program)) == (not word)


def test_where_a_merge_ends() -> None:
    program = instance("r <- 7; s <- r + 1; mem[x] <- s;")
    _, state = merged(program, start(program), [0])
    assert (state.control, state.registers) == ((2,), ((7, 8),))
    assert state.memory == program.memory


def test_only_the_ranks_asked_for_are_merged_and_in_their_order() -> None:
    program = instance("r <- me; s <- 1; mem[x] <- r;", nodes=3)
    word, state = merged(program, start(program), [0, 2])
    assert [(letter.kind, letter.rank) for _, letter in word] == [("assign", 0)] * 2 + [("assign", 2)] * 2
    assert state.registers == ((0, 1), (0, 0), (2, 1))
    assert state.control == (2, 0, 2)


def test_a_local_loop_without_end_is_merged_a_piece_at_a_time() -> None:
    program = instance("while (1) { r <- r + 1; }")
    word, state = merged(program, start(program), [0])
    assert len(word) == MOST
    again, _ = merged(program, state, [0])
    assert len(again) == MOST


@pytest.mark.parametrize(
    ("block", "kinds"),
    [("while (1) { r <- 1; }", "assume assign assume assign"), ("again: r <- 1 - r; goto again;", "assign assign")],
)
def test_a_rank_that_comes_back_to_where_it_has_been_stays_there(block: str, kinds: str) -> None:
    program = instance(block)
    word, state = merged(program, start(program), [0])
    assert [letter.kind for _, letter in word] == kinds.split()
    assert state.control == (0,)
