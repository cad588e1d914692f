# ruff: noqa: E501
"""MPI, `locks`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from tests.frontends.apis.mpi.calls import lowered

CALLS = {
    "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_unlock(1, w);": "barrier; write(a[0], 1, mem[1], 0); wait(0);",
    "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_unlock(1, w);": "barrier; await_add(1, mem[win0_lock] == 0, -1); write(a[0], 1, mem[1], 0); wait(0); lock <- fetch_add(1, win0_lock, 1);",
    "if (me) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Win_unlock(1, w); } else { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w); MPI_Win_unlock(1, w); }": "barrier; await_add(1, mem[win0_lock_0] == 0, 1); lock <- fetch_add(1, win0_lock_0, -1);",
    "if (me) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Win_unlock(1, w); } else { MPI_Win_lock_all(0, w); MPI_Win_unlock_all(w); }": "barrier; await_add(0, mem[win0_lock_0] == 0, 1); await_add(1, mem[win0_lock_0] == 0, 1); lock <- fetch_add(0, win0_lock_0, -1); lock_2 <- fetch_add(1, win0_lock_0, -1);",
    "if (me) { MPI_Win_lock_all(0, w); MPI_Win_unlock_all(w); } MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w); MPI_Win_unlock(1, w); MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Win_unlock(1, w);": "barrier; await_add(1, mem[win0_lock_0] == 0, 1); lock <- fetch_add(1, win0_lock_0, -1); await_add(1, mem[win0_lock_0] == 0, -1); await_add(1, mem[win0_lock_1] == 0, -1); lock <- fetch_add(1, win0_lock_1, 1); lock_2 <- fetch_add(1, win0_lock_0, 1);",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected
