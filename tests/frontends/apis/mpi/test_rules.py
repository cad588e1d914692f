# ruff: noqa: E501
"""MPI: calls that are not allowed where they stand, each with the call by which it is not, and their repaired twins."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.lower import parse_c
from pgasrob.program.illegal_calls import Rule
from pgasrob.robustness.verdict import Verdict

PRELUDE = """#include <mpi.h>
static int mem[4], a = 1, b;
int main(int argc, char **argv)
{
    int me, n, flag, other; MPI_Win w, w2; MPI_Request r; MPI_Group all, g;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n); other = 1 - me;
    MPI_Comm_group(MPI_COMM_WORLD, &all); MPI_Group_incl(all, 1, &other, &g);
    MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    DO MPI_Win_free(&w); MPI_Finalize(); return 0;
}
"""
PUT = "MPI_Put(&a, 1, MPI_INT, other, 0, 1, MPI_INT, w);"
RPUT = "MPI_Rput(&a, 1, MPI_INT, other, 0, 1, MPI_INT, w, &r);"
WAIT = "MPI_Wait(&r, MPI_STATUS_IGNORE);"
LOCK, UNLOCK = "MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w);", "MPI_Win_unlock(other, w);"
OWN, UNLOCK_OWN = "MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w);", "MPI_Win_unlock(me, w);"
ALL, UNLOCK_ALL = "MPI_Win_lock_all(0, w);", "MPI_Win_unlock_all(w);"
FLUSH, FENCE = "MPI_Win_flush(other, w);", "MPI_Win_fence(0, w);"
NOPRECEDE, NOSUCCEED = (f"MPI_Win_fence(MPI_MODE_{each}, w);" for each in ("NOPRECEDE", "NOSUCCEED"))
POST, START = "MPI_Win_post(g, 0, w);", "MPI_Win_start(g, 0, w);"
POST_NOCHECK, START_NOCHECK = (f"MPI_Win_{each}(g, MPI_MODE_NOCHECK, w);" for each in ("post", "start"))
COMPLETE, WAIT_FOR_ALL = "MPI_Win_complete(w);", "MPI_Win_wait(w);"
BARRIER = "MPI_Barrier(MPI_COMM_WORLD);"
FREE_AND_END = "MPI_Win_free(&w); MPI_Finalize(); return 0;"

ILLEGAL: list[tuple[str, Rule, str, str]] = [
    (PUT, rules.NO_EPOCH, "MPI_Put with rank 1 outside of an epoch", ""),
    (f"{LOCK} {UNLOCK} {PUT}", rules.NO_EPOCH, "MPI_Put with rank 1 outside of an epoch after MPI_Win_unlock", "MPI_Win_unlock"),
    (f"{OWN} {PUT} {UNLOCK_OWN}", rules.NO_EPOCH, "MPI_Put with rank 1, while rank 0 alone is locked", "MPI_Win_lock"),
    (f"{POST} {START} {PUT.replace('other', 'me')} {COMPLETE} {WAIT_FOR_ALL}", rules.NO_EPOCH, "MPI_Put with rank 0, which is not in the group of MPI_Win_start", "MPI_Win_start"),
    (f"{POST} {START} {COMPLETE} {PUT} {WAIT_FOR_ALL}", rules.NO_EPOCH, "MPI_Put with rank 1 outside of an epoch after MPI_Win_complete", "MPI_Win_complete"),
    (f"{FENCE} {LOCK} {UNLOCK} {PUT}", rules.NO_EPOCH, "MPI_Put with rank 1 outside of an epoch after MPI_Win_unlock", "MPI_Win_unlock"),
    (f"{LOCK} {LOCK} {UNLOCK}", rules.LOCK_TWICE, "MPI_Win_lock of rank 1, which is locked already", "MPI_Win_lock"),
    (f"{LOCK} {ALL} {UNLOCK}", rules.LOCK_TWICE, "MPI_Win_lock_all of a window that is locked already", "MPI_Win_lock"),
    (f"{ALL} {LOCK} {UNLOCK_ALL}", rules.LOCK_TWICE, "MPI_Win_lock of rank 1, which is locked already", "MPI_Win_lock_all"),
    (UNLOCK, rules.UNLOCK_UNLOCKED, "MPI_Win_unlock of rank 1, which is not locked", ""),
    (UNLOCK_ALL, rules.UNLOCK_UNLOCKED, "MPI_Win_unlock_all without MPI_Win_lock_all", ""),
    (f"{OWN} {UNLOCK} {UNLOCK_OWN}", rules.UNLOCK_UNLOCKED, "MPI_Win_unlock of rank 1, which is not locked", ""),
    (f"{LOCK} {UNLOCK_ALL}", rules.UNLOCK_UNLOCKED, "MPI_Win_unlock_all without MPI_Win_lock_all", ""),
    (f"{ALL} {UNLOCK} {UNLOCK_ALL}", rules.UNLOCK_UNLOCKED, "MPI_Win_unlock of rank 1 alone, after MPI_Win_lock_all", "MPI_Win_lock_all"),
    (f"{FENCE} {PUT} {LOCK} {UNLOCK} {FENCE}", rules.OVERLAP, "MPI_Win_lock in an epoch of MPI_Win_fence", "MPI_Put"),
    (f"{FENCE} {PUT} {ALL} {UNLOCK_ALL} {FENCE}", rules.OVERLAP, "MPI_Win_lock_all in an epoch of MPI_Win_fence", "MPI_Put"),
    (f"{FENCE} {PUT} {POST} {START} {COMPLETE} {WAIT_FOR_ALL} {FENCE}", rules.OVERLAP, "MPI_Win_start in an epoch of MPI_Win_fence", "MPI_Put"),
    (f"{LOCK} {FENCE} {UNLOCK}", rules.OVERLAP, "MPI_Win_fence in an epoch of MPI_Win_lock", "MPI_Win_lock"),
    (f"{POST} {START} {FENCE} {COMPLETE} {WAIT_FOR_ALL}", rules.OVERLAP, "MPI_Win_fence in an epoch of MPI_Win_start", "MPI_Win_start"),
    (f"{POST} {START} {LOCK} {UNLOCK} {COMPLETE} {WAIT_FOR_ALL}", rules.OVERLAP, "MPI_Win_lock in an epoch of MPI_Win_start", "MPI_Win_start"),
    (f"{POST} {LOCK} {START} {COMPLETE} {UNLOCK} {WAIT_FOR_ALL}", rules.OVERLAP, "MPI_Win_start between MPI_Win_lock and its unlock", "MPI_Win_lock"),
    (f"{POST} {OWN} {UNLOCK_OWN} {START} {COMPLETE} {WAIT_FOR_ALL}", rules.LOCKED_AND_EXPOSED, "MPI_Win_lock of the rank's own window while it is exposed", "MPI_Win_post"),
    (f"{OWN} {POST} {UNLOCK_OWN} {START} {COMPLETE} {WAIT_FOR_ALL}", rules.LOCKED_AND_EXPOSED, "MPI_Win_post while the rank's own window is locked", "MPI_Win_lock"),
    (FLUSH, rules.FLUSH_UNLOCKED, "MPI_Win_flush of rank 1 outside of a lock", ""),
    ("MPI_Win_flush_local_all(w);", rules.FLUSH_UNLOCKED, "MPI_Win_flush_local_all outside of a lock", ""),
    (f"{LOCK} {PUT} {UNLOCK} {FLUSH}", rules.FLUSH_UNLOCKED, "MPI_Win_flush of rank 1 outside of a lock after MPI_Win_unlock", "MPI_Win_unlock"),
    (f"{OWN} {FLUSH} {UNLOCK_OWN}", rules.FLUSH_UNLOCKED, "MPI_Win_flush of rank 1, which is not locked", "MPI_Win_lock"),
    (f"{FENCE} {PUT} {FLUSH} {FENCE}", rules.FLUSH_UNLOCKED, "MPI_Win_flush of rank 1 in an epoch of MPI_Win_fence", "MPI_Win_fence"),
    (f"{POST} {START} {PUT} {FLUSH} {COMPLETE} {WAIT_FOR_ALL}", rules.FLUSH_UNLOCKED, "MPI_Win_flush of rank 1 in an epoch of MPI_Win_start", "MPI_Win_start"),
    (f"{FENCE} {PUT} MPI_Win_sync(w); {FENCE}", rules.SYNC_UNLOCKED, "MPI_Win_sync in an epoch of MPI_Win_fence", "MPI_Win_fence"),
    (f"{LOCK} {UNLOCK} MPI_Win_sync(w);", rules.SYNC_UNLOCKED, "MPI_Win_sync outside of a lock after MPI_Win_unlock", "MPI_Win_unlock"),
    (f"{POST} {POST} {START} {START} {COMPLETE} {WAIT_FOR_ALL}", rules.START_TWICE, "MPI_Win_start in an epoch of MPI_Win_start", "MPI_Win_start"),
    (COMPLETE, rules.COMPLETE_UNSTARTED, "MPI_Win_complete without MPI_Win_start", ""),
    (f"{POST} {POST} {START} {COMPLETE} {WAIT_FOR_ALL}", rules.POST_TWICE, "MPI_Win_post in an epoch of MPI_Win_post", "MPI_Win_post"),
    (WAIT_FOR_ALL, rules.WAIT_UNPOSTED, "MPI_Win_wait without MPI_Win_post", ""),
    ("MPI_Win_test(w, &flag);", rules.WAIT_UNPOSTED, "MPI_Win_test without MPI_Win_post", ""),
    (f"{NOSUCCEED} {PUT} {FENCE}", rules.FALSE_ASSERTION, "MPI_Put with rank 1 after MPI_Win_fence with MPI_MODE_NOSUCCEED", "MPI_Win_fence"),
    (f"{FENCE} {PUT} {NOPRECEDE}", rules.FALSE_ASSERTION, "MPI_Win_fence with MPI_MODE_NOPRECEDE ends an epoch with communication", "MPI_Put"),
    (f"{POST_NOCHECK} {START_NOCHECK} {PUT} {COMPLETE} {WAIT_FOR_ALL}", rules.FALSE_ASSERTION, "MPI_Win_start with MPI_MODE_NOCHECK before rank 1 has posted its window", ""),
    (f"{POST} {BARRIER} {START_NOCHECK} {COMPLETE} {WAIT_FOR_ALL}", rules.FALSE_ASSERTION, "MPI_Win_start with MPI_MODE_NOCHECK, where MPI_Win_post of rank 1 has none", ""),
    (f"{POST_NOCHECK} {BARRIER} {START} {COMPLETE} {WAIT_FOR_ALL}", rules.FALSE_ASSERTION, "MPI_Win_start without MPI_MODE_NOCHECK, where MPI_Win_post of rank 1 has it", ""),
    ("MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, w); MPI_Win_unlock(0, w);", rules.FALSE_ASSERTION, "MPI_Win_lock of rank 0 with MPI_MODE_NOCHECK, which another rank has locked", ""),
    (f"{FENCE} {RPUT} {WAIT} {FENCE}", rules.REQUEST_OUTSIDE, "MPI_Rput with rank 1 in an epoch of MPI_Win_fence", "MPI_Win_fence"),
    (f"{POST} {START} {RPUT} {WAIT} {COMPLETE} {WAIT_FOR_ALL}", rules.REQUEST_OUTSIDE, "MPI_Rput with rank 1 in an epoch of MPI_Win_start", "MPI_Win_start"),
    (f"{RPUT} {WAIT}", rules.REQUEST_OUTSIDE, "MPI_Rput with rank 1 outside of an epoch", ""),
    (f"{LOCK} {RPUT} MPI_Request_free(&r); {UNLOCK}", rules.REQUEST_FREED, "MPI_Request_free of the request of a one-sided call", "MPI_Rput"),
    (f"{LOCK} {PUT}", rules.FREE_IN_EPOCH, "MPI_Win_free between MPI_Win_lock and its unlock", "MPI_Win_lock"),
    (f"{FENCE} {PUT}", rules.FREE_IN_EPOCH, "MPI_Win_free before a fence has completed the communication", "MPI_Put"),
    (f"{POST} {START}", rules.FREE_IN_EPOCH, "MPI_Win_free in an epoch of MPI_Win_start", "MPI_Win_start"),
    (f"{POST} {START} {COMPLETE}", rules.FREE_IN_EPOCH, "MPI_Win_free in an epoch of MPI_Win_post", "MPI_Win_post"),
    (f"w2 = w; MPI_Win_free(&w); {FENCE.replace('w)', 'w2)')} MPI_Finalize(); return 0;", rules.FREED, "MPI_Win_fence of a window that has been freed", "MPI_Win_free"),
    (f"MPI_Win_free(&w); {FENCE} MPI_Finalize(); return 0;", rules.FREED, "MPI_Win_fence of MPI_WIN_NULL, which MPI_Win_free leaves behind", "MPI_Win_free"),
    (f"MPI_Win_free(&w); {FREE_AND_END}", rules.FREED, "MPI_Win_free of MPI_WIN_NULL, which MPI_Win_free leaves behind", ""),
    (f"{LOCK} {RPUT} {UNLOCK}", rules.OPEN_AT_END, "MPI_Finalize before the request of MPI_Rput is waited for", "MPI_Rput"),
    (f"{LOCK} {PUT} MPI_Finalize(); return 0;", rules.OPEN_AT_END, "MPI_Finalize between MPI_Win_lock and its unlock", "MPI_Win_lock"),
    (f"{FENCE} {PUT} MPI_Finalize(); return 0;", rules.OPEN_AT_END, "MPI_Finalize before a fence has completed the communication", "MPI_Put"),
    (f"MPI_Win_free(&w); MPI_Finalize(); {BARRIER} return 0;", rules.NOT_RUNNING, "MPI_Barrier after MPI_Finalize", "MPI_Finalize"),
    (f"{FENCE} MPI_Accumulate(&a, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_NO_OP, w); {FENCE}", rules.OPERATION, "MPI_Accumulate with MPI_NO_OP", ""),
    ("static double d[2]; MPI_Allreduce(d, d + 1, 1, MPI_DOUBLE, MPI_REPLACE, MPI_COMM_WORLD);", rules.OPERATION, "MPI_Allreduce with MPI_REPLACE", ""),
    (f"static double d; {FENCE} MPI_Accumulate(&d, 1, MPI_DOUBLE, other, 0, 1, MPI_DOUBLE, MPI_BAND, w); {FENCE}", rules.OPERATION, "MPI_Accumulate with the bitwise MPI_BAND on floating-point numbers", ""),
    ("MPI_Barrier(MPI_COMM_NULL);", rules.NULL_HANDLE, "argument 1 of MPI_Barrier is MPI_COMM_NULL", ""),
    ("MPI_Datatype t = MPI_INT; MPI_Type_free(&t); MPI_Bcast(mem, 1, t, 0, MPI_COMM_WORLD);", rules.NULL_HANDLE, "argument 3 of MPI_Bcast is MPI_DATATYPE_NULL", ""),
    ("MPI_Request q; int b = 0; MPI_Ibcast(&b, 1, MPI_INT, 0, MPI_COMM_SELF, &q); b = 1; MPI_Wait(&q, MPI_STATUS_IGNORE);", rules.BUFFER_IN_USE, "a store to `b`, from which MPI_Ibcast sends until its request is complete", "MPI_Ibcast"),
    ("MPI_Request q; MPI_Ibarrier(MPI_COMM_WORLD, &q); MPI_Request_free(&q);", rules.COLLECTIVE_FREED, "MPI_Request_free of the request of a nonblocking collective", "MPI_Ibarrier"),
    ("int *base; MPI_Alloc_mem(4, MPI_INFO_NULL, &base); MPI_Free_mem(base); *base = 1;", rules.MEMORY_FREED, "an access to `heap0`, which has been freed", "MPI_Free_mem"),
    ("int *base; MPI_Alloc_mem(4, MPI_INFO_NULL, &base); MPI_Free_mem(base); MPI_Free_mem(base);", rules.MEMORY_FREED, "MPI_Free_mem of memory that has been freed", "MPI_Free_mem"),
    ("MPI_Ibarrier(MPI_COMM_WORLD, &r);", rules.OPEN_AT_END, "MPI_Finalize before the request of MPI_Ibarrier is waited for", "MPI_Ibarrier"),
    ("MPI_Isend(&a, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &r);", rules.OPEN_AT_END, "MPI_Finalize before the request of MPI_Isend is waited for", "MPI_Isend"),
    ("MPI_Init(&argc, &argv);", rules.NOT_RUNNING, "MPI_Init after MPI_Init", "MPI_Init"),
]  # fmt: skip
LEGAL = [
    f"{LOCK} {PUT} {UNLOCK}",
    f"{LOCK} {OWN} {PUT} {FLUSH} MPI_Win_flush_all(w); {UNLOCK_OWN} {UNLOCK}",  # locks of several targets
    f"{ALL} {PUT} {FLUSH} {RPUT} {WAIT} {UNLOCK_ALL} {ALL} {UNLOCK_ALL}",
    f"{LOCK} {RPUT} {UNLOCK} {WAIT}",
    f"{FENCE} {PUT} {FENCE} {FENCE} {PUT} {NOSUCCEED}",
    f"{NOPRECEDE} {PUT} {NOSUCCEED}",
    f"{FENCE} {LOCK} {PUT} {UNLOCK} {FENCE}",  # fences without communication between them begin no epoch (12.5.1)
    f"{FENCE} {PUT} {FENCE} {LOCK} {PUT} {UNLOCK} {NOPRECEDE} {PUT} {FENCE} {POST} {START} {PUT} {COMPLETE} {WAIT_FOR_ALL}",
    f"{LOCK} {PUT} MPI_Win_sync(w); {BARRIER} MPI_Win_sync(w); {UNLOCK} {ALL} MPI_Win_sync(w); {UNLOCK_ALL}",
    f"{POST} {START} {PUT} {COMPLETE} {WAIT_FOR_ALL} {POST} {START} {COMPLETE} while (!flag) MPI_Win_test(w, &flag);",
    f"{POST_NOCHECK} {BARRIER} {START_NOCHECK} {PUT} {COMPLETE} {WAIT_FOR_ALL}",
    "if (me) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, w); MPI_Win_unlock(0, w); }",
    f"MPI_Win_create(mem, 8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w2); {FENCE} {PUT} MPI_Win_fence(0, w2); {LOCK.replace('w)', 'w2)')} {FENCE} {UNLOCK.replace('w)', 'w2)')} MPI_Win_free(&w2);",
    "MPI_Isend(&a, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &r); MPI_Recv(&b, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Request_free(&r);",
    "MPI_Ibarrier(MPI_COMM_WORLD, &r); do MPI_Test(&r, &flag, MPI_STATUS_IGNORE); while (!flag);",
    "MPI_Request q[24]; int d[12]; for (int i = 0; i < 12; i++) { MPI_Irecv(&d[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &q[2 * i]); MPI_Isend(&a, 1, MPI_INT, other, i, MPI_COMM_WORLD, &q[2 * i + 1]); } MPI_Waitall(24, q, MPI_STATUSES_IGNORE);",
    f"{FENCE} MPI_Fetch_and_op(&a, &b, MPI_INT, other, 0, MPI_NO_OP, w); {FENCE}",
    "MPI_Win_free(&w); mem[0] = 1; MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);",
    "MPI_Put(&a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);",
]


def of(text: str, nodes: int = 2) -> Verdict:
    return check(parse_c(PRELUDE.replace("DO", text)), nodes=nodes)


@pytest.mark.parametrize(("text", "rule", "sentence", "opened"), ILLEGAL)
def test_illegal(text: str, rule: Rule, sentence: str, opened: str) -> None:
    verdict = of(text)
    assert verdict.legal == "no" and verdict.verdict != "error"
    broken = {each.call.rule: each.call for each in verdict.illegal_calls}
    assert rule in broken, verdict.illegal_calls
    calls = [each.call for each in verdict.illegal_calls if each.call.rule is rule]
    assert sentence.replace("rank 1", "rank 0") in [call.sentence.replace("rank 1", "rank 0") for call in calls]
    assert opened in {call.opened.name if call.opened else "" for call in calls}


def test_mpi_init_behind_a_call_that_was_too_early_is_no_second_finding() -> None:
    early = PRELUDE.replace("MPI_Init(&argc, &argv);", "MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Init(&argc, &argv);")
    sentences = {each.call.sentence for each in check(parse_c(early.replace("DO", BARRIER)), nodes=2).illegal_calls}
    assert [text for text in sentences if "Init" in text] == [*sentences] and len(sentences) == 1, sentences


def test_every_rule_is_tested() -> None:
    of_several_ranks = rules.WINDOW_SYNC  # tests/races/mpi/test_shared_windows.py
    broken = {rule for _, rule, *_ in ILLEGAL}
    assert {each for each in vars(rules).values() if isinstance(each, Rule)} == {*broken, of_several_ranks}


@pytest.mark.parametrize("text", LEGAL)
def test_legal(text: str) -> None:
    verdict = of(text)
    assert (verdict.legal, verdict.illegal_calls) == ("yes", ())


def test_one_mistake_is_one_finding() -> None:
    several = {f"{POST} {POST} {START} {START} {COMPLETE} {WAIT_FOR_ALL}"}
    found = {text: len(of(text).illegal_calls) for text, *_ in ILLEGAL if text not in several and "NOCHECK" not in text}
    assert {text: count for text, count in found.items() if count != 1} == {}


def test_without_init_the_first_call_is_a_finding_and_no_other() -> None:
    text = (
        "#include <mpi.h>\nint main(void) { int me; MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Barrier(MPI_COMM_WORLD); }"
    )
    (found,) = check(parse_c(text), nodes=2).illegal_calls
    assert found.call.sentence == "MPI_Comm_rank before MPI_Init"


def test_what_may_be_called_at_any_time() -> None:
    text = "#include <mpi.h>\nint main(void) { int f; MPI_Initialized(&f); MPI_Init(0, 0); MPI_Finalize(); MPI_Finalized(&f); }"
    assert check(parse_c(text), nodes=2).legal == "yes"


APIS = [
    ("mpi.h", "int f; MPI_Initialized(&f); if (!f) MPI_Init(0, 0); MPI_Finalized(&f); if (!f) MPI_Finalize();"),
    ("shmem.h", "int f; shmem_query_initialized(&f); if (!f) shmem_init(); shmem_finalize();"),
    (
        "GASPI.h",
        "gaspi_number_t f; gaspi_initialized(&f); if (!f) gaspi_proc_init(GASPI_BLOCK); gaspi_barrier(0, GASPI_BLOCK);",
    ),
    ("armci.h", "if (!ARMCI_Initialized()) ARMCI_Init(); ARMCI_Barrier(); ARMCI_Finalize();"),
]


@pytest.mark.parametrize(("header", "text"), APIS)
def test_a_query_tells_whether_the_library_is_initialised(header: str, text: str) -> None:
    assert check(parse_c(f"#include <{header}>\nint main(void) {{ {text} return 0; }}"), nodes=2).legal == "yes"
