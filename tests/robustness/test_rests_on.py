"""What verdicts rest on: robust ones on everything, others on what the run that they show needs."""

from __future__ import annotations

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind, conflicts, failed_polls
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING, Reading
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.rests_on import rests_on

ROBUST = "memory x, y; queue q; process { write(x, me, y, q); wait(q); }"
NOT_ROBUST = "memory x, y; queue q; register r; process { write(x, (me + 1) % 2, y, q); barrier; r <- mem[y]; }"
FAULT = "register r; process { r <- 1 / r; }"
DEADLOCK = "process 0 { barrier; } process 1 { skip; }"
C = """#include <shmem.h>
#include <stdlib.h>
static long x, y;
int main(void) {
    shmem_init();
    long *p = malloc(8);
    if (rand() > 5 && shmem_my_pe() == 0) { shmem_long_p(&x, 1, 1); FENCE shmem_long_p(&y, 1, 1); }
    if (shmem_my_pe() == 1) { shmem_long_wait_until(&y, SHMEM_CMP_EQ, 1); long seen = x; if (seen) y = 2; }
    return 0;
}
"""
EVERY = {kind for kind in Kind if kind.scope == "every"}
EVERY_C = EVERY | {kind for kind in Kind if kind.scope == "C"}


def kinds(verdict: Verdict) -> set[Kind]:
    return {each.kind for each in verdict.assumptions}


def test_a_robust_verdict_rests_on_all_assumptions() -> None:
    verdict = check(parse(ROBUST))
    assert verdict.verdict == "robust" and kinds(verdict) == EVERY


def test_a_violation_rests_on_the_readings() -> None:
    verdict = check(parse(NOT_ROBUST))
    assert verdict.verdict == "not robust" and kinds(verdict) == {Kind.FAILED_POLLS, Kind.CONFLICTS}


@pytest.mark.parametrize("fence", ["", "shmem_fence();"])
def test_programs_in_c(fence: str) -> None:
    verdict = check(parse_c(C.replace("FENCE", fence), "test.c"), 2)
    assert verdict.verdict == ("robust" if fence else "not robust")
    everything = EVERY_C | {Kind.UNKNOWN_VALUES, Kind.ALLOCATION, Kind.WAITS}
    assert kinds(verdict) == (everything if fence else {kind for kind in everything if kind.shapes_runs})
    assert (Kind.ALLOCATION in kinds(verdict)) == bool(fence)
    assert [each.lines for each in verdict.assumptions if each.kind is Kind.UNKNOWN_VALUES] == [(7,)]


def test_kinds_come_in_their_order() -> None:
    found = [each.kind for each in check(parse_c(C.replace("FENCE", "shmem_fence();"), "test.c"), 2).assumptions]
    assert found == [kind for kind in Kind if kind in found]


def test_a_fault_rests_on_what_its_run_does() -> None:
    verdict = check(parse(FAULT), 1)
    assert verdict.verdict == "error" and kinds(verdict) == {Kind.FAILED_POLLS, Kind.CONFLICTS}


def test_a_robust_program_with_a_deadlock_rests_on_all() -> None:
    verdict = check(parse(DEADLOCK))
    assert (verdict.verdict, verdict.deadlock) == ("robust", True) and kinds(verdict) == EVERY


def test_where_nothing_is_answered_nothing_is_assumed() -> None:
    assert check(parse(ROBUST), engine="product", limits=Limits(max_states=1)).assumptions == ()
    assert check(parse("process 0 { skip; }"), 2).assumptions == ()


@pytest.mark.parametrize("reading", [DEFAULT_READING, LITERAL_READING, Reading("wait", "all")])
def test_the_reading_is_the_one_that_was_asked_for(reading: Reading) -> None:
    verdict = check(parse(ROBUST), failed_polls=reading.failed_polls, conflicts=reading.conflicts)
    assert verdict.assumptions[:2] == (failed_polls(reading.failed_polls), conflicts(reading.conflicts))


def test_an_answer_of_another_tool_rests_on_it() -> None:
    instance = parse(ROBUST).instantiate()
    assert Kind.MODEL_CHECKER in {each.kind for each in rests_on(instance, "spin", robust=True)}
    assert Kind.MODEL_CHECKER not in {each.kind for each in rests_on(instance, "spin", robust=False)}
    assert Kind.MODEL_CHECKER not in {each.kind for each in rests_on(instance, "attack", robust=True)}
