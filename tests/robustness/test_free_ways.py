"""Runs in which ranks go by values that nothing ties to each other: they show nothing where they may be none."""

from __future__ import annotations

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.lower import parse_c
from pgasrob.robustness.free_ways import has_free_ways, line_of_doubt
from pgasrob.robustness.reasons import ValuesSetFree

SHMEM = """#include <shmem.h>
#include <stdlib.h>
#include <assert.h>
static int x, y, flag;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) x = rand() % 1000 + 100;
    shmem_barrier_all();
    if (me == 1) shmem_int_atomic_add(&x, 1, 0);
    shmem_barrier_all();
    BODY
    shmem_finalize();
}
"""
"""What is in x behind the atomic is not known, but it is one number."""
K = "int k = shmem_int_g(&x, 0); "


def verdict(body: str) -> Verdict:
    return check(parse_c(SHMEM.replace("BODY", body), "test.c"), 2)


def doubted(found: Verdict) -> str:
    assert isinstance(found.reason, ValuesSetFree) and found.reason.line == 12
    return found.reason.what


@pytest.mark.parametrize("both", [True, False])
def test_a_run_in_which_two_ranks_differ_about_one_value_is_no_deadlock(both: bool) -> None:
    """Of one rank alone it is: the others do not look at the value."""
    found = verdict(
        K + "if (me == 1 || ranks(me)) { if (k > 500) shmem_barrier_all(); }".replace("ranks(me)", str(+both))
    )
    assert found.verdict == "robust" and found.deadlock == ("unknown" if both else True)
    if both:
        assert doubted(found) == "a run that gets stuck" and found.deadlock_run is None


def test_an_assertion_behind_a_branch_by_such_a_value_is_open() -> None:
    found = verdict(K + "int bad = 0; if (k < 50) bad = 1; if (me == 0) assert(!bad);")
    assert found.assertions == "unknown" and doubted(found) == "a run in which an assertion fails"
    assert verdict("int bad = 0; if (rand() < 50) bad = 1; if (me == 0) assert(!bad);").assertions == "violated"


CARELESS = """if (me == 0) { if (k > 500) { shmem_int_p(&y, 1, 1); shmem_int_p(&flag, 1, 1); } }
    else if (k CONDITION) { int seen = flag, data = y; if (seen && !data) shmem_int_p(&y, 7, 0); }"""


def test_nor_is_it_a_violation() -> None:
    found = verdict(K + CARELESS.replace("CONDITION", "<= 500").replace("\n", " "))
    assert found.verdict == "unknown" and doubted(found) == "a run with a cycle"
    alone = CARELESS.replace("if (k > 500) ", "").replace("CONDITION", "> 7")
    assert verdict(K + alone).verdict == "not robust"


def test_what_is_said_of_all_runs_holds() -> None:
    found = verdict(K + "if (k > 500) { if (me) flag = 1; }")
    assert (found.verdict, found.deadlock, found.reason) == ("robust", False, None)


def test_it_is_seen_in_the_program() -> None:
    run = verdict("if (rand() > 5) if (me) shmem_barrier_all();").deadlock_run
    assert run is not None
    assert not has_free_ways(run.run.instance) and line_of_doubt(run.run.instance, run.run.computation) is None
    alone = verdict(K + "if (me == 1) { if (k > 500) shmem_barrier_all(); }").deadlock_run
    assert alone is not None
    assert has_free_ways(alone.run.instance) and line_of_doubt(alone.run.instance, alone.run.computation) is None
    assert line_of_doubt(alone.run.instance, alone.run.computation, alone=True) == 12
