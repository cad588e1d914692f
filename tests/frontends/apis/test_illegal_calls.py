# ruff: noqa: E501
"""Calls that an API forbids where they stand, in small programs with repaired forms (see also `mpi/test_rules.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.frontends.apis.armci import rules as armci
from pgasrob.frontends.apis.gasnet import rules as gasnet
from pgasrob.frontends.apis.gaspi import rules as gaspi
from pgasrob.frontends.apis.mpi import rules as mpi
from pgasrob.frontends.apis.openshmem import rules as openshmem
from pgasrob.program.illegal_calls import Rule
from pgasrob.robustness.check import check
from pgasrob.robustness.question import Robustness
from pgasrob.robustness.verdict import Verdict
from tests.support import session_about

ANSWERS = Path(__file__).parents[1] / "answers" / "illegal"
FOUND: dict[str, list[tuple[Rule, int]]] = {
    "armci_freed_twice": [(armci.FREED, 17)],
    "armci_handle_never_waited_for": [(armci.NEVER_WAITED_FOR, 25)],
    "armci_handle_not_initialised": [(armci.NO_HANDLE, 19)],
    "armci_handle_used_twice": [(armci.HANDLE_IN_USE, 24)],
    "armci_mutex_that_is_not_there": [(armci.NO_MUTEX, 20), (armci.NO_MUTEX, 24)],
    "armci_unlock_without_lock": [(armci.NOT_LOCKED, 25)],
    "armci_used_after_finalize": [(armci.NOT_RUNNING, 16)],
    "gasnet_barrier_wait_without_notify": [(gasnet.NOT_NOTIFIED, 17)],
    "gasnet_never_synced": [(gasnet.HANDLE_LEFT, 25)],
    "gasnet_no_attach": [(gasnet.NOT_ATTACHED, 11)],
    "gasnet_sync_within_a_region": [(gasnet.IMPLICIT_IN_REGION, 15)],
    "gasnet_wait_twice": [(gasnet.HANDLE_TWICE, 19)],
    "gaspi_no_init": [(gaspi.NOT_RUNNING, 11)],
    "gaspi_notification_out_of_range": [(gaspi.NOTIFICATION_NUMBER, 28)],
    "gaspi_notification_value_0": [(gaspi.NOTIFICATION_VALUE, 25)],
    "gaspi_notify_without_a_segment": [(gaspi.NO_SEGMENT, 17)],
    "gaspi_queue_not_created": [(gaspi.NO_QUEUE, 25), (gaspi.NO_QUEUE, 26)],
    "gaspi_segment_after_delete": [(gaspi.NO_SEGMENT, 24)],
    "gaspi_segment_not_registered": [(gaspi.NOT_REGISTERED, 25)],
    "gaspi_segment_of_one_rank_alone": [(gaspi.NO_SEGMENT, 18)],
    "gaspi_segment_registered_with_another": [(gaspi.NOT_REGISTERED, 18)],
    "mpi_accumulate_without_an_operation": [(mpi.OPERATION, 17)],
    "mpi_communicator_after_free": [(mpi.NULL_HANDLE, 18)],
    "mpi_receive_never_waited_for": [(mpi.OPEN_AT_END, 20)],
    "mpi_window_memory_after_free": [(mpi.MEMORY_FREED, 21)],
    "shmem_clear_lock_of_another": [(openshmem.NOT_LOCKED, 21)],
    "shmem_context_after_destroy": [(openshmem.CONTEXT_DESTROYED, 22)],
    "shmem_freed_twice": [(openshmem.FREED_TWICE, 15)],
    "shmem_load_of_freed_memory": [(openshmem.FREED, 19)],
    "shmem_no_init": [(openshmem.NOT_RUNNING, 12)],
    "shmem_put_to_freed_memory": [(openshmem.FREED, 21)],
    "shmem_put_to_private_heap": [(openshmem.NOT_SYMMETRIC, 18)],
    "shmem_put_to_the_stack": [(openshmem.NOT_SYMMETRIC, 18)],
    "shmem_reduction_of_a_local_variable": [(openshmem.NOT_SYMMETRIC, 17)],
    "shmem_reduction_that_overlaps": [(openshmem.OVERLAP, 16)],
    "shmem_sizes_that_differ": [(openshmem.SIZES_DIFFER, 12)],
    "shmem_wait_for_a_local_variable": [(openshmem.NOT_SYMMETRIC, 15)],
}
"""The rules that each program breaks, with the lines."""


def decided(path: Path, *defines: str) -> Verdict:
    return check(session_about(path, Robustness(effect=False), *defines))


@pytest.mark.parametrize("name", FOUND)
def test_a_call_that_is_not_allowed(name: str) -> None:
    verdict = decided(ANSWERS / f"{name}.c")
    assert verdict.legal == "no"
    assert [(each.call.rule, each.call.span.line) for each in verdict.illegal_calls] == FOUND[name]
    repaired = decided(ANSWERS / f"{name}.c", "REPAIRED")
    assert (repaired.verdict, repaired.legal, repaired.deadlock) == ("robust", "yes", False)


SOME_LOCK = "static long m[2]; int i = shmem_int_atomic_fetch_inc(&x, shmem_my_pe());"
SMALL: list[tuple[str, str, Rule | None, str]] = [
    ("team", "shmem_team_t t; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &t);"
     " shmem_team_destroy(t); shmem_team_sync(t);", openshmem.TEAM_DESTROYED, "shmem_team_sync on a team"),
    ("finalized", "shmem_finalize(); shmem_int_p(&x, 1, 1);", openshmem.NOT_RUNNING, "shmem_int_p after"),
    ("barrier at the end", "shmem_finalize(); shmem_barrier_all();", openshmem.NOT_RUNNING, "shmem_barrier_all after"),
    ("no allocation", "shmem_free(&x);", openshmem.FREED_TWICE, "shmem_free of something that is not an address"),
    ("a lock of its own", "long own = 0; shmem_set_lock(&own);", openshmem.NOT_SYMMETRIC, "shmem_set_lock is not"),
    ("asked", "int f; shmem_finalize(); shmem_query_finalized(&f);", None, ""),
    ("again", "int *p = shmem_malloc(4); shmem_free(p); p = shmem_malloc(4); shmem_int_p(p, 1, 1);", None, ""),
    ("moved", "int *p = shmem_malloc(4), *q = shmem_realloc(p, 8); shmem_int_p(p, 1, 1); shmem_int_p(q, 1, 1);",
     openshmem.FREED, "argument 1 of shmem_int_p is memory that has been freed"),
    ("tested", "if (shmem_test_lock(&l) == 0) shmem_clear_lock(&l);", None, ""),
    ("not taken", "if (shmem_test_lock(&l) != 0) shmem_clear_lock(&l);", openshmem.NOT_LOCKED, "shmem_clear_lock of a"),
    ("dead", "if (0) shmem_clear_lock(&l);", None, ""),
    ("behind a wait for nobody", "if (shmem_my_pe() == 0) { shmem_int_wait_until(&x, SHMEM_CMP_EQ, 5);"
     " shmem_clear_lock(&l); }", None, ""),
    ("stored", "int *p = shmem_malloc(4); shmem_free(p); *p = 1;", openshmem.FREED, "an access to `p`, which has been"),
    ("read in a loop", "int *p = shmem_malloc(400), s = 0; for (int i = 0; i < 100; i++) p[i] = i; shmem_free(p);"
     " for (int i = 0; i < 100; i++) if (i > 60) s += p[i]; x = s;", openshmem.FREED, "an access to `p`"),
    ("filled", "int *p = shmem_malloc(4); shmem_free(p); memset(p, 0, 4);", openshmem.FREED, "an access to `p`"),
    ("copied from", "int *p = shmem_malloc(4); *p = 1; shmem_free(p); memcpy(&x, p, 4);", openshmem.FREED, "an access to `p`"),
    ("used before", "int *p = shmem_malloc(4); *p = 1; x = *p; shmem_free(p); p = shmem_malloc(4); *p = 2;", None, ""),
    ("sizes of rounds", "for (int i = 1; i < 4; i++) { int *p = shmem_malloc(4 * i); p[0] = 1; shmem_free(p); }", None, ""),
    ("sizes by a value", "int *p; if (shmem_int_g(&x, 0)) p = shmem_malloc(8); else p = shmem_malloc(4); shmem_free(p);", None, ""),
    ("two calls", "int *p; if (shmem_my_pe()) p = shmem_malloc(4); else p = shmem_malloc(4); shmem_free(p);", None, ""),
    ("tested on the stack", "int f = 1; if (shmem_int_test(&f, SHMEM_CMP_EQ, 1)) x = 1;", openshmem.NOT_SYMMETRIC,
     "argument 1 of shmem_int_test is not symmetric: it is a local variable"),
    ("a signal on the stack", "uint64_t f = 1; shmem_signal_wait_until(&f, SHMEM_CMP_EQ, 1);", openshmem.NOT_SYMMETRIC, ""),
    ("a root's local source", "int v = 1; shmem_int_broadcast(SHMEM_TEAM_WORLD, a, &v, 1, 0);", openshmem.NOT_SYMMETRIC, ""),
    ("a work array on the stack", "long s[8]; for (int i = 0; i < 8; i++) s[i] = SHMEM_SYNC_VALUE; shmem_barrier_all();"
     " shmem_barrier(0, 0, 2, s);", openshmem.NOT_SYMMETRIC, "argument 4 of shmem_barrier"),
    ("a static one", "static int f = 1; static long s[8]; shmem_int_wait_until(&f, SHMEM_CMP_EQ, 1);"
     " for (int i = 0; i < 8; i++) s[i] = SHMEM_SYNC_VALUE; shmem_barrier_all(); shmem_barrier(0, 0, 2, s);", None, ""),
    ("in place", "shmem_int_sum_reduce(SHMEM_TEAM_WORLD, a, a, 2);", None, ""),
    ("side by side", "shmem_int_sum_reduce(SHMEM_TEAM_WORLD, a + 2, a, 2);", None, ""),
    ("asked in between", "int f; shmem_query_initialized(&f); if (!f) shmem_barrier_all(); shmem_query_finalized(&f);"
     " if (!f) shmem_finalize(); shmem_query_finalized(&f); if (!f) shmem_barrier_all();", None, ""),
    ("asked at the end", "shmem_finalize(); if (shmem_my_pe() == 0) x = 1;", None, ""),
    ("another lock", "shmem_set_lock(&l); shmem_clear_lock(&k); shmem_clear_lock(&l);", openshmem.NOT_LOCKED, ""),
    ("a lock of several", SOME_LOCK + "shmem_set_lock(&m[i]); shmem_clear_lock(&m[i]);", None, ""),
    ("another one of several", SOME_LOCK + "shmem_set_lock(&m[i]); shmem_clear_lock(&m[1 - i]);",
     openshmem.NOT_LOCKED, "a lock that nobody holds"),
    ("one of several by its name", SOME_LOCK + "shmem_set_lock(&m[i]); shmem_clear_lock(i ? &m[1] : m);", None, ""),
    ("some before all", SOME_LOCK + "if (!shmem_my_pe()) { shmem_set_lock(m); shmem_clear_lock(&m[i]); shmem_clear_lock(m); }",
     openshmem.NOT_LOCKED, "a lock that nobody holds"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "rule", "said"), [each[1:] for each in SMALL], ids=[each[0] for each in SMALL])
def test_what_came_before_decides(body: str, rule: Rule | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "small.c"
    ends = "" if "finalize" in body else "shmem_finalize();"
    path.write_text(
        "// nodes: 2\n#include <shmem.h>\n#include <string.h>\nstatic int x, a[4];\nstatic long l, k;\n"
        f"int main(void) {{ shmem_init(); {body} {ends} return 0; }}\n"
    )
    verdict = decided(path)
    assert verdict.legal == ("yes" if rule is None else "no")
    assert [each.call.rule for each in verdict.illegal_calls] == ([] if rule is None else [rule])
    assert all(said in each.call.sentence for each in verdict.illegal_calls)


ARMCI = """#include <armci.h>
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
int me, *base[8], v = 1; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);
armci_msg_nproc(); ARMCI_Init(); ARMCI_Malloc((void **)base, 16); ARMCI_Create_mutexes(me == 0 ? 2 : 1); ARMCI_Barrier();
BODY
ARMCI_Barrier(); ARMCI_Destroy_mutexes(); ARMCI_Free(base[me]); ARMCI_Finalize(); MPI_Finalize(); return 0; }
"""
GASPI = """#include <GASPI.h>
int main(void) {
gaspi_rank_t me, n; gaspi_config_t c; gaspi_config_get(&c); gaspi_config_set(c); gaspi_proc_init(GASPI_BLOCK);
gaspi_proc_rank(&me); gaspi_proc_num(&n); gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, 0); BODY
gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
if (me == 0) { gaspi_write(0, 0, 1, 1, 4, 4, 0, GASPI_BLOCK); gaspi_wait(0, GASPI_BLOCK); }
gaspi_proc_term(GASPI_BLOCK); return 0; }
"""
GASNET = """#include <gasnet.h>
int main(int argc, char **argv) {
gasnet_init(&argc, &argv); int me = gasnet_mynode(), v = 1; gasnet_attach(NULL, 0, 4096, 0); gasnet_seginfo_t s[8];
gasnet_getSegmentInfo(s, gasnet_nodes()); gasnet_handle_t h; BODY gasnet_exit(0); }
"""
SECOND = "gaspi_pointer_t p; gaspi_segment_create(1, 64, GASPI_GROUP_ALL, GASPI_BLOCK, 0);"
PUT = "if (me == 1) { ARMCI_NbPut(&v, base[0], 4, 0, &h); ARMCI_Wait(&h); }"
TRIED: list[tuple[str, str, Rule | None]] = [
    (ARMCI, "ARMCI_Lock(1, 0); ARMCI_Unlock(1, 0); ARMCI_Lock(0, 1); ARMCI_Unlock(0, 1);", None),
    (ARMCI, "ARMCI_Lock(1, 1); ARMCI_Unlock(1, 1);", armci.NO_MUTEX),
    (ARMCI, "ARMCI_Destroy_mutexes(); ARMCI_Lock(0, 0); ARMCI_Unlock(0, 0); ARMCI_Create_mutexes(1);", armci.NO_MUTEX),
    (ARMCI, f"armci_hdl_t h; {PUT}", armci.NO_HANDLE),
    (ARMCI, f"static armci_hdl_t h; {PUT}", None),
    (ARMCI, f"armci_hdl_t h; memset(&h, 0, sizeof h); {PUT} {PUT}", None),
    (ARMCI, f"armci_hdl_t h; ARMCI_INIT_HANDLE(&h); ARMCI_SET_AGGREGATE_HANDLE(&h); {PUT}", None),
    (ARMCI, f"armci_hdl_t h; if (me == 1) ARMCI_INIT_HANDLE(&h); {PUT}", None),
    (ARMCI, "armci_hdl_t h[2]; for (int i = 0; i < 2; i++) ARMCI_INIT_HANDLE(&h[i]); if (me == 1) for (int i = 0; i < 2;"
     " i++) { ARMCI_NbPut(&v, base[0], 4, 0, &h[i]); ARMCI_Wait(&h[i]); }", None),
    (GASPI, "gaspi_segment_create(1, 64, GASPI_GROUP_ALL, GASPI_BLOCK, 0);", None),
    (GASPI, "gaspi_segment_alloc(1, 64, 0); for (gaspi_rank_t r = 0; r < n; r++) gaspi_segment_register(1, r, GASPI_BLOCK);", None),
    (GASPI, "if (me == 1) { gaspi_segment_alloc(1, 64, 0); gaspi_segment_register(1, 0, GASPI_BLOCK); }", None),
    (GASPI, "gaspi_segment_alloc(1, 64, 0); gaspi_segment_register(1, me, GASPI_BLOCK);", gaspi.NOT_REGISTERED),
    (GASPI, "if (me == 0) gaspi_segment_alloc(1, 64, 0);", gaspi.NO_SEGMENT),
    (GASPI, f"{SECOND} gaspi_segment_create(2, 64, GASPI_GROUP_ALL, GASPI_BLOCK, 0); gaspi_segment_ptr(2, &p); gaspi_segment_delete(2); *(int *)p = 1;", gaspi.NO_SEGMENT),
    (GASPI, f"{SECOND} gaspi_segment_ptr(1, &p); *(int *)p = 1;", None),
    (GASNET, "gasnet_begin_nbi_accessregion(); gasnet_put_nbi(1 - me, s[1 - me].addr, &v, 4);"
     " h = gasnet_end_nbi_accessregion(); gasnet_wait_syncnbi_all(); gasnet_wait_syncnb(h);", None),
    (GASNET, "gasnet_begin_nbi_accessregion(); while (gasnet_try_syncnbi_puts() != GASNET_OK); "
     " gasnet_wait_syncnb(gasnet_end_nbi_accessregion());", gasnet.IMPLICIT_IN_REGION),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "body", "rule"), TRIED)
def test_programs_that_look_alike(frame: str, body: str, rule: Rule | None, tmp_path: Path) -> None:
    path = tmp_path / "small.c"
    path.write_text("// nodes: 2\n" + frame.replace("BODY", body))
    verdict = decided(path)
    assert {each.call.rule for each in verdict.illegal_calls} == ({rule} if rule else set())
    assert verdict.legal == ("no" if rule else "yes")
