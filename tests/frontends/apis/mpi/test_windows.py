# ruff: noqa: E501
"""MPI, `windows`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.lowering import processes
from tests.frontends.apis.mpi.calls import lowered

CALLS = {
    "MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_flush(1, w); MPI_Win_flush_local(1, w); MPI_Win_flush_all(w); MPI_Win_flush_local_all(w); MPI_Win_flush(0, w);": "barrier; write(a[0], 1, mem[1], 0); wait(0); wait_local(0); wait(0); wait_local(0);",
    "MPI_Win_fence(0, w); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_fence(0, w);": "barrier; barrier; write(a[0], 1, mem[1], 0); wait(0); barrier;",
    "int o = 1 - me; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, 1, &o, &g2); MPI_Win_post(g2, 0, w); MPI_Win_start(g2, 0, w); MPI_Put(a, 1, MPI_INT, o, 1, 1, MPI_INT, w); MPI_Win_complete(w); MPI_Win_wait(w);": "barrier; await_add(1, mem[win0_posted_0] >= 0, 1); await_add(0, mem[win0_posted_1] > 0, -1); write(a[0], 1, mem[1], 0); wait_local(0); notify(add, 1, 1, win0_completed_0, 0); await_add(0, mem[win0_completed_1] > 0, -1);",
    "int *p; MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w2); MPI_Win_lock_all(0, w2); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w2); MPI_Win_unlock_all(w2); MPI_Win_free(&w2);": "barrier; barrier; write(a[0], 1, p[1], 0); wait(0); barrier;",
    "int *base, *sz, ok; MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &ok); base[0] = ok; MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &sz, &ok); MPI_Put(a, 1, MPI_INT, 1, *sz - 4, 1, MPI_INT, w);": "barrier; mem[mem[0]] <- 1; write(a[0], 1, mem[0], 0);",
    "MPI_Fetch_and_op(&x, &y, MPI_INT, 0, 0, MPI_SUM, w); MPI_Win_flush(0, w); MPI_Put(a, 1, MPI_INT, y, 0, 1, MPI_INT, w); MPI_Win_flush_all(w);": "barrier; update_from_located(add, x, 0, mem[0], 0, y) as MPI_INT by sum; wait(0); t_2 <- mem[y]; choose { assume(t_2 == 0); write(a[0], 0, mem[0], 0); wait(0); } or { assume(t_2 == 1); write(a[0], 1, mem[0], 1); wait(0); wait(1); } or { assume(t_2 == -2); wait(0); } or { assume(t_2 != 0); assume(t_2 != 1); assume(t_2 != -2); outside <- fetch(t_2, 0); wait(0); }",
    "MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN); int e = MPI_Win_sync(w); if (e != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, e); char nm[MPI_MAX_PROCESSOR_NAME]; int ln; MPI_Get_processor_name(nm, &ln);": "barrier;",
}

ERRORS = {
    "int *p; if (me == 0) { MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w2); MPI_Put(a, 1, MPI_INT, 1, 0, 1, MPI_INT, w2); }": "MPI_Put needs the window of rank 1, which has not been made there",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)


FRAME = """#include <mpi.h>
int main(int argc, char **argv) { int me, one = 1, got = 0, *m, *k, pair[2] = {0, 1}; MPI_Win w, v; MPI_Comm c, d; MPI_Group g, h;
MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);
%s
return 0; }"""

WINDOW = "MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w); "

SECOND = "MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &k, &v); "

PAIR = "MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, 2, pair, &h); if (me < 2) MPI_Comm_create_group(MPI_COMM_WORLD, h, 0, &c); "

PENDING = "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, v); MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, v); "


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        # A window that only some ranks have made before it.
        (
            "MPI_Comm_split(MPI_COMM_WORLD, me == 2, me, &c); "
            "if (me != 2) MPI_Win_allocate(8, 4, MPI_INFO_NULL, c, &k, &v); " + WINDOW + "MPI_Win_lock_all(0, w); "
            "if (me == 0) MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, w); MPI_Barrier(MPI_COMM_WORLD); "
            "if (me == 2 && m[0]) m[1] = 1; MPI_Win_unlock_all(w);",
            "not robust",
        ),
        # Communicators that only some ranks have made before others: messages and colours find each other.
        (
            WINDOW + "MPI_Win_lock_all(0, w); " + PAIR + "MPI_Comm_dup(MPI_COMM_WORLD, &d); "
            "if (me == 0) { MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, w); MPI_Send(&one, 1, MPI_INT, 2, 0, d); } "
            "if (me == 2) { MPI_Recv(&got, 1, MPI_INT, 0, 0, d, MPI_STATUS_IGNORE); if (!m[0]) m[1] = 1; } "
            "MPI_Win_unlock_all(w);",
            "not robust",
        ),
        (PAIR + "MPI_Comm_split(MPI_COMM_WORLD, me == 1, me, &d); MPI_Comm_size(d, &got); MPI_Barrier(d); "
         "if (got != (me == 1 ? 1 : 2)) got = 1 / 0;", "robust"),
        # Two that share a lock are not ordered by it, though a third one takes it exclusively.
        (
            WINDOW + SECOND + "if (me == 0) { " + PENDING + "MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, w); "
            "MPI_Win_unlock(2, w); MPI_Win_unlock(1, v); } if (me == 1) { MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, w); "
            "MPI_Win_unlock(2, w); if (k[0]) k[1] = 1; } MPI_Barrier(MPI_COMM_WORLD); "
            "if (me == 2) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w); MPI_Win_unlock(2, w); }",
            "robust",
        ),
        # A test of an epoch that one of two origins has not ended answers 0.
        (
            WINDOW + "int t[2] = {1, 2}, done; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, me ? 1 : 2, me ? pair : t, &h); "
            "if (me == 0) { MPI_Win_post(h, 0, w); MPI_Win_test(w, &done); MPI_Send(&done, 1, MPI_INT, 2, 0, MPI_COMM_WORLD); "
            "if (!done) MPI_Win_wait(w); } else { if (me == 2) MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); "
            "MPI_Win_start(h, 0, w); MPI_Win_complete(w); }",
            "robust",
        ),
    ],
)  # fmt: skip
def test_three_ranks(body: str, verdict: str) -> None:
    found = pgasrob.check(parse_c(FRAME.replace("%s", body)), nodes=3)
    assert (found.verdict, found.deadlock, found.errors) == (verdict, False, ())


def test_a_fence_that_is_no_barrier_tells_only_those_who_wait_for_it() -> None:
    body = (
        "int n; MPI_Comm_size(MPI_COMM_WORLD, &n);" + WINDOW + "MPI_Win_fence(MPI_MODE_NOPRECEDE, w); "
        "MPI_Put(&one, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, w); MPI_Win_fence(0, w);"
    )
    lines = processes(FRAME % body, 9)
    for rank, before in ((0, 8), (4, 3)):
        assert [line for line in lines[rank] if line.startswith("await")] == [
            f"await_add({before}, mem[mpi_window_world_0_MPI_Win_fence_flag_0_0] == 0, 1);",
            "await(mem[mpi_window_world_0_MPI_Win_fence_flag_0_0] == 1);",
        ]
