"""Threads of a rank: what each of them does, which memory they share, and what is refused."""

from __future__ import annotations

import re

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.rank_threads import changed, merged
from pgasrob.frontends.c.thread_facts import Part
from pgasrob.frontends.lower import parse_c
from pgasrob.robustness.reasons import OthersPending
from tests.frontends.apis.lowering import threads

PROGRAM = """#include <shmem.h>
#include <omp.h>
#include <pthread.h>
long x, y, z[4];
{outside}
int main(void) {{ int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); int me = shmem_my_pe();
{body}
shmem_finalize(); return 0; }}
"""


def lowered(body: str, outside: str = "") -> dict[tuple[int, int], list[str]]:
    return threads(PROGRAM.format(body=body, outside=outside))


def refused(body: str, outside: str = "") -> str:
    with pytest.raises(SourceError) as caught:
        parse_c(PROGRAM.format(body=body, outside=outside)).program(2)
    (found,) = caught.value.diagnostics
    assert found.line
    return f"{found.code}: {found.message}"


def test_a_thread_waits_for_its_fork_and_says_when_it_is_done() -> None:
    found = lowered("#pragma omp parallel num_threads(2)\nshmem_long_p(&z[omp_get_thread_num()], me + 5, 1 - me);\n")
    assert found[0, 0][:4] == [
        "mem[thread_1] <- 1;",
        "update(set, 5, 1, z[0], 0) as plain;",
        "await(mem[thread_1] == 0);",
        "wait(0);",
    ]
    assert found[1, 1][:3] == [
        "await(mem[thread_1] == 1);",
        "update(set, 6, 0, z[1], 0) as plain;",
        "mem[thread_1] <- 0;",
    ]


def test_forks_that_follow_each_other_need_no_choice() -> None:
    one = "#pragma omp parallel num_threads(2)\nshmem_long_p(&x, {}, 1 - me);\n"
    found = lowered(one.format(1) + "shmem_sync_all();\n" + one.format(2).replace("num_threads(2)", "num_threads(3)"))
    first, second = found[0, 1], found[0, 2]
    first = [line.partition(": ")[2] or line for line in first if "await" in line or "set" in line]
    assert first[:3] == [
        "await(mem[thread_1] == 1);", "update(set, 1, 1, x, 0) as plain;", "await(mem[thread_1] == 2);",
    ]  # fmt: skip
    assert second[0] == "await(mem[thread_2] == 2);" and (1, 2) in found


def test_a_thread_that_no_fork_may_follow_is_told_that_the_rank_ends() -> None:
    body = """if (shmem_long_atomic_fetch(&x, 0)) {
#pragma omp parallel num_threads(2)
shmem_long_p(&y, 1, 1 - me);
}"""
    assert "mem[thread_1] <- -1;" in lowered(body)[0, 0]
    assert check(parse_c(PROGRAM.format(body=body, outside="")), 2).verdict == "robust"


def test_what_a_thread_sets_lies_in_cells_and_what_it_has_for_itself_does_not() -> None:
    body = """long v = 3, w = 4;
#pragma omp parallel num_threads(2) firstprivate(w)
{ long u = v + 1; w += u; if (omp_get_thread_num()) y = w; shmem_long_p(&x, u, 1 - me); }
z[0] = y + v; shmem_sync_all();"""
    found = lowered(body)
    assert "mem[y] <- 8;" in found[0, 1] and not [line for line in found[0, 1] if "mem[v]" in line or "mem[u]" in line]
    assert [line for line in found[0, 0] if "mem[y]" in line] == ["t <- mem[y];"]


def test_what_the_first_thread_sets_while_another_one_looks_at_it_lies_in_cells() -> None:
    body = """#pragma omp parallel num_threads(2)
{ if (omp_get_thread_num()) { shmem_long_p(&x, y, 1 - me); } else { y = 7; z[1] = 8; } }"""
    found = lowered(body)
    assert "mem[y] <- 7;" in found[0, 0] and "t <- mem[y];" in found[0, 1]
    assert not [line for line in found[0, 0] if "mem[z" in line]


