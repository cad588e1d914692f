"""A blocking compare_swap is one of two commands."""

from __future__ import annotations

from pgasrob.program import core
from pgasrob.program.commands import FailedCompareSwap
from pgasrob.program.reading import Reading
from pgasrob.semantics.sequential import SequentialSpace
from tests.support import instance

TAKE = "r <- compare_swap(0, x, 0, 1); s <- r;"


def test_the_one_that_fails_reads_and_leads_to_the_same() -> None:
    (swaps, fails), *rest = instance(TAKE).automata[0].out
    assert swaps.target == fails.target and swaps.occurrence != fails.occurrence and swaps.span == fails.span
    assert isinstance(fails.command, FailedCompareSwap) and isinstance(fails.form, core.Immediate)
    assert (fails.form.access.reads, fails.form.access.writes, fails.form.update) == (True, False, None)
    occurrences = [edge.occurrence for leaving in rest for edge in leaving]
    assert fails.occurrence > max([swaps.occurrence, *occurrences])


def test_one_of_them_is_enabled() -> None:
    for declared, kinds in (("memory x;", ["compare_swap"]), ("memory x = 1;", ["failed_compare_swap"])):
        space = SequentialSpace(instance(TAKE, declarations=declared + "\nregister r, s;"))
        assert [word[0].kind for word, _ in space.successors(space.initial)] == kinds


def test_where_all_conflict_it_is_one_command() -> None:
    leaving = instance(TAKE, reading=Reading(conflicts="all")).automata[0].out[0]
    assert [edge.command.kind for edge in leaving] == ["compare_swap"]


def test_a_lock_that_is_tried_again_is_awaited() -> None:
    """The attempts that fail only lead back: they are no events."""
    lock = "r <- 1; while (r != 0) { r <- compare_swap(0, x, 0, 1); }"
    program = instance(lock, declarations="memory x = 1;\nregister r;")
    polls = [edge.form for edge in program.automata[0].transitions if isinstance(edge.command, FailedCompareSwap)]
    assert polls and all(isinstance(form, core.Immediate) and form.until is not None for form in polls)
    counted = instance(lock, reading=Reading("count"))
    assert not counted.polls


def test_a_failed_attempt_is_no_look() -> None:
    """It leads to the await, but with the awaited value it would have taken the lock."""
    program = instance("r <- compare_swap(0, x, 0, 1); if (r != 0) { await(mem[x] == 0); }")
    assert not program.polls
