"""Calls of OpenSHMEM that may have several outcomes, or that say something else each time: what whole programs do."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c

PROGRAM = """#include <shmem.h>
#include <assert.h>
static int v[2], x, y, s[4], d[16];
static long lock;
%s
int main(void) { shmem_init(); int me = shmem_my_pe(); size_t i[2]; shmem_ctx_t c; (void)i; (void)c;
%s
return 0; }"""
SETS_BOTH = "if (me == 0) { shmem_int_p(&v[0], 1, 1); shmem_quiet(); shmem_int_p(&v[1], 1, 1); shmem_quiet(); }"
SETS_ONE = "if (me == 0) shmem_int_p(&v[0], 1, 1);"
LOCKED = "else { shmem_set_lock(&lock); if (x) x = 2; shmem_clear_lock(&lock); }"
COLLECT = "static void go(int n) { shmem_int_collect(SHMEM_TEAM_WORLD, d, s, n); }"


def outcome(text: str, functions: str = "") -> tuple[str, str | None, bool]:
    """The verdict, what is said of assertions, and whether there is a deadlock."""
    source = PROGRAM.replace("%s", functions, 1).replace("%s", text)
    verdict = pgasrob.check(parse_c(source), 2)
    return verdict.verdict, verdict.assertions, verdict.deadlock is True


ROBUST = ("robust", None, False)
OUTCOMES = {
    # An attempt that fails does not look at a free lock.
    "if (me == 0) { shmem_int_p(&x, 1, 1); if (!shmem_test_lock(&lock)) shmem_clear_lock(&lock); }" + LOCKED: ROBUST,
    "if (me == 0) { shmem_int_p(&x, 1, 1); while (shmem_test_lock(&lock)); shmem_clear_lock(&lock); }" + LOCKED: ROBUST,
    # The end completes what any context has pending.
    "shmem_ctx_create(0, &c); if (me == 0) shmem_ctx_int_p(c, &x, 1, 1); shmem_finalize(); if (!x) y = me;": ROBUST,
    # The first element is looked at before it is set, the second one after that.
    SETS_BOTH + "else { size_t n = shmem_int_test_some(v, 2, i, 0, SHMEM_CMP_EQ, 1); assert(n != 1 || i[0] == 0); }": (
        "robust",
        "violated",
        False,
    ),
    SETS_BOTH + "else { size_t n = shmem_int_wait_until_some(v, 2, i, 0, SHMEM_CMP_EQ, 1); assert(n == 1); }": (
        "robust",
        "violated",
        False,
    ),
    # What is set before all look at it is found.
    SETS_BOTH + "shmem_barrier_all(); if (me) assert(shmem_int_test_some(v, 2, i, 0, SHMEM_CMP_EQ, 1) == 2);": (
        "robust",
        "hold",
        False,
    ),
    SETS_BOTH + "shmem_barrier_all(); if (me) assert(shmem_int_test_all(v, 2, 0, SHMEM_CMP_EQ, 1));": (
        "robust",
        "hold",
        False,
    ),
    # An element that is not set is enough for an answer, whichever it is, and so is one that is.
    SETS_ONE
    + "else { shmem_int_wait_until(v, SHMEM_CMP_EQ, 1); assert(shmem_int_test_all(v, 2, 0, SHMEM_CMP_EQ, 1)); }": (
        "robust",
        "violated",
        False,
    ),
    SETS_ONE.replace("v[0]", "v[1]")
    + "else { shmem_int_wait_until(&v[1], SHMEM_CMP_EQ, 1);"
    + " assert(shmem_int_test_any(v, 2, 0, SHMEM_CMP_EQ, 1) != 1); }": ("robust", "violated", False),
    # The second element is never set: nothing but waiting for it waits for ever.
    SETS_ONE + "else shmem_int_test_some(v, 2, i, 0, SHMEM_CMP_EQ, 1);": ROBUST,
    SETS_ONE + "else shmem_int_test_all(v, 2, 0, SHMEM_CMP_EQ, 1);": ROBUST,
    SETS_ONE + "else shmem_int_test_any(v, 2, 0, SHMEM_CMP_EQ, 1);": ROBUST,
    SETS_ONE + "else shmem_int_wait_until_some(v, 2, i, 0, SHMEM_CMP_EQ, 1);": ROBUST,
    SETS_ONE + "else shmem_int_wait_until_any(v, 2, 0, SHMEM_CMP_EQ, 1);": ROBUST,
    SETS_ONE + "else shmem_int_wait_until_all(v, 2, 0, SHMEM_CMP_EQ, 1);": ("robust", None, True),
    "if (me) shmem_int_wait_until_some(v, 2, i, 0, SHMEM_CMP_EQ, 1); else y = shmem_int_g(&x, 1);": (
        "robust",
        None,
        True,
    ),
}


@pytest.mark.parametrize(("text", "expected"), OUTCOMES.items())
def test_outcome(text: str, expected: tuple[str, str | None, bool]) -> None:
    assert outcome(text) == expected


def test_numbers_of_elements_may_change_at_one_place() -> None:
    twice = "s[0] = 10 * me; s[1] = 10 * me + 1; go(1); assert(d[1] == 10); shmem_barrier_all(); go(2);"
    assert outcome(twice + "assert(d[1] == 1 && d[2] == 10);", COLLECT) == ("robust", "hold", False)
    loop = "for (int k = 1; k <= 2; k++) { s[0] = 10 + me; go(me ? 1 : k); assert(d[k] == 11); shmem_barrier_all(); }"
    assert outcome(loop, COLLECT) == ("robust", "hold", False)


def test_a_number_that_is_the_same_each_time_leaves_loops_as_they_are() -> None:
    loop = "while (shmem_int_g(&x, 0) == 0) { go(me + 1); if (me == 0) shmem_int_p(&x, 1, 0); shmem_barrier_all(); }"
    source = PROGRAM.replace("%s", COLLECT, 1).replace("%s", loop)
    assert sum(len(each.out) for each in parse_c(source).instantiate(2).automata) < 200


def test_an_argument_that_has_not_been_set_matters_where_the_call_is_made() -> None:
    """Behind a branch on what is not known a run may never come to the call."""
    program = "int k; if (me == 0) { int r = shmem_int_g(&x, 1); if (r == %d) shmem_int_p(&y, 1, k); } else x = 1;"
    assert outcome(program % 2) == ROBUST
    assert outcome(program % 1)[0] == "error"
    known = "int k; int r = x; if (r) k = 1; if (r) shmem_int_p(&y, 1, k); if (me) shmem_int_p(&x, 1, 0);"
    assert outcome(known) == ROBUST
