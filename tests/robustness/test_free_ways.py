"""Runs in which ranks go by values that nothing ties to each other: they show nothing where they may be none."""

from __future__ import annotations

import pytest

from pgasrob import Verdict, check, race
from pgasrob.frontends.lower import parse_c
from pgasrob.robustness.free_ways import doubt, has_free_ways, without_free_ways
from pgasrob.robustness.reasons import NoValuesKnown, ValuesSetFree
from pgasrob.semantics.sequential import SequentialFacts

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


def test_an_index_is_a_way_as_well() -> None:
    """The ranks take one element of the table, by one number, of which each has a copy."""
    body = "int t[2] = {0, 1}, k = rand(); if (!me) shmem_int_p(&flag, k, 1); shmem_barrier_all();"
    found = verdict(body + " int y = me ? t[flag & 1] : t[k & 1]; if (y) shmem_barrier_all();")
    assert found.verdict == "robust" and found.deadlock == "unknown"
    assert doubted(found) == "a run that gets stuck"
    alone = verdict(body + " if (me && t[flag & 1]) shmem_barrier_all();")
    assert alone.deadlock is True


@pytest.mark.parametrize(("condition", "stuck"), [("a[0] != a[1]", "unknown"), ("a[0] > 5", True)])
def test_two_values_of_another_rank_may_be_copies_of_one(condition: str, stuck: object) -> None:
    """A way by both of them is in doubt, though one rank alone goes it; a way by one of them is not."""
    body = (
        "static int a[4]; if (me) { int k = rand(); a[2] = k; a[3] = a[2]; shmem_int_put(a, a + 2, 2, 0); }"
        f" shmem_barrier_all(); if (!me && {condition}) shmem_barrier_all();"
    )
    assert verdict(body).deadlock == stuck


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
    assert not has_free_ways(run.run.instance) and doubt(run.run.instance, run.run.computation, "deadlock") is None
    alone = verdict(K + "if (me == 1) { if (k > 500) shmem_barrier_all(); }").deadlock_run
    assert alone is not None
    assert has_free_ways(alone.run.instance) and doubt(alone.run.instance, alone.run.computation, "deadlock") is None
    why = doubt(alone.run.instance, alone.run.computation, "assertion")
    assert why is not None and why.line == 12


BY_CHANCE = (
    "int way = rand() % 2; if (way) { DOUBTED } else { int a = 0; for (; a < 3; a++) shmem_int_p(&y, a, me); SURE }"
)
DEADLOCK = ("if (k > 500) shmem_barrier_all();", "if (me) shmem_barrier_all();")
FAILING = ("if (k > 500) assert(0);", "assert(0);")
ILLEGAL = ("if (k > 500) shmem_int_p(0, 1, 0);", "shmem_int_p(0, 1, 0);")


def either(pair: tuple[str, str], doubted: bool = True, sure: bool = True) -> Verdict:
    return verdict(K + BY_CHANCE.replace("DOUBTED", pair[0] * doubted).replace("SURE", pair[1] * sure))


def test_another_deadlock_is_looked_for_where_the_first_one_is_in_doubt() -> None:
    assert either(DEADLOCK, sure=False).deadlock == "unknown"
    found = either(DEADLOCK)
    assert found.deadlock is True and found.deadlock_run is not None and found.reason is None
    assert doubt(found.deadlock_run.run.instance, found.deadlock_run.run.computation, "deadlock") is None


def test_and_another_assertion() -> None:
    assert either(FAILING, sure=False).assertions == "unknown"
    found = either(FAILING)
    assert found.assertions == "violated" and found.assertion_run is not None
    assert doubt(found.assertion_run.run.instance, found.assertion_run.run.computation, "assertion") is None


def test_and_another_violation() -> None:
    """A put and a flag without a fence, behind a condition that two ranks see, and behind one that each has."""
    reader = "{ int seen = flag, data = y; if (seen && !data) shmem_int_p(&y, 7, 0); }"
    puts = "shmem_int_p(&y, 1, 1); shmem_int_p(&flag, 1, 1);"
    in_doubt = f"if (me == 0) {{ if (k > 500) {{ {puts} }} }} else if (k <= 500) {reader}"
    sure = f"if (me == 0) {{ shmem_quiet(); shmem_quiet(); {puts} }} else {{ shmem_quiet(); {reader} }}"
    body = "int way = rand() % 2; if (way) { DOUBTED } else { SURE }"
    assert verdict(K + body.replace("DOUBTED", in_doubt).replace("SURE", "")).verdict == "unknown"
    found = verdict(K + body.replace("DOUBTED", in_doubt).replace("SURE", sure))
    assert found.verdict == "not robust" and found.witness is not None and found.reason is None
    assert doubt(found.witness.run.instance, found.witness.run.computation, "violation") is None


def test_without_such_ways_a_rank_that_stands_before_one_is_not_stuck() -> None:
    run = verdict("if (rand() > 5) if (me) shmem_barrier_all();").deadlock_run
    assert run is not None
    same = without_free_ways(run.run.instance)
    assert [each.out for each in same.automata] == [each.out for each in run.run.instance.automata]
    program = parse_c(SHMEM.replace("BODY", K + "if (k > 500) shmem_barrier_all();"), "test.c").instantiate(2)
    for instance, stuck in ((program, True), (without_free_ways(program), False)):
        facts = SequentialFacts(instance)
        assert [*facts.explore()] and facts.complete and (facts.deadlock is not None) == stuck


@pytest.mark.parametrize(("condition", "answer"), [("z / 2 > z", "unknown"), ("z / 2 > 9", "matters")])
def test_a_race_behind_what_no_values_satisfy_is_none_that_is_known_to_matter(condition: str, answer: str) -> None:
    body = f"if (me == 0) {{ if ({condition}) shmem_int_p(&y, 7, 1); }} else {{ int d = y; if (d) flag = 1; }}"
    found = check(parse_c(SHMEM.replace("BODY", f"int z = rand(); {body}"), "test.c"), 2, only=("races",))
    assert found.races is not None and found.races.answer == answer
    assert isinstance(found.races.reason, NoValuesKnown) == (answer == "unknown")
    alone = race(parse_c(SHMEM.replace("BODY", f"int z = rand(); {body}"), "test.c"), 2)
    assert alone.verdict == ("unknown" if answer == "unknown" else "race")
    assert isinstance(alone.reason, NoValuesKnown) == (answer == "unknown")


DIVIDES = "int z = rand(); if (me == 0) { if (CONDITION) { int d = shmem_int_g(&y, 1); z = 1 / d; } }"


@pytest.mark.parametrize(("condition", "answer"), [("z / 2 > z", "robust"), ("z / 2 > 9", "error")])
def test_nor_is_a_fault_there_an_error(condition: str, answer: str) -> None:
    found = verdict(DIVIDES.replace("CONDITION", condition) + " if (me == 1 && rand() == 3) shmem_barrier_all();")
    assert (found.verdict, found.deadlock) == (answer, True)
    doubtful = found.reason is not None and "a run that faults is one of the program" in str(found.reason)
    assert doubtful == (answer == "robust") and (not doubtful or found.faults == "unknown")
    alone = race(parse_c(SHMEM.replace("BODY", DIVIDES.replace("CONDITION", condition)), "test.c"), 2)
    assert alone.verdict == ("unknown" if doubtful else "error")


def test_another_fault_is_an_error() -> None:
    other = "if (me == 1) { for (int n = 0; n < 4; n++) shmem_quiet(); z = 1 / shmem_int_g(&flag, 0); }"
    found = verdict(DIVIDES.replace("CONDITION", "z / 2 > z") + other)
    assert found.verdict == "error" and found.witness is not None and found.witness.fault is not None
    assert found.witness.fault.rank == 1
