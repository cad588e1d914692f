# ruff: noqa: E501
"""OpenSHMEM, `ordering`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.openshmem.calls import lowered

CALLS = {
    "shmem_fence();": "fence(0);",
    "shmem_ctx_fence(SHMEM_CTX_DEFAULT);": "fence(0);",
    "shmem_quiet();": "wait(0);",
    "shmem_barrier_all();": "wait(0); barrier;",
    "shmem_sync_all();": "barrier;",
    "shmem_sync(SHMEM_TEAM_WORLD);": "barrier;",
    "shmem_team_sync(SHMEM_TEAM_WORLD);": "barrier;",
    "static long ps[3]; shmem_barrier(0, 0, n, ps);": "wait(0); barrier;",
    "shmem_set_lock(&lock);": "await_add(0, mem[lock] == 0, 1) as lock;",
    "y = shmem_test_lock(&lock);": "s1: choose { await_add(0, mem[lock] == 0, 1) as lock; } or { lock <- fetch(0, lock) as lock; if (lock == 0) { goto s1; } }",
    "shmem_set_lock(&lock); shmem_clear_lock(&lock);": "await_add(0, mem[lock] == 0, 1) as lock; wait(0); held <- swap(0, lock, 0) as lock;",
    "if (shmem_ptr(&x, 1) == NULL) shmem_quiet();": "wait(0);",
    "if (shmem_pe_accessible(1) && shmem_addr_accessible(&x, 1)) shmem_quiet();": "wait(0);",
    "shmem_ctx_t c; shmem_ctx_create(0, &c); shmem_ctx_int_p(c, &x, 1, 1); shmem_p(c, &x, 2, 1); shmem_fence(); shmem_ctx_fence(c); shmem_ctx_quiet(c); shmem_ctx_destroy(c);": "update(set, 1, 1, x, 0) as plain; update(set, 2, 1, x, 0) as plain; fence(1); fence(0); wait(0); wait(0);",
    "shmem_team_t t; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &t); if (t != SHMEM_TEAM_INVALID) shmem_team_sync(t); x = shmem_team_my_pe(t); y = shmem_team_n_pes(SHMEM_TEAM_WORLD);": "",
}

ON_THREE = {
    "static long ps[9]; if (me != 1) { shmem_barrier(0, 1, 2, ps); shmem_barrier(0, 1, 2, ps); shmem_barrier(0, 1, 2, ps); }": "wait(0); await_add(0, mem[shmem_0_2_shmem_barrier_0] < 2, 1); await_add(0, mem[shmem_0_2_shmem_barrier_0] == 2, 0); wait(0); await_add(0, mem[shmem_0_2_shmem_barrier_1] < 2, 1); await_add(0, mem[shmem_0_2_shmem_barrier_1] == 2, 0); wait(0); await_add(0, mem[shmem_0_2_shmem_barrier_0] > 0, -1); await_add(0, mem[shmem_0_2_shmem_barrier_0] == 0, 0);",
    "shmem_team_t t, s; shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &t, NULL, 0, &s); shmem_team_sync(t); x = shmem_team_translate_pe(s, 1, SHMEM_TEAM_WORLD);": "await_add(0, mem[shmem_0_1_shmem_team_sync_0] < 2, 1); await_add(0, mem[shmem_0_1_shmem_team_sync_0] == 2, 0);",
}

ERRORS = {
    "static long ps[3]; shmem_sync(0, 0, 1, ps);": "PE 1 calls shmem_sync and is not of the set 0",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ON_THREE.items())
def test_call_on_three_nodes(call: str, expected: str) -> None:
    assert lowered(call, 3) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)
