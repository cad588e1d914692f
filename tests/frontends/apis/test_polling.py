"""Loops of C that wait by looking again and again: polls by default, events when failed polls count."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program.reading import Conflicts, FailedPolls

SHMEM = """#include <shmem.h>
#include <stdio.h>
#include <unistd.h>
#include <sched.h>
static int flag, data, late, f[2]; static volatile int vflag; static long lock; static uint64_t s;
static void wait_for(int *p) { int seen; do { seen = *(volatile int *)p; } while (!seen); }
int main(void) { shmem_init(); int me = shmem_my_pe(), peer = 1 - me, v = 0; size_t i[2];
(void)v; (void)i; (void)wait_for;
%s
return 0; }"""
PUT = "shmem_int_p(&flag, 1, peer);"
WAITS = (
    # A failed look comes back to where the PE was.
    PUT + "while (!flag);",
    PUT + "while (!flag) usleep(1);",
    PUT + "while (!flag) shmem_fence();",
    PUT + "wait_for(&flag);",
    PUT + "for (;;) { if (flag) break; }",
    PUT + "int n = 0; while (!flag) n++;",
    PUT + 'int n = 0; while (!flag) n++; printf("%d", n);',
    PUT + "int n = 0; while (!flag) { if (++n == 1000) { usleep(1); n = 0; } }",
    PUT + "int n = 0; while (!flag) { n = n < 100 ? n + 1 : 0; if (n == 50) sched_yield(); }",
    "shmem_int_p((int *)&vflag, 1, peer); while (!vflag);",
    PUT + "while (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1));",
    PUT + "int done = 0; while (!done) done = shmem_int_test(&flag, SHMEM_CMP_GE, 1);",
    PUT + "while (shmem_int_atomic_fetch(&flag, me) == 0);",
    PUT + "while (shmem_int_g(&flag, me) == 0);",
    PUT + "do { shmem_int_get(&v, &flag, 1, me); } while (v == 0);",
    PUT + "do { shmem_getmem(&v, &flag, sizeof v, me); } while (v == 0);",
    "shmem_signal_set(&s, 1, peer); while (shmem_signal_fetch(&s) == 0);",
    PUT + "while (shmem_int_test_any(&flag, 1, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);",
    "shmem_int_p(&f[me], 1, peer); while (shmem_int_test_any(f, 2, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);",
    "shmem_int_p(&f[me], 1, peer); f[me] = 1; while (!shmem_int_test_all(f, 2, NULL, SHMEM_CMP_EQ, 1));",
    # A look that leads to a wait for the same.
    PUT + "if (!flag) shmem_int_wait_until(&flag, SHMEM_CMP_NE, 0);",
    PUT + "if (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1)) shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);",
    PUT + "if (!flag) while (!flag);",
    # One flag and then the other: a round that has seen one of them begins anew.
    "if (me) { shmem_int_p(&f[0], 1, 0); shmem_int_p(&f[1], 1, 0); } else while (!(f[1] && f[0]));",
)
TWO = (
    "if (me) { shmem_int_p(&f[0], 1, 0); shmem_int_p(&f[1], 1, 0); shmem_int_p(&flag, 1, 0); }"
    "else { shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); int a = 0, b = 0; while (%s) { a = f[0]; b = f[1]; } }"
)
WAITS += tuple(
    TWO % condition
    for condition in (
        "!(a && b)",
        "(a & b) == 0",
        "a * b == 0",
        "!a || !b",
        "!((a == 1) & (b == 1))",
        "!(a & b & 1)",
        "a + b < 2",
    )
)
"""Two flags, of which one that is not set is enough to go round again."""
EVENTS = (
    TWO % "(a | b) == 0",
    # what the other operand does is not left out
    TWO % "!(a & shmem_int_atomic_fetch_add(&data, 1, 1))",
    PUT + "data = flag;",
    PUT + "for (int n = 0; n < 2 && !flag; n++);",
    PUT + "int n = 0; while (!flag) n++; shmem_int_p(&data, n, peer);",
    PUT + "int n = 0; while (!flag) { if (++n == 1000) { shmem_int_p(&data, 1, peer); n = 0; } }",
    PUT + "int n = 0; while (!flag && n < 1000) n++;",
    PUT + "int n = 0; while (!flag) n++; if (n > 2) shmem_int_p(&data, 1, peer);",
    PUT + "if (!flag) { shmem_int_wait_until(&flag, SHMEM_CMP_NE, 0); v = 1; } shmem_int_p(&late, v, peer);",
    PUT + "if (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1)) shmem_int_p(&late, 1, peer);",
    # The first flag is missed when the second has been seen, and that is told.
    "if (me) { shmem_int_p(&f[0], 1, 0); shmem_int_p(&f[1], 1, 0); }"
    "else { while (!f[1]); if (!f[0]) shmem_int_p(&late, 1, 1); }",
)


def verdict(text: str, failed_polls: FailedPolls = "wait", conflicts: Conflicts = "commuting") -> str:
    return pgasrob.check(parse_c(text), 2, failed_polls=failed_polls, conflicts=conflicts, effect=False).verdict


@pytest.mark.parametrize("text", WAITS)
def test_a_loop_that_only_looks_is_a_wait(text: str) -> None:
    assert verdict(SHMEM.replace("%s", text, 1)) == "robust"
    assert verdict(SHMEM.replace("%s", text, 1), "count") == "not robust"


@pytest.mark.parametrize("text", EVENTS)
def test_a_look_that_decides_something_counts(text: str) -> None:
    assert verdict(SHMEM.replace("%s", text, 1)) == "not robust"


def sent_and_tested(first: int, second: int, test: str) -> str:
    """PE 1 puts one element and then, in no order, another; PE 0 tests once and tells what it has found."""
    sends = f"shmem_int_p(&f[{first}], 1, 0); shmem_int_p(&f[{second}], 1, 0);"
    return verdict(SHMEM.replace("%s", f"if (me) {{ {sends} }} else {{ {test} }}", 1))


def test_the_answer_of_a_test_needs_no_more_than_it_says() -> None:
    """That one element is set says nothing of those that have been missed before, nor that one is not set of those that
    have been seen."""
    found_any = "size_t n = shmem_int_test_any(f, 2, NULL, SHMEM_CMP_EQ, 1); if (n == 1) shmem_int_p(&late, 1, 1);"
    not_all = "if (!shmem_int_test_all(f, 2, NULL, SHMEM_CMP_EQ, 1)) shmem_int_p(&late, 1, 1);"
    for order in ((0, 1), (1, 0)):
        assert sent_and_tested(*order, found_any) == "robust"
        assert sent_and_tested(*order, not_all) == "robust"


def test_which_elements_are_set_is_seen_in_their_order() -> None:
    found = "size_t n = shmem_int_test_some(f, 2, i, NULL, SHMEM_CMP_EQ, 1); shmem_int_p(&late, n, 1);"
    assert sent_and_tested(0, 1, found) == "robust"
    assert sent_and_tested(1, 0, found) == "not robust"


def test_an_attempt_at_a_lock_that_fails_is_none() -> None:
    taken = "shmem_int_p(&data, 1, peer); while (shmem_test_lock(&lock)); shmem_quiet(); shmem_clear_lock(&lock);"
    assert verdict(SHMEM.replace("%s", taken, 1)) == "robust"


MPI = """#include <mpi.h>
int main(int argc, char **argv) { MPI_Init(&argc, &argv); int me, one = 1, zero = 0, v, *m; MPI_Win w;
MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w); (void)zero; (void)v;
MPI_Win_lock_all(0, w);
%s
MPI_Win_unlock_all(w); MPI_Win_free(&w); MPI_Finalize(); return 0; }"""
MPI_PUT = "MPI_Accumulate(&one, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, MPI_REPLACE, w);"
MPI_WAITS = (
    "while (*(volatile int *)m == 0) MPI_Win_sync(w);",
    "do { MPI_Get(&v, 1, MPI_INT, me, 0, 1, MPI_INT, w); MPI_Win_flush(me, w); } while (v == 0);",
    "do { MPI_Fetch_and_op(&zero, &v, MPI_INT, me, 0, MPI_NO_OP, w); MPI_Win_flush(me, w); } while (v == 0);",
    "do { MPI_Request r; MPI_Rget(&v, 1, MPI_INT, me, 0, 1, MPI_INT, w, &r);"
    "MPI_Wait(&r, MPI_STATUS_IGNORE); } while (v == 0);",
)


@pytest.mark.parametrize("text", MPI_WAITS)
def test_windows_are_polled_in_many_ways(text: str) -> None:
    assert verdict(MPI % (MPI_PUT + text)) == "robust"
    assert verdict(MPI % (MPI_PUT + text), "count") == "not robust"


COMMUTING = {
    "shmem_int_atomic_add(&f[me], 1, 0); shmem_int_atomic_add(&f[peer], 1, 0);": True,
    "shmem_int_atomic_inc(&f[me], 0); shmem_int_atomic_add(&f[peer], 2, 0);": True,
    "shmem_signal_add(&u[me], 1, 0); shmem_signal_add(&u[peer], 1, 0);": True,
    "shmem_uint64_atomic_or(&u[me], 1, 0); shmem_uint64_atomic_or(&u[peer], 2, 0);": True,
    "shmem_uint64_atomic_xor(&u[me], 1, 0); shmem_uint64_atomic_xor(&u[peer], 2, 0);": True,
    "shmem_uint64_atomic_and(&u[me], 1, 0); shmem_uint64_atomic_and(&u[peer], 2, 0);": True,
    "shmem_uint64_atomic_or(&u[me], 1, 0); shmem_uint64_atomic_and(&u[peer], 2, 0);": False,
    "shmem_int_atomic_set(&f[me], 1, 0); shmem_int_atomic_set(&f[peer], 1, 0);": False,
    "shmem_int_atomic_fetch_add_nbi(&v, &f[me], 1, 0); shmem_int_atomic_fetch_add_nbi(&data, &f[peer], 1, 0);": False,
}
MPI_COMMUTING = {"MPI_SUM": True, "MPI_MIN": True, "MPI_MAX": True, "MPI_BAND": True, "MPI_BOR": True, "MPI_BXOR": True,
                 "MPI_PROD": False, "MPI_REPLACE": False, "me ? MPI_SUM : MPI_MAX": False}  # fmt: skip


@pytest.mark.parametrize(("text", "commute"), COMMUTING.items())
def test_updates_that_fetch_nothing_commute(text: str, commute: bool) -> None:
    program = SHMEM.replace("static long lock", "static uint64_t u[2]; static long lock").replace("%s", text, 1)
    assert verdict(program) == ("robust" if commute else "not robust")
    assert verdict(program, conflicts="all") == "not robust"


@pytest.mark.parametrize(("operation", "commute"), MPI_COMMUTING.items())
def test_accumulates_commute(operation: str, commute: bool) -> None:
    each = f"MPI_Accumulate(&one, 1, MPI_INT, 0, %s, 1, MPI_INT, {operation}, w);"
    program = MPI % (each % "me" + each % "1 - me")
    assert verdict(program) == ("robust" if commute else "not robust")
    assert verdict(program, conflicts="all") == "not robust"
