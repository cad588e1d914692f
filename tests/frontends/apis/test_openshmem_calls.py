# ruff: noqa: E501
"""What every call of OpenSHMEM lowers to on rank 0: pinned, and read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.lowering import processes

PRELUDE = """#include <shmem.h>
#include <stdint.h>
#include <stddef.h>
static int x, y, a[8], b[8];
static long l, la[8], lb[8], lock;
static double d, da[4];
static uint64_t sig;
static unsigned int u;
static short sh;
static char ca[8], cb[8];
int main(void) { shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes(); long v = 3; (void)me; (void)n; (void)v;
%s
return 0; }"""
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
    "shmem_uint_atomic_fetch_and_nbi(&u, &u, 3, 1);": "update(and, 3, 1, u, 0, u) as unsigned int;",
    "shmem_int_put_signal(a, b, 1, &sig, 1, SHMEM_SIGNAL_ADD, 1);": "bundle; put(b[0], 1, a[0], 0); signal(add, 1, 1, sig, 0) as unsigned long by signal add;",
    "shmem_putmem_signal_nbi(a, b, 4, &sig, 1, SHMEM_SIGNAL_SET, 1);": "bundle; write(b[0], 1, a[0], 0); signal(set, 1, 1, sig, 0) as unsigned long by signal set;",
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
    "shmem_clear_lock(&lock);": "wait(0); held <- swap(0, lock, 0) as lock;",
    "int *p = shmem_malloc(8); shmem_int_p(p + 1, 1, 1); shmem_free(p);": "wait(0); barrier; update(set, 1, 1, p[1], 0) as plain; wait(0); barrier;",
    "int *p = (int *)shmem_calloc(2, 4); shmem_int_p(p + me, 1, 1);": "wait(0); barrier; update(set, 1, 1, p[0], 0) as plain;",
    "int *p = (int *)shmem_align(64, 8); p[1] = 5; shmem_int_p(p + me, 1, 1);": "wait(0); barrier; mem[p[1]] <- 5; update(set, 1, 1, p[0], 0) as plain;",
    "if (shmem_ptr(&x, 1) == NULL) shmem_quiet();": "wait(0);",
    "if (shmem_pe_accessible(1) && shmem_addr_accessible(&x, 1)) shmem_quiet();": "wait(0);",
    "int major, minor; shmem_info_get_version(&major, &minor); char nm[SHMEM_MAX_NAME_LEN]; shmem_info_get_name(nm);": "",
    "shmem_global_exit(0);": "exit;",
    "shmem_finalize();": "wait(0); barrier;",
    "shmem_ctx_t c, e; shmem_ctx_create(0, &c); shmem_ctx_create(0, &e); shmem_ctx_destroy(c); shmem_ctx_int_p(e, &x, 1, 1); shmem_finalize();": "wait(0); update(set, 1, 1, x, 1) as plain; wait(1); wait(2); barrier;",
    "shmem_ctx_t c; shmem_ctx_create(0, &c); shmem_ctx_int_p(c, &x, 1, 1); shmem_p(c, &x, 2, 1); shmem_fence(); shmem_ctx_fence(c); shmem_ctx_quiet(c); shmem_ctx_destroy(c);": "update(set, 1, 1, x, 0) as plain; update(set, 2, 1, x, 0) as plain; fence(1); fence(0); wait(0); wait(0);",
    "shmem_ctx_t c; shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &c); shmem_ctx_long_get_nbi(c, la, lb, 1, 1); shmem_ctx_destroy(c);": "read(la[0], 1, lb[0], 0); wait(0);",
    "static long ps[9]; shmem_broadcast64(la, lb, 2, 0, 0, 0, n, ps);": "fence(0); bundle; put(lb[0], 1, la[0], 0); put(lb[1], 1, la[1], 0); signal(add, 1, 1, shmem_broadcast, 0);",
    "static long ps[9]; shmem_broadcast64(la, lb, 1, 1, 0, 0, n, ps);": "await_add(0, mem[shmem_broadcast] > 0, -1);",
    "shmem_int_broadcast(SHMEM_TEAM_WORLD, a, b, 1, 0);": "fence(0); bundle; put(b[0], 1, a[0], 0); signal(add, 1, 1, shmem_broadcast, 0); value <- mem[b[0]]; mem[a[0]] <- value;",
    "shmem_broadcast(SHMEM_TEAM_WORLD, a, b, 1, 0);": "fence(0); bundle; put(b[0], 1, a[0], 0); signal(add, 1, 1, shmem_broadcast, 0); value <- mem[b[0]]; mem[a[0]] <- value;",
    "static long ps[9]; shmem_fcollect64(la, lb, 1, 0, 0, n, ps);": "value <- mem[lb[0]]; mem[shmem_0_1_value_0_0] <- value; barrier; value_2 <- fetch(1, shmem_0_1_value_0_0); mem[la[0]] <- value; mem[la[1]] <- value_2;",
    "shmem_long_collect(SHMEM_TEAM_WORLD, la, lb, me + 1);": "value <- mem[lb[0]]; mem[shmem_0_1_value_0_0] <- value; barrier; value_2 <- fetch(1, shmem_0_1_value_0_0); value_3 <- fetch(1, shmem_0_1_value_0_1); mem[la[0]] <- value; mem[la[1]] <- value_2; mem[la[2]] <- value_3;",
    "shmem_long_alltoall(SHMEM_TEAM_WORLD, la, lb, 1);": "value <- mem[lb[0]]; value_2 <- mem[lb[1]]; mem[shmem_0_1_value_0_0] <- value; mem[shmem_0_1_value_0_1] <- value_2; barrier; value_3 <- fetch(1, shmem_0_1_value_0_0); mem[la[0]] <- value; mem[la[1]] <- value_3;",
    "shmem_int_sum_reduce(SHMEM_TEAM_WORLD, a, b, 1);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 + value; mem[a[0]] <- total;",
    "static int w[2]; static long ps[9]; shmem_int_max_to_all(&x, &y, 1, 0, 0, n, w, ps);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 > value ? 0 : value; mem[x] <- total;",
    "shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &da[0], &d, 1);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 +. value; mem[da[0]] <- total;",
    "shmem_max_reduce(SHMEM_TEAM_WORLD, la, lb, 1);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 > value ? 0 : value; mem[la[0]] <- total;",
    "shmem_int_sum_inscan(SHMEM_TEAM_WORLD, a, b, 1);": "of_8_messages_under_way <- mem[shmem_0_1_shmem_int_sum_inscan_1_0_1_full_0]; mem[shmem_0_1_shmem_int_sum_inscan_1_0_1_message_0_0] <- 0; mem[shmem_0_1_shmem_int_sum_inscan_1_0_1_full_0] <- 1 / (of_8_messages_under_way == 0); mem[a[0]] <- 0;",
    "shmem_team_t t; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &t); if (t != SHMEM_TEAM_INVALID) shmem_team_sync(t); x = shmem_team_my_pe(t); y = shmem_team_n_pes(SHMEM_TEAM_WORLD);": "",
    "if (me == 0) x = shmem_int_g(&y, 1); shmem_int_p(&a[x], 1, 1);": "result <- fetch(1, y) as plain; mem[x] <- result; t <- mem[x]; update(set, 1, 1, t >= 0 && t < 8 ? a + t : -1, 0) as plain;",
}

ON_THREE = {
    "static long ps[9]; if (me != 1) { shmem_barrier(0, 1, 2, ps); shmem_barrier(0, 1, 2, ps); shmem_barrier(0, 1, 2, ps); }": "wait(0); await_add(0, mem[shmem_0_2_shmem_barrier_0] < 2, 1); await_add(0, mem[shmem_0_2_shmem_barrier_0] == 2, 0); wait(0); await_add(0, mem[shmem_0_2_shmem_barrier_1] < 2, 1); await_add(0, mem[shmem_0_2_shmem_barrier_1] == 2, 0); wait(0); await_add(0, mem[shmem_0_2_shmem_barrier_0] > 0, -1); await_add(0, mem[shmem_0_2_shmem_barrier_0] == 0, 0);",
    "static long ps[9]; if (me < 2) shmem_int_sum_to_all(&x, &y, 1, 0, 0, 2, a, ps);": "mem[shmem_0_1_value_0_0] <- 0; await_add(0, mem[shmem_0_1_shmem_int_sum_to_all_of_1_0] < 2, 1); await_add(0, mem[shmem_0_1_shmem_int_sum_to_all_of_1_0] == 2, 0); value <- fetch(1, shmem_0_1_value_0_0); total <- 0 + value; mem[x] <- total;",
    "shmem_team_t t, s; shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &t, NULL, 0, &s); shmem_team_sync(t); x = shmem_team_translate_pe(s, 1, SHMEM_TEAM_WORLD);": "await_add(0, mem[shmem_0_1_shmem_team_sync_0] < 2, 1); await_add(0, mem[shmem_0_1_shmem_team_sync_0] == 2, 0);",
}

ERRORS = {
    "static long ps[3]; shmem_sync(0, 0, 1, ps);": "PE 1 calls shmem_sync and is not of the set 0",
    "void *p = shmem_realloc(&x, 4);": "&x is no address that shmem_malloc has given",
    "shmem_ctx_t c; shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &c); shmem_ctx_int_p(c, &x, 1, 1);": "shmem_ctx_int_p on SHMEM_CTX_INVALID",
    "int k; shmem_int_p(&x, 1, k);": "argument 3 `k` of `shmem_int_p` has not been set",
    "int k; shmem_int_put(a, b, k, 1);": "argument 3 `k` of `shmem_int_put` has not been set",
    "int k; if (me) shmem_int_p(&x, k, 0);": "argument 2 `k` of `shmem_int_p` has not been set",
    "int k = 1; if (shmem_int_g(&x, 1)) k = 2; shmem_long_collect(SHMEM_TEAM_WORLD, la, lb, k); x = 1;": "PE 0 brings different numbers of elements to one call of shmem_long_collect",
    "if (me) shmem_long_collect(SHMEM_TEAM_WORLD, la, lb, 1);": "PE 0 does not come to this call of shmem_long_collect",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert " ".join(processes(PRELUDE.replace("%s", call))[0]) == expected


@pytest.mark.parametrize(("call", "expected"), ON_THREE.items())
def test_call_on_three_nodes(call: str, expected: str) -> None:
    assert " ".join(processes(PRELUDE.replace("%s", call), 3)[0]) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        processes(PRELUDE.replace("%s", call))
