"""Which threads may make calls, by the thread level."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.apis.thread_levels import ALONE, MPI, SHMEM, alone, epoch, knows_threads, levels_of
from pgasrob.frontends.c.values import UNDEFINED, Handle, Known
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import Illegal, IllegalCall
from pgasrob.program.statements import Do, statements_in

HYBRID = """#include <mpi.h>
int main(int c, char **v) {{ int p, me, x = 0; {init}(&c, &v{level});
MPI_Comm_rank(MPI_COMM_WORLD, &me);
#pragma omp parallel num_threads(2)
{{
#pragma omp {where}
MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
}}
MPI_Finalize(); return 0; }}
"""


def illegal(text: str) -> list[tuple[IllegalCall, int]]:
    """The calls that are not allowed, with the thread that makes each."""
    program = parse_c(text).program(2)
    return [
        (each.command.fact, process.thread)
        for process in program.processes
        for each in statements_in(process.body)
        if isinstance(each, Do) and isinstance(each.command, Illegal)
    ]


@pytest.mark.parametrize(
    ("init", "level", "where", "rule", "who"),
    [
        ("MPI_Init", "", "masked filter(1)", MPI.off_main, {1}),
        ("MPI_Init_thread", "FUNNELED", "masked filter(1)", MPI.off_main, {1}),
        ("MPI_Init_thread", "FUNNELED", "master", None, set()),
        ("MPI_Init_thread", "SERIALIZED", "single", MPI.at_once, {0, 1}),
        ("MPI_Init_thread", "MULTIPLE", "single", ALONE[0].rule, {0, 1}),
    ],
)
def test_levels_of_mpi(init: str, level: str, where: str, rule: object, who: set[int]) -> None:
    argument = f", MPI_THREAD_{level}, &p" if level else ""
    found = illegal(HYBRID.format(init=init, level=argument, where=where))
    assert {each.rule for each, _ in found} == ({rule} if rule else set())
    assert {thread for _, thread in found} == who
    assert all(each.sentence.startswith("`MPI_Bcast`") and each.rule.remedy for each, _ in found)


def test_calls_that_only_ask_are_taken_to_be_alone() -> None:
    test = "MPI_Request r; int done; MPI_Irecv(&x, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &r); MPI_Test(&r, &done, 0);"
    text = HYBRID.format(init="MPI_Init_thread", level=", MPI_THREAD_SERIALIZED, &p", where="master")
    program = parse_c(
        text.replace("MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);", f"{{ {test} MPI_Wait(&r, 0); }}")
    ).program(2)
    assert [each.about for each in program.assumptions if each.kind is Kind.THREADS_SERIALIZED] == [("MPI_Test",)]


def test_levels_of_openshmem() -> None:
    text = """#include <shmem.h>
#include <pthread.h>
long x;
static void *work(void *a) { shmem_long_p(&x, 1, 0); return 0; }
int main(void) { pthread_t t; INIT; pthread_create(&t, 0, work, 0); pthread_join(t, 0); shmem_finalize(); return 0; }
"""
    assert [each.rule for each, _ in illegal(text.replace("INIT", "shmem_init()"))] == [SHMEM.off_main] * 2
    assert not illegal(text.replace("INIT", "int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p)"))


CONTEXTS = """#include <shmem.h>
#include <omp.h>
long x[2];
int main(void) { int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); shmem_ctx_t c; BEFORE
#pragma omp parallel num_threads(2) private(c)
{ IN }
#pragma omp parallel num_threads(2)
{ USE }
AFTER shmem_finalize(); return 0; }
"""
USE = "shmem_ctx_long_p(c, &x[omp_get_thread_num()], 1, 0); shmem_ctx_quiet(c);"


@pytest.mark.parametrize(
    ("options", "use", "found"),
    [
        ("SHMEM_CTX_PRIVATE", USE, {("shmem-context-private", 1)}),
        ("SHMEM_CTX_PRIVATE", "if (!omp_get_thread_num()) { " + USE + " }", set()),
        ("SHMEM_CTX_SERIALIZED", USE, {("shmem-context-serialized", 0), ("shmem-context-serialized", 1)}),
        ("SHMEM_CTX_NOSTORE", USE, set()),
    ],
)
def test_contexts_of_one_thread(options: str, use: str, found: set[tuple[str, int]]) -> None:
    made = f"shmem_ctx_create({options}, &c);"
    text = CONTEXTS.replace("BEFORE", made).replace("IN", "shmem_quiet();").replace("USE", use)
    text = text.replace("AFTER", "shmem_ctx_destroy(c);")
    assert {(each.rule.code, thread) for each, thread in illegal(text)} == found


def test_each_thread_may_have_a_context_of_its_own() -> None:
    for options in ("SHMEM_CTX_PRIVATE", "SHMEM_CTX_SERIALIZED"):
        use = f"shmem_ctx_create({options}, &c); {USE} shmem_ctx_destroy(c);"
        text = CONTEXTS.replace("BEFORE", "").replace("IN", use).replace("USE", "shmem_quiet();").replace("AFTER", "")
        assert pgasrob.check(parse_c(text), 2).legal != "no"


def test_a_private_context_of_a_thread_that_has_ended() -> None:
    """The second thread has the number of the first."""
    text = """#include <shmem.h>
#include <pthread.h>
long x; shmem_ctx_t c;
static void *one(void *a) { shmem_ctx_t d; shmem_ctx_create(SHMEM_CTX_PRIVATE, &d); shmem_ctx_long_p(d, &x, 1, 0);
shmem_ctx_destroy(d); return 0; }
int main(void) { int p; pthread_t t; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p);
pthread_create(&t, 0, one, 0); pthread_join(t, 0); pthread_create(&t, 0, one, 0); pthread_join(t, 0);
shmem_finalize(); return 0; }
"""
    assert not illegal(text)


def test_which_calls_have_levels() -> None:
    assert levels_of("MPI_Put") is MPI and levels_of("PMPI_Comm_rank") is MPI and levels_of("MPI_Wtime") is None
    assert levels_of("pshmem_quiet") is SHMEM and levels_of("shmem_query_thread") is None
    assert levels_of("gaspi_write") is None and knows_threads("gaspi_write") and not knows_threads("ARMCI_Put")


def test_which_calls_a_rank_makes_one_at_a_time() -> None:
    assert [alone(each) for each in ("MPI_Win_fence", "shmem_int_sum_reduce", "shmem_set_lock")] == [*ALONE]
    assert alone("MPI_Allreduce") is alone("MPI_Barrier") is ALONE[0]
    assert {alone(each) for each in ("MPI_Put", "MPI_Win_flush", "shmem_quiet", "shmem_int_p", "MPI_Recv")} == {None}


EPOCHS = """#include <mpi.h>
#include <omp.h>
int a[4];
int main(int c, char **v) { int p; MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p); MPI_Win w;
MPI_Win_create(a, sizeof a, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); BEFORE
#pragma omp parallel num_threads(2)
{ int t = omp_get_thread_num();
USE
}
AFTER MPI_Win_free(&w); MPI_Finalize(); return 0; }
"""
LOCK, UNLOCK = "MPI_Win_lock(MPI_LOCK_SHARED, {}, 0, w);", "MPI_Win_unlock({}, w);"
ALL = "MPI_Win_lock_all(0, w); MPI_Win_unlock_all(w);"


@pytest.mark.parametrize(
    ("before", "use", "after", "legal"),
    [
        ("", f"{LOCK.format(0)} {UNLOCK.format(0)}", "", "no"),
        ("", f"{LOCK.format('t')} {UNLOCK.format('t')}", "", "yes"),
        ("", f"\n#pragma omp critical\n{LOCK.format(0)}\n#pragma omp critical\n{UNLOCK.format(0)}", "", "no"),
        ("", f"\n#pragma omp critical\n{{ {LOCK.format(0)} {UNLOCK.format(0)} }}", "", "yes"),
        ("", f"if (t) {{ {LOCK.format(0)} {UNLOCK.format(0)} }} else {{ {ALL} }}", "", "no"),
        ("MPI_Win_lock_all(0, w);", "if (t) MPI_Win_unlock_all(w);", ALL, "yes"),
    ],
)
def test_epochs_of_threads(before: str, use: str, after: str, legal: str) -> None:
    text = EPOCHS.replace("BEFORE", before).replace("USE", use).replace("AFTER", after)
    found = pgasrob.check(parse_c(text), 2 if "(t, w" in use else 1)
    assert found.legal == legal
    assert {each.call.rule.code for each in found.illegal_calls} == ({"mpi-epochs-at-once"} if legal == "no" else set())


def test_a_lock_that_is_taken_twice_by_one_thread_is_told_once() -> None:
    text = EPOCHS.replace("BEFORE", f"{LOCK.format(0)} {LOCK.format(0)} {UNLOCK.format(0)}").replace("AFTER", "")
    found = pgasrob.check(parse_c(text.replace("USE", "MPI_Send(a, 0, MPI_INT, MPI_PROC_NULL, t, MPI_COMM_WORLD);")), 1)
    assert [each.call.rule.code for each in found.illegal_calls] == ["mpi-lock-twice"]


def test_which_epochs_are_known() -> None:
    window = Handle("window", (("made", 1), ("world",)))
    assert epoch("MPI_Win_lock", (Known(1), Known(3), Known(0), window)) == (1, 3, "('made', 1)")
    assert epoch("PMPI_Win_unlock", (Known(3), window)) == (-1, 3, "('made', 1)")
    assert epoch("MPI_Win_start", (Handle("group"), Known(0), window)) == (1, None, "('made', 1)")
    assert epoch("MPI_Win_complete", (window,)) == (-1, None, "('made', 1)")
    assert epoch("MPI_Win_fence", (Known(0), window)) is None
    assert epoch("MPI_Win_unlock", (UNDEFINED, window)) is None


AT_ONCE = {
    "mpi": """#include <mpi.h>
int main(int c, char **v) { int p; MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p); MPI_Comm other;
MPI_Comm_dup(MPI_COMM_WORLD, &other);
#pragma omp parallel num_threads(2)
{ USE }
MPI_Finalize(); return 0; }
""",
    "shmem": """#include <shmem.h>
#include <omp.h>
long one, two;
int main(void) { int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p);
#pragma omp parallel num_threads(2)
{ USE }
shmem_finalize(); return 0; }
""",
}


@pytest.mark.parametrize(
    ("api", "use", "rule"),
    [
        ("mpi", "MPI_Barrier(other);", "mpi-collectives-at-once"),
        ("mpi", "\n#pragma omp critical\nMPI_Barrier(other);\n", None),
        ("mpi", "\n#pragma omp single nowait\nMPI_Barrier(other);\n", None),
        ("shmem", "shmem_sync_all();", "shmem-collectives-at-once"),
        ("shmem", "shmem_set_lock(&one); shmem_clear_lock(&one);", "shmem-locks-at-once"),
        ("shmem", "long *l = omp_get_thread_num() ? &one : &two; shmem_set_lock(l); shmem_clear_lock(l);", None),
    ],
)
def test_one_at_a_time(api: str, use: str, rule: str | None) -> None:
    found = pgasrob.check(parse_c(AT_ONCE[api].replace("USE", use)), 2)
    assert found.legal == ("no" if rule else "yes")
    assert {each.call.rule.code for each in found.illegal_calls} == ({rule} if rule else set())
