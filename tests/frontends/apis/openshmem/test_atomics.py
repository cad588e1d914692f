"""OpenSHMEM, `atomics`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from tests.frontends.apis.openshmem.calls import lowered

CALLS = {
    "y = shmem_int_atomic_fetch_add(&x, 2, 1);": "old <- fetch_add(1, x, 2); mem[y] <- old;",
    "y = shmem_atomic_fetch_add(&x, 2, 1);": "old <- fetch_add(1, x, 2); mem[y] <- old;",
    "l = shmem_long_atomic_compare_swap(&l, 0, 1, 1);": "old <- compare_swap(1, l, 0, 1) as long; mem[l] <- old;",
    "y = shmem_int_fadd(&x, 1, 1);": "old <- fetch_add(1, x, 1); mem[y] <- old;",
    "y = shmem_int_finc(&x, 1);": "old <- fetch_add(1, x, 1); mem[y] <- old;",
    "y = shmem_int_cswap(&x, 0, 1, 1);": "old <- compare_swap(1, x, 0, 1); mem[y] <- old;",
    "y = shmem_swap(&x, 4, 1);": "old <- swap(1, x, 4); mem[y] <- old;",
    "y = shmem_int_fetch(&x, 1);": "old <- fetch(1, x); mem[y] <- old;",
    "shmem_int_set(&x, 4, 1);": "update(set, 4, 1, x, 0);",
    "shmem_int_inc(&x, 1);": "update(add, 1, 1, x, 0);",
    "shmem_int_add(&x, 4, 1);": "update(add, 4, 1, x, 0);",
    "shmem_uint_atomic_or(&u, 4, 1);": "update(or, 4, 1, u, 0) as unsigned int;",
    "u = shmem_uint_atomic_fetch_xor(&u, 4, 1);": "old <- fetch_update(xor, 1, u, 4) as unsigned int; mem[u] <- old;",
    "shmem_atomic_fetch_nbi(&y, &x, 1);": "update_from(fetch, 1, x, 0, y);",
    "shmem_atomic_compare_swap_nbi(&y, &x, 1, 2, 1);": "update(compare_swap, 2, 1, 1, x, 0, y);",
    "shmem_int_atomic_swap_nbi(&y, &x, 3, 1);": "update(set, 3, 1, x, 0, y);",
    "shmem_int_atomic_fetch_inc_nbi(&y, &x, 1);": "update(add, 1, 1, x, 0, y);",
    "shmem_signal_set(&sig, 4, 1);": "update(set, 4, 1, sig, 0) as unsigned long by signal set;",
    "shmem_uint_atomic_fetch_and_nbi(&u, &u, 3, 1);": "update(and, 3, 1, u, 0, u) as unsigned int;",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected
