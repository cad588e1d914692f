# ruff: noqa: E501
"""MPI, `locks`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.c.calls import MachineCall
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


@pytest.mark.parametrize("nodes", [4, 16])
def test_what_is_locked_altogether_is_one_thing(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that to lock all ranks takes no longer the more there are: nobody is asked by each of them for each other."""
    asked, noted = [], []

    def note(self: Steps, key: str, value: Hashable, note: Callable[..., None] = Steps.note) -> None:
        noted.append(len(value) if isinstance(value, tuple) else 0)
        note(self, key, value)

    def published(self: MachineCall, rank: int, key: str, known: Callable[..., Any] = MachineCall.published) -> Any:
        asked.append(key)
        return known(self, rank, key)

    monkeypatch.setattr(MachineCall, "published", published)
    monkeypatch.setattr(Steps, "note", note)
    put = "MPI_Put(a, 1, MPI_INT, (me + 1) % n, 1, 1, MPI_INT, w);"
    assert lowered(f"MPI_Win_lock_all(0, w); {put} MPI_Win_unlock_all(w);", nodes).count("wait") == 1
    assert all("part" in key for key in asked)  # of the windows that are put to
    assert max(noted) == 1