def test_a_wait_of_the_rank_has_threads_wait_that_stand_idle() -> None:
    body = """#pragma omp parallel num_threads(2)
if (omp_get_thread_num()) shmem_long_p(&x, 1, 1 - me);
{wait}"""
    found = lowered(body.replace("{wait}", "shmem_quiet();"))
    place = found[0, 0].index("wait(0);")
    assert found[0, 0][place + 1 : place + 3] == ["mem[thread_1] <- 2;", "await(mem[thread_1] == 0);"]
    assert "wait(0);" in found[0, 1]
    fence = parse_c(PROGRAM.format(body=body.replace("{wait}", "shmem_fence();"), outside="")).program(2)
    assert [each.about for each in fence.assumptions if each.kind.name == "THREADS_COMPLETE"] == [("shmem_fence",)]


WAITED = """#pragma omp parallel num_threads(2)
{
  shmem_long_p(&z[omp_get_thread_num()], 7, 1 - me);
  OWN
#pragma omp barrier
  MORE
#pragma omp master
  shmem_barrier_all();
#pragma omp barrier
  LATER
  if (omp_get_thread_num() == 0) y = z[0] + z[1];
}"""


@pytest.mark.parametrize(
    ("own", "more", "later", "verdict"),
    [
        ("", "", "", "robust"),
        ("", "x = 1;", "", "unknown"),
        ("shmem_quiet();", "x = 1;", "", "robust"),
        ("shmem_quiet();", "", "shmem_long_p(&z[1], 8, 1 - me);\n#pragma omp barrier\n", "not robust"),
    ],
)
def test_a_run_that_needs_a_wait_to_be_for_one_thread_is_no_counterexample(
    own: str, more: str, later: str, verdict: str
) -> None:
    body = WAITED.replace("OWN", own).replace("MORE", more).replace("LATER", later)
    found = check(parse_c(PROGRAM.format(body=body, outside="")), 2)
    assert found.verdict == verdict
    assert isinstance(found.reason, OthersPending) == (verdict == "unknown")


def test_threads_of_posix() -> None:
    work = "static void *work(void *p) { shmem_long_p(&z[*(int *)p], 1, 0); y = *(int *)p; return 0; }"
    body = """pthread_t t[2]; int n[3] = {0, 0, 2};
for (int i = 0; i < 2; i++) { n[i] = i; pthread_create(&t[i], 0, work, &n[i]); }
for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
pthread_create(&t[0], 0, work, &n[2]); pthread_join(t[0], 0);"""
    found = lowered(body, work)
    mails = [line for line in found[0, 0] if "thread_" in line]
    assert mails[:4] == [
        "mem[thread_1] <- 1;",
        "mem[thread_2] <- 2;",
        "await(mem[thread_1] == 0);",
        "await(mem[thread_2] == 0);",
    ]
    assert [line for line in found[0, 1] if "update" in line] == [
        "update(set, 1, 0, z[0], 0) as plain;",
        "update(set, 1, 0, z[2], 0) as plain;",
    ]


@pytest.mark.parametrize(
    ("body", "outside", "message"),
    [
        ("pthread_t t; pthread_create(&t, 0, f, 0);", "static void *f(void *p) { return 0; }", "main ends while other"),
        (
            "#pragma omp parallel num_threads(9)\nshmem_quiet();",
            "",
            "a team of 9 threads",
        ),
        ("void *q;\n#pragma omp parallel\n{ q = &q; shmem_quiet(); }", "", "stores a pointer or a handle in `main.q`"),
        ("pthread_cond_timedwait(0, 0, 0);", "", "`pthread_cond_timedwait` is not supported"),
        (
            "pthread_t t; pthread_create(&t, 0, f, 0);\n#pragma omp parallel\nshmem_quiet();\npthread_join(t, 0);",
            "static void *f(void *p) { return 0; }",
            "a team of a thread that is created, or beside one",
        ),
        (
            "void *q = &y;\n#pragma omp parallel\n{ if (omp_get_thread_num()) q = &x; else *(long *)q = 1;"
            "shmem_quiet(); }",
            "",
            "before the two meet at a barrier or a join",
        ),
        (
            "void *q = &y; pthread_t t; pthread_create(&t, 0, f, &q); *(long *)q = 1; pthread_join(t, 0);",
            "static void *f(void *p) { *(void **)p = &x; shmem_quiet(); return 0; }",
            "before the two meet at a barrier or a join",
        ),
    ],
)
def test_what_is_refused(body: str, outside: str, message: str) -> None:
    assert message in refused(body, outside)


