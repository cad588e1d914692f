# ruff: noqa: E501
"""OpenSHMEM, `rma`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.openshmem.calls import lowered

CALLS = {
    "shmem_int_put(a, b, 2, 1);": "put(b[0], 1, a[0], 0); put(b[1], 1, a[1], 0);",
    "shmem_put(a, b, 2, 1);": "put(b[0], 1, a[0], 0); put(b[1], 1, a[1], 0);",
    "shmem_put(SHMEM_CTX_DEFAULT, la, lb, 1, 1);": "put(lb[0], 1, la[0], 0);",
    "shmem_putmem(a, b, 8, 1);": "put(b[0], 1, a[0], 0);",
    "shmem_put32(a, b, 2, 1);": "put(b[0], 1, a[0], 0);",
    "shmem_put64(la, lb, 2, 1);": "put(lb[0], 1, la[0], 0); put(lb[1], 1, la[1], 0);",
    "shmem_put128(la, lb, 1, 1);": "put(lb[0], 1, la[0], 0); put(lb[1], 1, la[1], 0);",
    "shmem_char_put(ca, cb, 3, 1);": "put(cb[0], 1, ca[0], 0); put(cb[1], 1, ca[1], 0); put(cb[2], 1, ca[2], 0);",
    "shmem_putmem(ca, cb, 8, 1);": "put(cb, 1, ca, 0);",
    "shmem_int_put_nbi(a, b, 1, 1);": "write(b[0], 1, a[0], 0);",
    "shmem_double_put(&d, &da[1], 1, 1);": "put(da[1], 1, d, 0);",
    "shmem_get(a, b, 2, 1);": "read(a[0], 1, b[0], 0); read(a[1], 1, b[1], 0); wait(0);",
    "shmem_getmem_nbi(a, b, 4, 1);": "read(a[0], 1, b[0], 0);",
    "shmem_int_p(&x, 5, 1);": "update(set, 5, 1, x, 0) as plain;",
    "shmem_p(&x, 5, 1);": "update(set, 5, 1, x, 0) as plain;",
    "shmem_double_p(&d, 1.5, 1);": "update(set, 4609434218613702656, 1, d, 0) as plain;",
    "shmem_char_p(ca, 'c', 1);": "update(set, 99, 1, ca[0], 0) as plain;",
    "x = shmem_int_g(&y, 1);": "result <- fetch(1, y) as plain; mem[x] <- result;",
    "x = shmem_g(&y, 1);": "result <- fetch(1, y) as plain; mem[x] <- result;",
    "d = shmem_double_g(&d, 1);": "result <- fetch(1, d) as plain; mem[d] <- result;",
    "shmem_int_iput(a, b, 2, 1, 2, 1);": "put(b[0], 1, a[0], 0); put(b[1], 1, a[2], 0);",
    "shmem_iget32(a, b, 1, 2, 2, 1);": "read(a[0], 1, b[0], 0); read(a[1], 1, b[2], 0); wait(0);",
    "shmem_iput64(la, lb, 1, 2, 2, 1);": "put(lb[0], 1, la[0], 0); put(lb[2], 1, la[1], 0);",
    "shmem_ibput(a, b, 4, 2, 2, 2, 1);": "put(b[0], 1, a[0], 0); put(b[1], 1, a[1], 0); put(b[2], 1, a[4], 0); put(b[3], 1, a[5], 0);",
    "shmem_int_put_signal(a, b, 1, &sig, 1, SHMEM_SIGNAL_ADD, 1);": "bundle; put(b[0], 1, a[0], 0); signal(add, 1, 1, sig, 0) as unsigned long by signal add;",
    "shmem_putmem_signal_nbi(a, b, 4, &sig, 1, SHMEM_SIGNAL_SET, 1);": "bundle; write(b[0], 1, a[0], 0); signal(set, 1, 1, sig, 0) as unsigned long by signal set;",
    "int *p = shmem_malloc(8); shmem_int_p(p + 1, 1, 1); shmem_free(p);": "wait(0); barrier; update(set, 1, 1, p[1], 0) as plain; wait(0); barrier;",
    "int *p = (int *)shmem_calloc(2, 4); shmem_int_p(p + me, 1, 1);": "wait(0); barrier; update(set, 1, 1, p[0], 0) as plain;",
    "int *p = (int *)shmem_align(64, 8); p[1] = 5; shmem_int_p(p + me, 1, 1);": "wait(0); barrier; mem[p[1]] <- 5; update(set, 1, 1, p[0], 0) as plain;",
    "shmem_ctx_t c, e; shmem_ctx_create(0, &c); shmem_ctx_create(0, &e); shmem_ctx_destroy(c); shmem_ctx_int_p(e, &x, 1, 1); shmem_finalize();": "wait(0); update(set, 1, 1, x, 1) as plain; wait(1); wait(2); barrier;",
    "shmem_ctx_t c; shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &c); shmem_ctx_long_get_nbi(c, la, lb, 1, 1); shmem_ctx_destroy(c);": "read(la[0], 1, lb[0], 0); wait(0);",
    "if (me == 0) x = shmem_int_g(&y, 1); shmem_int_p(&a[x], 1, 1);": "result <- fetch(1, y) as plain; mem[x] <- result; t <- mem[x]; update(set, 1, 1, t >= 0 && t < 8 ? a + t : -1, 0) as plain;",
}

ERRORS = {
    "shmem_ctx_t c; shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &c); shmem_ctx_int_p(c, &x, 1, 1);": "shmem_ctx_int_p on SHMEM_CTX_INVALID",
    "int k; shmem_int_p(&x, 1, k);": "argument 3 `k` of `shmem_int_p` has not been set",
    "int k; shmem_int_put(a, b, k, 1);": "argument 3 `k` of `shmem_int_put` has not been set",
    "int k; if (me) shmem_int_p(&x, k, 0);": "argument 2 `k` of `shmem_int_p` has not been set",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)
