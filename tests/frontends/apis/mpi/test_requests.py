# ruff: noqa: E501
"""MPI, `requests`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from tests.frontends.apis.mpi.calls import lowered

CALLS = {
    "MPI_Rput(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w, &r); MPI_Wait(&r, &st);": "barrier; write(a[0], 1, mem[1], 0); wait_local(0);",
    "MPI_Rget(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w, &rs[0]); MPI_Raccumulate(b, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_MAX, w, &rs[1]); MPI_Waitall(2, rs, MPI_STATUSES_IGNORE);": "barrier; read(a[0], 1, mem[1], 0); update_from_located(max, b[0], 1, mem[1], 1) as MPI_INT by max; wait_local(0); wait_local(1);",
    "MPI_Rget(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w, &r); MPI_Test(&r, &flag, MPI_STATUS_IGNORE); if (flag) MPI_Barrier(MPI_COMM_WORLD);": "barrier; read(a[0], 1, mem[1], 0); choose { wait_local(0); barrier; } or { }",
    "if (me == 1) MPI_Isend(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &r); else MPI_Irecv(b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_5_1_0_message_0_0); await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, -1); mem[b[0]] <- message;",
    "MPI_Ibarrier(MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; await_add(1, mem[mpi_world_MPI_Ibarrier_flag_0_0] == 0, 1); await(mem[mpi_world_MPI_Ibarrier_flag_0_1] == 1);",
    "MPI_Waitany(0, rs, &x, &st); MPI_Win w3 = MPI_WIN_NULL; if (w3 == MPI_WIN_NULL) MPI_Win_fence(0, w);": "barrier; barrier;",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected
