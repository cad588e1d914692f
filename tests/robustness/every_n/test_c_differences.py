"""C programs that are something else on some number of nodes beyond any cutoff: none of them is proved.

Each rests on something that was once taken to be alike on every rank and every number of nodes.
"""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program.statements import FlowGraph
from tests.support import check_every_count

SHMEM = """#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <math.h>
#include <ctype.h>
static long x, y, t, one = 1, i;
static int k;
static long cells[4];
int main(void) {
  shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes();
  %s
  shmem_barrier_all(); shmem_finalize(); return 0;
}"""
FAR = "shmem_long_p(&x, 1, n + 5);"
CROSSING = """if (me == 0) { shmem_long_put_nbi(&x, &one, 1, 1); t = shmem_long_g(&y, 1); }
  else { shmem_long_put_nbi(&y, &one, 1, 1); t = shmem_long_g(&x, 1); }"""
MPI = """#include <mpi.h>
static long one = 1, first, second;
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int me, n; MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  long *base; MPI_Win win; MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  %s
  MPI_Win_free(&win); MPI_Finalize(); return 0;
}"""
PUT = "MPI_Put(&one, 1, MPI_LONG, {}, {}, 1, MPI_LONG, win);"
GET = "MPI_Get(&{}, 1, MPI_LONG, 1, {}, 1, MPI_LONG, win);"
FENCED = f"""MPI_Win_fence(0, win);
  if (me == 0) {{ {PUT.format(1, 0)} first = base[1]; }}
  if (me == 1) {PUT.format(0, 1)}
  MPI_Win_fence((n > 9) * MPI_MODE_NOPRECEDE, win);
  if (me == 1) first = base[0];
  MPI_Win_fence(0, win);"""
NAMED = f"""MPI_Win_lock_all(0, win);
  int t1 = (me - 1u < 1u), t2 = (me - 1 < 1);
  if (n > 9 && me == 0) {{
    {PUT.format("t2", 0)} MPI_Win_flush(t1, win); {PUT.format("t2", 1)} MPI_Win_flush(t1, win);
  }}
  if (n > 9 && me == 1) {{
    {GET.format("first", 1)} MPI_Win_flush(1, win); {GET.format("second", 0)} MPI_Win_flush(1, win);
  }}
  MPI_Win_unlock_all(win);"""
LOCKED = "MPI_Win_lock(MPI_LOCK_SHARED, {0}, 0, win); {1} MPI_Win_unlock({0}, win);"
RECEIVED = f"""int got;
  if (me == 1) MPI_Send(&me, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (me == 0) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, win);
  if (me == 0) {{ {PUT.format(1, 0)} MPI_Win_flush_local(1, win); {PUT.format(1, 1)} }}
  if (me == 1) {{ {GET.format("first", 1)} MPI_Win_flush(1, win); {GET.format("second", 0)} MPI_Win_flush(1, win); }}
  MPI_Win_unlock_all(win);"""
GASPI = """#include <GASPI.h>
static long buffer[1]; static long s;
int main(void) {
  gaspi_proc_init(GASPI_BLOCK);
  gaspi_rank_t me, n; gaspi_proc_rank(&me); gaspi_proc_num(&n);
  gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  gaspi_pointer_t at; gaspi_segment_ptr(0, &at); long *q = at;
  %s
  gaspi_proc_term(GASPI_BLOCK); return 0;
}"""
BARRIER = "gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);"
DIFFERENT = {
    "a shared object's size": (SHMEM, "long *a; int s = 16; if (n == 7) s = 8; a = shmem_malloc(s); "
        "shmem_barrier_all(); if (me == 0) shmem_long_put(a + 1, &one, 1, 1);", 7),
    "a private object's size": (SHMEM, "int *a; if (n != 7) a = malloc(8); else a = malloc(4); a[1] = me;", 7),
    "the size of one call": (SHMEM, "int *p = malloc(n != 10 ? 16 : 8); p[3] = 1;", 10),
    "a union": (SHMEM, f"union {{ int i; unsigned u; }} z; z.i = me - 1; "
        f"if (n > 9 && (z.u > 100u || me == 1)) {{ {CROSSING} }}", 10),
    "bytes": (SHMEM, "signed char c = -(me + 1); unsigned char *p = (unsigned char *)&c; "
        f"if (n > 9 && *p > 200) {FAR}", 10),
    "a truth value": (SHMEM, f"char c = (me & 1) + 2; _Bool *p = (_Bool *)&c; if (n > 9 && *p == 1) {FAR}", 10),
    "signbit": (SHMEM, f"if (n > 9 && signbit(me - 0.5)) {FAR}", 10),
    "a value in a cell": (SHMEM, "static double d; if (n < 10 && me == 0) shmem_double_p(&d, 1.0, 1); "
        f"shmem_barrier_all(); d = me - 1; if (n > 9 && signbit(d)) {FAR}", 10),
    "printed": (SHMEM, 'char b[2]; sprintf(b, "%d", n);', 10),
    "pointers": (SHMEM, f"if (n > 9 && me < 3) {{ long *p = &cells[me]; if (me == 1 && p == &cells[1]) {FAR} }} "
        "cells[0] = 1;", 10),
    "names of targets": (MPI, NAMED, 10),
    "two names of one lock": (MPI, f"if (n == 9) {{ {LOCKED.format('0', LOCKED.format('n % 9', ''))} }}", 9),
    "a lock beside all": (MPI, f"if (n > 9) {{ MPI_Win_lock_all(0, win); {LOCKED.format('0', '')} "
        "MPI_Win_unlock_all(win); }", 10),
    "the assertion of a fence": (MPI, FENCED, 10),
    "who a message is from": (MPI, RECEIVED, 2),
    "a rank that only a flush names": (MPI, "MPI_Win_lock_all(0, win); if (n > 9) MPI_Win_flush(n + 5, win); "
        "MPI_Win_unlock_all(win);", 10),
    "a known rank that only a flush names": (MPI, "MPI_Win_lock_all(0, win); MPI_Win_flush(9, win); "
        "MPI_Win_unlock_all(win);", 9),
    "a put of nothing": (MPI, "MPI_Win_lock_all(0, win); if (n > 9) MPI_Put(&one, 0, MPI_LONG, n + 5, 0, 0, MPI_LONG, "
        "win); MPI_Win_unlock_all(win);", 10),
    "a lock out of range": (MPI, f"if (n > 9) {{ {LOCKED.format('n + 5', '')} }}", 10),
    "a segment that is bound": (GASPI, "if (n < 10) gaspi_segment_alloc(1, 8, GASPI_MEM_INITIALIZED); "
        f"else gaspi_segment_bind(1, buffer, 8, 0); {BARRIER} if (me < 2) {{ q[0] = 1; "
        "gaspi_write(0, 0, 1 - me, 1, 0, 8, 0, GASPI_BLOCK); if (n >= 10) s = buffer[0]; "
        "gaspi_wait(0, GASPI_BLOCK); }", 10),
    "a segment on some numbers": (GASPI, f"if (n < 10) gaspi_segment_alloc(1, 64, GASPI_MEM_INITIALIZED); {BARRIER} "
        "if (me == 0) { gaspi_write(0, 0, 1, 1, 0, 8, 0, GASPI_BLOCK); gaspi_wait(0, GASPI_BLOCK); }", 10),
    "a string without an end": (SHMEM, 'char b[4] = "abc"; if (n > 9) b[3] = 1; t = strlen(b);', 10),
    "a part of a number": (SHMEM, 'union { int i; short s[2]; } z; z.i = 0; z.s[0] = me; char b[2]; '
        'if (n > 9) sprintf(b, "%d", z.i * 50);', 10),
    "unknown values and a number": (SHMEM, "int o = 0; for (int i = 0; i < n - 10; i++) o++; "
        'int z[1]; z[0] = o * (rand() & 1) + 1000; char b[2]; if (n > 9) sprintf(b, "%d", z[0]);', 10),
    "a notification that is counted": (GASPI, "unsigned o = 0; for (int i = 0; i < n - 10; i++) o++; "
        "if (n > 9 && me == 0) gaspi_notify(0, 1, 0, o, 0, GASPI_BLOCK);", 10),
    "a variable that is read on some numbers": (SHMEM, "int a; if (n < 10) shmem_int_get(&a, &k, 1, 0); if (a) t = 1;",
        10),
    "a variable that is an argument": (SHMEM, "int a; if (n < 10) shmem_int_get(&a, &k, 1, 0); "
        "if (n > 9) shmem_long_p(&x, 1, a);", 10),
    "a variable that is an index": (SHMEM, "int a; if (n < 10) shmem_int_get(&a, &k, 1, 0); if (n > 9) cells[a] = 1;",
        10),
    "an array that is read on some numbers": (SHMEM, "int a[2]; if (n < 10) shmem_getmem(a, &x, 8, 1); "
        "if (n > 9 && a[0]) t = 1;", 10),
    "an element that is set on some numbers": (SHMEM, "int a[4]; if (n < 10) a[me & 3] = 1; if (n > 9 && a[0]) t = 1;",
        10),
    "an element beside one that is set": (SHMEM, "int a[4]; a[me & 3] = 1; if (n > 9 && a[2]) t = 1;", 10),
    "a copy of what is not set": (SHMEM, "struct { int u, v; } s, q; if (n < 10) shmem_int_get(&s.u, &k, 1, 0); "
        "s.v = 1; q = s; if (n > 9 && q.u) t = 1;", 10),
    "a static variable given what is not set": (SHMEM, "int a; if (n < 10) shmem_int_get(&k, &k, 1, 0); k = a; "
        "if (n > 9 && k) t = 1;", 10),
    "a variable of each iteration": (SHMEM, "for (int r = 0; r < 2; r++) { int a; "
        "if (r == 0) { shmem_int_get(&a, &k, 1, 0); if (a) t = 1; } else if (n > 9 && a) t = 1; }", 10),
    "a put to what may not be locked": (MPI, "MPI_Win_lock(MPI_LOCK_SHARED, (me + 1) % n, 0, win); "
        "MPI_Accumulate(&one, 1, MPI_LONG, n > 9 ? me : (me + 1) % n, 0, 1, MPI_LONG, MPI_SUM, win); "
        "MPI_Win_unlock((me + 1) % n, win);", 10),
    "a flush of what may not be locked": (MPI, "MPI_Win_lock(MPI_LOCK_SHARED, (me + 1) % n, 0, win); "
        "MPI_Win_flush(n > 9 ? me : (me + 1) % n, win); MPI_Win_unlock((me + 1) % n, win);", 10),
    "with whom a segment is registered": (GASPI, "gaspi_segment_alloc(1, 64, GASPI_MEM_INITIALIZED); "
        f"gaspi_segment_register(1, 0, GASPI_BLOCK); {BARRIER} if (n > 9 && me == 1) {{ "
        "gaspi_write(0, 0, 2, 1, 0, 8, 0, GASPI_BLOCK); gaspi_wait(0, GASPI_BLOCK); }", 10),
    "a notification of nothing": (GASPI, f"{BARRIER} if (n > 9 && me == 0) "
        "gaspi_notify(0, 1, 0, n - 10, 0, GASPI_BLOCK);", 10),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_somewhere_is_not_proved(name: str) -> None:
    text, body, nodes = DIFFERENT[name]
    program = parse_c(text % body)
    alone, found = pgasrob.check(program, nodes), check_every_count(program, effect=False)
    if alone.legal == "no":
        assert found.legal != "yes"
        return
    assert alone.verdict in ("not robust", "error") and found.verdict != "robust"
    assert found.verdict == "error" or not (found.every and found.every.proof.holds)


@pytest.mark.parametrize(
    "body",
    [
        "int *a; if (me != 0) a = malloc(8); else a = malloc(4); a[1] = me;",
        f"union {{ int i; unsigned u; }} z; z.i = -(rand() % 2); if (z.u > 100u) {FAR}",
        "long k; if (me == 0) shmem_long_p(&i, 1, 1); shmem_barrier_all(); k = i; "
        f"if (k >= 0 && k < 4) {{ long *p = &cells[k]; if (p == &cells[1]) {FAR} }}",
    ],
    ids=["a size on one rank", "an unknown value in a union", "pointers by an index that is read"],
)
def test_faults_that_were_missed(body: str) -> None:
    assert pgasrob.check(parse_c(SHMEM % body), 2).verdict == "error"


SIZES = "int *a; if ({}) a = malloc(400); else a = malloc(200);"
READ_K = "shmem_int_g(&k, 0)"
PUT_A = "shmem_int_put(&k, a, 1, 1);"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (f"{SIZES.format('me')} a[rand() % 51] = 1;", "error"),
        (f"{SIZES.format('me')} a[rand() % 50] = 1;", "robust"),
        (f"{SIZES.format('me')} a[{READ_K} + 50] = 1;", "error"),
        (f"{SIZES.format('me')} a[{READ_K} + 49] = 1;", "robust"),
        (f"{SIZES.format('rand() % 2')} a[50] = 1;", "error"),
        (f"{SIZES.format(READ_K)} if (!{READ_K}) a[50] = 1;", "error"),
        (f"{SIZES.format(READ_K)} if (!{READ_K}) a[49] = 1;", "robust"),
        (f"{SIZES.format('!me')} if (!me) {PUT_A} for (int j = 0; j < 51; j++) a[j] = 1;", "error"),
        (f"{SIZES.format('!me')} if (!me) {PUT_A} for (int j = 0; j < 50; j++) a[j] = 1;", "robust"),
        ("long *a; if (me) a = malloc(16); else a = malloc(8); if (me) shmem_long_put_nbi(&x, a + 1, 1, 0); "
            "else shmem_long_put_nbi(&x, a, 1, 1); shmem_quiet(); free(a);", "robust"),
    ],
)  # fmt: skip
def test_an_object_is_as_large_as_its_rank_has_made_it(body: str, verdict: str) -> None:
    assert pgasrob.check(parse_c(SHMEM % body), 2).verdict == verdict


def test_the_size_that_a_message_names() -> None:
    verdict = pgasrob.check(parse_c(SHMEM % f"{SIZES.format('me')} if (me) {PUT_A} a[50] = 1;"), 2)
    assert "element 50 is outside of `a`, which has 50 elements (200 bytes)" in " ".join(str(verdict).split())


READ = "shmem_int_get(&a, &k, 1, 0);"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (f"int a; if (me < 2) {READ} if (a) t = 1;", "error"),
        (f"int a; if (me < 2) {READ} if (me < 2 && a) t = 1;", "robust"),
        (f"int a = 0; if (me < 2) {READ} if (a) t = 1;", "robust"),
        ("int a[20]; for (int j = 0; j < 20; j++) if (shmem_int_g(&k, 0) == j) shmem_int_get(&a[j], &k, 1, 0); "
            "if (a[0]) t = 1;", "robust"),
        ("int a[4], b[4] = {0}; b[shmem_int_g(&k, 0)] = 1; if (a[shmem_int_g(&k, 0)]) t = 1;", "error"),
        ("char a[8]; memset(a, 0, 4); shmem_getmem(a + 6, &k, 1, 0); if (a[3] || a[6]) t = 1;", "robust"),
        ("char a[8]; memset(a, 0, 4); shmem_getmem(a + 4, &k, 4, 0); if (a[3] || a[7]) t = 1;", "robust"),
        ("char a[8]; memset(a, 0, 4); shmem_getmem(a + 6, &k, 1, 0); if (a[5]) t = 1;", "error"),
    ],
)  # fmt: skip
def test_what_a_rank_has_not_set(body: str, verdict: str) -> None:
    assert pgasrob.check(parse_c(SHMEM % body), 3).verdict == verdict


def test_many_variables_that_may_be_set() -> None:
    """Not each set of those that are makes a state of its own."""
    names = [f"v{place}" for place in range(12)]
    reads = " ".join(
        f"if (shmem_int_g(&k, 0) == {place}) shmem_int_get(&{name}, &k, 1, 0);" for place, name in enumerate(names)
    )
    (first, *_) = parse_c(SHMEM % f"int {', '.join(names)}; {reads}").program(2).processes
    assert isinstance(first.body, FlowGraph) and len(first.body.pieces) < 30


@pytest.mark.parametrize(
    "body",
    [
        f"static struct {{ int a, b; }} z[2] = {{{{7, 1}}, {{7, 2}}}}; if (z[k].a != 7) {FAR}",
        f"unsigned char c[2] = {{1, 2}}; signed char *p = (signed char *) c; p[k] = -7; if (c[k] != 249) {FAR}",
        "static struct { int a; unsigned b; } z[2]; static int w; z[k].b = -1; "
        f"shmem_int_put(&w, (int *) &z[k].b, 1, me); shmem_quiet(); if (w != -1) {FAR}",
    ],
    ids=["an initial value", "a sign", "a sign in a transfer"],
)
def test_what_an_index_that_is_not_known_reaches(body: str) -> None:
    """It is read from a cell, or is the rank on every number of nodes."""
    read = parse_c(SHMEM % f"if (me == 0) shmem_long_p(&i, 1, 1); shmem_barrier_all(); long k = i; {body}")
    assert pgasrob.check(read, 2).verdict == "robust"
    assert pgasrob.check(parse_c(SHMEM % f"int k = me & 1; {body}").for_every_count(), 2).verdict == "robust"


@pytest.mark.parametrize(
    "body",
    [
        "unsigned char *p = (unsigned char *) &x; x = 297; if (p[me & 7] != (me ? me == 1 : 41))",
        "union { long l[2]; int i[4]; } z; z.l[0] = 1; z.l[1] = 2; if (z.i[me & 3] != (me ? me == 2 ? 2 : 0 : 1))",
        "int *p = (int *) cells; cells[1] = 5; if (p[me & 7] != (me == 2 ? 5 : 0))",
    ],
)
def test_parts_of_scalars_at_an_index_that_is_not_known(body: str) -> None:
    """They lie in cells of the finest size."""
    known = "shmem_long_p(&y, me, me); shmem_barrier_all();"
    for where, program in (
        ("me", parse_c(SHMEM % f"{body} {FAR}").for_every_count()),
        ("y", parse_c(SHMEM % f"{known} {body.replace('[me', '[y')} {FAR}").program(3)),
    ):
        assert pgasrob.check(program, 3).verdict == "robust", where
    wrong = f"{body.replace('!=', '==')} {FAR}"
    assert pgasrob.check(parse_c(SHMEM % wrong).for_every_count(), 3).verdict == "error"


def test_integers_that_calls_take_with_another_sign() -> None:
    put = """#include <gasnet.h>
static unsigned x;
int main(int argc, char **argv) {
  gasnet_init(&argc, &argv); gasnet_attach(0, 0, 0, 0);
  if (gasnet_mynode() == 0) gasnet_put_val(1, &x, %s, 4);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS); gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (gasnet_mynode() == 1 && x > 100u) gasnet_put_val(7, &x, 1, 4);
}"""
    assert pgasrob.check(parse_c(put % "5"), 2).verdict == "robust"
    assert [pgasrob.check(parse_c(put % value), 2).verdict for value in ("500", "0xffffffff")] == ["error", "error"]
    add = (
        GASPI
        % f"""gaspi_segment_bind(1, buffer, 8, 0);
  gaspi_segment_register(1, 1 - me, GASPI_BLOCK); {BARRIER} gaspi_atomic_value_t old;
  if (me == 0) gaspi_atomic_fetch_add(1, 0, 1, %s, &old, GASPI_BLOCK);
  {BARRIER} if (me == 1 && buffer[0] < 0) gaspi_notify(0, 7, 0, 1, 0, GASPI_BLOCK);"""
    )
    assert pgasrob.check(parse_c(add % "5"), 2).verdict == "robust"
    assert pgasrob.check(parse_c(add % "-1"), 2).verdict == "error"