def test_pointers_and_handles_that_threads_tell_each_other_of() -> None:
    """Where they meet, at a barrier, a join and the end of a region; and the thread itself behind its region."""
    region = "long *q[2], *r = &y;\n#pragma omp parallel num_threads(2)\n{{ int t = omp_get_thread_num(); {} }}\n{}"
    found = lowered(
        region.format(
            "q[t] = &z[t]; if (t) r = 0;\n#pragma omp barrier\n*q[1 - t] = t + 5; if (!r) shmem_quiet();",
            "#pragma omp parallel num_threads(2)\n{ *q[omp_get_thread_num()] = 9; if (!r) shmem_quiet(); }",
        )
    )
    stores = [[line for line in found[0, thread] if re.match(r"mem\[z", line)] for thread in range(2)]
    assert stores == [["mem[z[1]] <- 5;", "mem[z[0]] <- 9;"], ["mem[z[0]] <- 6;", "mem[z[1]] <- 9;"]]
    assert [[line.count("wait(0)") for line in found[0, thread]].count(1) for thread in range(2)] == [3, 2]
    created = lowered(
        "pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); *p1 = 7;",
        "static long *p1; static void *f(void *p) { p1 = &z[3]; z[3] = 1; shmem_quiet(); return 0; }",
    )
    assert "mem[z[3]] <- 7;" in created[0, 0]


TWO_SENDERS = """#include <mpi.h>
#include <omp.h>
int main(int c, char **v) { int p, me, r = 0; MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
MPI_Comm_rank(MPI_COMM_WORLD, &me);
#pragma omp parallel num_threads(2)
{ int t = omp_get_thread_num();
if (me == 0) MPI_Send(&t, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
}
if (me == 1) { MPI_Recv(&r, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
MPI_Recv(&r, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
MPI_Finalize(); return 0; }
"""


def test_messages_of_two_threads_need_two_tags() -> None:
    with pytest.raises(SourceError, match="make calls here whose order decides what they do"):
        parse_c(TWO_SENDERS.replace("TAG", "0").replace("LAST", "0")).program(2)
    assert parse_c(TWO_SENDERS.replace("TAG", "t").replace("LAST", "1")).program(2).has_threads


def test_what_apis_remember_after_several_threads() -> None:
    assert changed({"a": 1, "b": 2}, {"b": 3, "c": 4}) == {("a", None), ("b", 3), ("c", 4)}
    assert merged("k", None, [5]) == 5
    assert merged("k", frozenset({1, 2}), [frozenset({1}), frozenset({1, 2, 3})]) == frozenset({1, 3})
    assert merged("k", (2,), [(1, 2), (2, 3)]) == (1, 2, 3)
    assert merged("k", None, [True, True]) is True
    several = [frozenset({("send", each, "a")}) for each in (0, 1024)]
    assert merged("mpi.requests.numbered", None, several) == several[0] | several[1]
    for key, values in (
        ("mpi.sent.x", [1, 1]),
        ("mpi.requests.numbered", [frozenset({("send", 0, "a")}), frozenset({("send", 0, "b")})]),
        ("k", [1, 2]),
    ):
        with pytest.raises(ValueError, match=key):
            merged(key, None, values)


def test_parts_of_objects_that_overlap() -> None:
    assert Part(0, 8).meets(Part(4, 4)) and not Part(0, 4).meets(Part(4, 4)) and Part(None, 4).meets(Part(64, 8))


PUTS = """#include <shmem.h>
#include <omp.h>
long d[3], a[3], f, n;
int main(void) {{ int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); int me = shmem_my_pe();
#pragma omp parallel num_threads({size})
{{ int t = omp_get_thread_num(); if (!me) shmem_long_put_nbi(&d[t], &a[t], 1, 1);
#pragma omp barrier
{then}
}}
if (me) {{ shmem_long_wait_until(&f, SHMEM_CMP_EQ, 1); n = d[0] + d[1]; }}
shmem_barrier_all(); shmem_finalize(); return 0; }}
"""
QUIET = "{ if (!me) { shmem_quiet(); shmem_long_atomic_set(&f, 1, 1); } }"


@pytest.mark.parametrize(
    ("then", "verdict"),
    [
        (f"#pragma omp single\n{QUIET}", "robust"),
        (f"#pragma omp masked filter(1)\n{QUIET}", "robust"),
        (f"#pragma omp single\n{QUIET.replace('shmem_quiet(); ', '')}", "not robust"),
        # Each thread comes to the critical region before it stands at the barrier.
        (f"#pragma omp critical\n{{ if (t == 1) {QUIET} }}", "unknown"),
    ],
)
def test_threads_that_stand_at_a_barrier_are_asked_to_wait(then: str, verdict: str) -> None:
    found = check(parse_c(PUTS.format(then=then, size=2)), 2)
    assert found.verdict == verdict and isinstance(found.reason, OthersPending) == (verdict == "unknown")


def test_who_is_asked_and_how() -> None:
    barriers = "\n#pragma omp barrier" * 2
    found = threads(PUTS.format(then=f"#pragma omp masked filter(1)\n{QUIET}{barriers}", size=3))
    assert [line for line in found[0, 1] if "box_3" in line] == [
        "await_add(0, mem[box_3_turn] == 0, 1);", "box <- fetch_add(0, box_3_0, 512);", "await(mem[box_3_0] < 256);",
        "mem[box_3_turn] <- 0;", "await_add(0, mem[box_3_2] == 0, 2);", "await(mem[box_3_2] == 0);",
        "box <- fetch_add(0, box_3_0, 1);", "await(mem[box_3_1] != 0);", "box <- mem[box_3_1];", "mem[box_3_1] <- 0;",
    ]  # fmt: skip
    assert [line for line in found[0, 0] if "wait" in line][2:7] == [
        "await(mem[box_3_0] >= 2);", "wait(0);", "await(mem[box_3_0] >= 2);", "await(mem[arrived_3_1] == 0);",
        "await(mem[arrived_3_2] == 0);",
    ]  # fmt: skip
    assert "wait(0);" in found[0, 2] and not [line for line in found[1, 1] if "await_add(1, mem[box" in line]


def test_an_unknown_value_is_one_for_all_threads() -> None:
    """The first thread waits just where the other one puts."""
    body = """int n = rand() % 2; pthread_t t; pthread_create(&t, 0, f, &n);
if (n) shmem_long_wait_until(&x, SHMEM_CMP_EQ, 1);
pthread_join(t, 0);"""
    outside = "static void *f(void *p) { if (*(int *)p) shmem_long_p(&x, 1, shmem_my_pe()); return 0; }"
    text = "#include <stdlib.h>\n" + PROGRAM.format(body=body, outside=outside)
    assert not check(parse_c(text), 1).deadlock
    assert check(parse_c(text.replace("if (n) shmem", "shmem")), 1).deadlock


def test_handles_that_a_thread_has_for_itself_are_told_nobody() -> None:
    """What it has done with one is no change of a piece of work, which others would have to know of."""
    text = """#include <mpi.h>
int in[3];
int main(int c, char **v) { int p, me; MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
MPI_Comm_rank(MPI_COMM_WORLD, &me);
#pragma omp parallel for schedule(dynamic) num_threads(2)
for (int i = 0; i < 2; i++) { MPI_Request q; MPI_Irecv(&in[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &q);
MPI_Send(&i, 1, MPI_INT, me, i, MPI_COMM_WORLD); MPI_Wait(&q, MPI_STATUS_IGNORE); }
MPI_Finalize(); return 0; }
"""
    assert check(parse_c(text), 1).verdict == "robust"
