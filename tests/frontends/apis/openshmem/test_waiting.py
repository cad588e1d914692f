# ruff: noqa: E501
"""OpenSHMEM, `waiting`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from tests.frontends.apis.openshmem.calls import lowered

CALLS = {
    "l = shmem_signal_fetch(&sig);": "signal <- mem[sig] as unsigned long by signal; mem[l] <- cast64(signal);",
    "l = shmem_signal_wait_until(&sig, SHMEM_CMP_GT, 3);": "await(mem[sig] > 3) as unsigned long; signal <- mem[sig] as unsigned long; assume(signal > 3); mem[l] <- cast64(signal);",
    "shmem_int_wait_until(&x, SHMEM_CMP_GE, 4);": "await(mem[x] >= 4);",
    "shmem_wait_until(&x, SHMEM_CMP_GE, 4);": "await(mem[x] >= 4);",
    "shmem_wait(&l, 0);": "await(mem[l] != 0) as long;",
    "shmem_long_wait(&l, 0);": "await(mem[l] != 0) as long;",
    "if (shmem_int_test(&x, SHMEM_CMP_EQ, 1)) shmem_quiet();": "seen <- mem[x] as int; if (seen == 1) { wait(0); }",
    "shmem_int_wait_until_all(a, 2, NULL, SHMEM_CMP_EQ, 1);": "await(mem[a[0]] == 1); await(mem[a[1]] == 1);",
    "y = shmem_int_wait_until_any(a, 2, NULL, SHMEM_CMP_EQ, 1);": "choose { await(mem[a[0]] == 1); } or { await(mem[a[1]] == 1); }",
    "size_t i[4]; y = shmem_int_wait_until_some(a, 2, i, NULL, SHMEM_CMP_EQ, 1);": "choose { await(mem[a[0]] == 1); seen <- mem[a[1]] as polling int; } or { await(mem[a[1]] == 1); }",
    "int cmp[2] = {4, 5}; shmem_int_wait_until_all_vector(a, 2, NULL, SHMEM_CMP_EQ, cmp);": "await(mem[a[0]] == 4); await(mem[a[1]] == 5);",
    "y = shmem_int_test_all(a, 2, NULL, SHMEM_CMP_EQ, 1);": "s1: choose { seen <- mem[a[0]] as int; if (seen == 1) { seen <- mem[a[1]] as int; if (seen != 1) { goto s1; } } } or { seen <- mem[a[1]] as int; if (seen == 1) { goto s1; } }",
    "y = shmem_int_test_any(a, 2, NULL, SHMEM_CMP_EQ, 1);": "s1: choose { seen <- mem[a[0]] as int; if (seen != 1) { seen <- mem[a[1]] as int; if (seen == 1) { goto s1; } } } or { await(mem[a[1]] == 1); goto end; } end: skip;",
    "size_t i[4]; y = shmem_int_test_some(a, 2, i, NULL, SHMEM_CMP_EQ, 1);": "seen <- mem[a[0]] as int; seen <- mem[a[1]] as int;",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected
