"""Collective calls that do not match are a deadlock, and those that end the job are none."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.render.barriers_waited_at import mismatch
from pgasrob.render.verdict_json import to_json
from pgasrob.render.words import standing
from pgasrob.robustness.verdict import Verdict

MPI = """#include <mpi.h>
int main(int argc, char **argv) {{
    int me, x = 0, y = 0, v[2] = {{0, 0}};
    MPI_Win a, b;
    MPI_Comm dup, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    {}
}}
"""
WINDOWS = """MPI_Win_create(&x, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &a);
MPI_Win_create(&y, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &b);"""
SHMEM = """#include <shmem.h>
static int x, y;
static long sync[SHMEM_SYNC_SIZE];
int main(void) {{
    shmem_init();
    int me = shmem_my_pe();
    {}
}}
"""
GASPI = """#include <GASPI.h>
int main(void) {{
    gaspi_rank_t me;
    int x = 1, y;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    {}
}}
"""
ARMCI = """#include <armci.h>
int main(void) {{
    ARMCI_Init();
    int me = armci_msg_me();
    {}
}}
"""
WORLD = "MPI_COMM_WORLD"
BARRIER = f"MPI_Barrier({WORLD});"


def checked(frame: str, body: str, nodes: int = 2) -> Verdict:
    verdict = pgasrob.check(parse_c(frame.format(body)), nodes=nodes)  # type: ignore[arg-type]
    assert verdict.errors == ()
    return verdict


def crossed(first: str, second: str) -> str:
    return f"if (me == 0) {{ {first} {second} }} else {{ {second} {first} }}"


def bcast(root: int | str, count: int | str = 1, comm: str = WORLD) -> str:
    return f"MPI_Bcast(v, {count}, MPI_INT, {root}, {comm});"


def reduce(operation: str = "MPI_SUM") -> str:
    return f"MPI_Reduce(&x, &y, 1, MPI_INT, {operation}, 0, {WORLD});"


def several(calls: str) -> str:
    """By two of three ranks."""
    return f"MPI_Comm_split({WORLD}, me < 2, 0, &part); if (me < 2) {{ {calls} }}"


PSYNC = "0, 0, 2, sync"
ROOT = "shmem_int_broadcast(SHMEM_TEAM_WORLD, &x, &y, 1, {});"


@pytest.mark.parametrize(
    ("frame", "body", "nodes"),
    [
        (MPI, WINDOWS + crossed("MPI_Win_fence(0, a);", BARRIER), 2),
        (MPI, WINDOWS + crossed("MPI_Win_fence(0, a);", "MPI_Win_fence(0, b);"), 2),
        (MPI, WINDOWS + crossed("MPI_Win_free(&a);", "MPI_Win_fence(0, b);"), 2),
        (MPI, f"MPI_Comm_dup({WORLD}, &dup);" + crossed("MPI_Barrier(dup);", BARRIER), 2),
        (MPI, crossed(bcast(0), BARRIER), 2),
        (MPI, crossed(bcast(0), bcast(1)), 2),
        (MPI, crossed(bcast(0), reduce()), 2),
        (MPI, bcast("me") + BARRIER, 2),
        (MPI, bcast(0, "1 + me"), 2),
        (MPI, f"if (me == 0) {bcast(0)} {BARRIER}", 2),
        (MPI, f"if (me == 0) MPI_Comm_dup({WORLD}, &dup); {BARRIER}", 2),
        (MPI, f"if (me == 0) {reduce()} else {reduce('MPI_MAX')}", 2),
        (MPI, f"MPI_Allreduce(&x, v, 1, MPI_INT, me ? MPI_SUM : MPI_MAX, {WORLD});", 2),
        (MPI, f"if (me) MPI_Allgather(&x, 1, MPI_INT, v, 1, MPI_INT, {WORLD}); else {BARRIER}", 2),
        (MPI, several(crossed("MPI_Barrier(part);", "MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, part);")), 3),
        (MPI, several(crossed("MPI_Barrier(part);", bcast(0, 1, "part"))), 3),
        (SHMEM, crossed("shmem_barrier_all();", "shmem_sync_all();"), 2),
        (SHMEM, "int *p = me ? shmem_malloc(4) : 0; if (me == 0) shmem_barrier_all();", 2),
        (SHMEM, crossed(ROOT.format(0), "shmem_barrier_all();"), 2),
        (SHMEM, crossed(ROOT.format(0), ROOT.format(1)), 2),
        (SHMEM, "shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &x, &y, me ? 1 : 0);", 2),
        (SHMEM, f"if (me < 2) {{ {crossed(f'shmem_barrier({PSYNC});', f'shmem_sync({PSYNC});')} }}", 3),
        (SHMEM, "shmem_team_t team; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, 0, 0, &team);"
         + crossed("shmem_team_sync(team);", "shmem_team_sync(SHMEM_TEAM_WORLD);"), 2),
        (SHMEM, "shmem_team_t team; if (me) shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, 0, 0, &team);"
                "shmem_barrier_all();", 2),
        (SHMEM, "shmem_team_t row, column; if (me) shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, 0, 0, &row, 0, 0, &column);"
                "shmem_barrier_all();", 2),
        (GASPI, crossed("gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);",
                        "gaspi_segment_create(0, 8, GASPI_GROUP_ALL, GASPI_BLOCK, 0);"), 2),
        (GASPI, "if (me) gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK); else while (gaspi_allreduce(&x, &y, 1,"
                "GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, 100) == GASPI_TIMEOUT);", 2),
        (ARMCI, crossed("ARMCI_Barrier();", "armci_msg_barrier();"), 2),
    ],
)  # fmt: skip
def test_what_does_not_match_is_a_deadlock(frame: str, body: str, nodes: int) -> None:
    assert checked(frame, body, nodes).deadlock is True


@pytest.mark.parametrize(
    ("frame", "body", "nodes"),
    [
        (MPI, f"for (int i = 0; i < 5; i++) {{ {bcast('i % 2')} {reduce()} {bcast(0)} if (i % 2) {BARRIER} }}", 2),
        (MPI, WINDOWS + "MPI_Win_fence(0, a); MPI_Win_fence(0, b); MPI_Win_free(&a); MPI_Win_free(&b);", 2),
        (
            MPI,
            several(
                f"MPI_Barrier(part); {bcast(0, 2, 'part')} MPI_Barrier(part); MPI_Barrier(part); MPI_Barrier(part);"
            ),
            3,
        ),
        (SHMEM, "if (me) shmem_sync_all(); else shmem_team_sync(SHMEM_TEAM_WORLD);", 2),
        (SHMEM, f"for (int i = 0; i < 6; i++) {{ {ROOT.format('i % 2')} }} shmem_barrier_all();", 2),
        (GASPI, "while (gaspi_barrier(GASPI_GROUP_ALL, 100) == GASPI_TIMEOUT);", 2),
    ],
)
def test_what_matches_is_none(frame: str, body: str, nodes: int) -> None:
    assert checked(frame, body, nodes).deadlock is False


def test_it_is_said_which_calls_do_not_match() -> None:
    body = f"if (me == 0) {{\n{bcast(0)}\n{BARRIER} }} else {{\n{BARRIER} }}"
    run = to_json(checked(MPI, body))["deadlock_run"]
    assert run is not None and mismatch(run)
    assert [standing(rank, run["standing"]) for rank in run["standing"]] == [
        "stands before MPI_Barrier(MPI_COMM_WORLD) (line 10; it does not match line 11 of rank 1: "
        "`MPI_Barrier, 1 after MPI_Bcast of 1 from 0` is not `MPI_Barrier`)",
        "stands before MPI_Barrier(MPI_COMM_WORLD) (line 11; it does not match line 10 of rank 0: "
        "`MPI_Barrier` is not `MPI_Barrier, 1 after MPI_Bcast of 1 from 0`)",
    ]


NAMED = """#include <assert.h>
#include <gasnet.h>
int main(int argc, char **argv) {{
    gasnet_init(&argc, &argv);
    int me = gasnet_mynode();
    {}
}}
"""


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("gasnet_barrier_notify(me, 0); int r = gasnet_barrier_wait(me, 0);", "GASNET_ERR_BARRIER_MISMATCH"),
        ("gasnet_barrier_notify(7, me); int r = gasnet_barrier_wait(7, me);", "GASNET_OK"),
        ("gasnet_barrier_notify(7, 2 * me); int r = gasnet_barrier_wait(7, 2 * me);", "GASNET_ERR_BARRIER_MISMATCH"),
        ("gasnet_barrier_notify(me, 1); int r = gasnet_barrier_wait(me, 1);", "GASNET_OK"),
        ("gasnet_barrier_notify(1, 0); int r = gasnet_barrier_wait(2, 0);", "GASNET_ERR_BARRIER_MISMATCH"),
        ("int r = 0; for (int i = 0; i < 3; i++) r |= gasnet_barrier(i, 0);", "GASNET_OK"),
        ("gasnet_barrier(me, 0); int r = gasnet_barrier(3, 0);", "GASNET_OK"),
    ],
)
def test_named_barriers_of_gasnet_tell_a_mismatch(body: str, result: str) -> None:
    """Nobody waits for ever: it is an error code."""
    verdict = checked(NAMED, f"{body} assert(r == {result});")
    assert (verdict.assertions in ("hold", None), verdict.deadlock) == (True, False)


@pytest.mark.parametrize(
    ("frame", "call", "deadlock"),
    [
        (MPI, "MPI_Abort(MPI_COMM_WORLD, 1);", False),
        (MPI, "abort();", False),
        (MPI, "exit(1);", True),
        (SHMEM, "shmem_global_exit(1);", False),
        (ARMCI, 'ARMCI_Error("", 1);', False),
        (GASPI, "gaspi_proc_kill(0, GASPI_BLOCK);", True),
        (GASPI, "gaspi_proc_kill(1, GASPI_BLOCK); gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);", False),
    ],
)
def test_nobody_waits_for_ever_for_a_rank_that_has_ended_the_job(frame: str, call: str, deadlock: bool) -> None:
    meet = {MPI: BARRIER, SHMEM: "shmem_barrier_all();", ARMCI: "ARMCI_Barrier();"}
    last = meet.get(frame, "gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);")
    verdict = checked(frame.replace("#include", "#include <stdlib.h>\n#include", 1),
                      f"if (me == 0) {{ {call} }} else {last}")  # fmt: skip
    assert (verdict.verdict, verdict.deadlock) == ("robust", deadlock)


def test_what_comes_before_the_end_of_the_job_is_looked_at() -> None:
    body = "if (me == 0) { shmem_int_put_nbi(&x, &y, 1, 1); y = 1; shmem_global_exit(0); } else if (x) y = 2;"
    assert checked(SHMEM, body).verdict == "not robust"
