"""How values lie in memory: what one type stores and another reads, against gcc."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from tests.frontends.c.against_gcc import by_gcc, executed, folded

BYTES = """
#include <string.h>
static int shared[2];
int main(void) {
  int n = (int)input(0), a[2]; memset(a, -1, sizeof a); emit(a[0] == -1); emit(a[1]); memset(a, 256 + 7, 4); emit(a[0]);
  memset(shared, -2, sizeof shared); emit(shared[1]); shared[n & 1] = 1; memset(&shared[1], -3, 4); emit(shared[1]);
  static long halves; halves = 5L << 32 | 3; emit(((int *)&halves)[1]); emit(((unsigned char *)&halves)[4]);
  unsigned char u[4]; memset(u, -4, 4); emit(u[3]); emit(memcmp(u, a, 4) > 0);
  return 0;
}
"""
LONG_DOUBLE = """
#include <stddef.h>
#include <string.h>
typedef struct { char c; long double l; } S;
static long double sum(const long double *l, int n) { return n ? l[n - 1] + sum(l, n - 1) : 0; }
int main(void) {
  emit(sizeof(long double)); emit(_Alignof(long double)); emit(sizeof(S)); emit(offsetof(S, l));
  emit(sizeof(max_align_t));
  emit(_Alignof(max_align_t)); emit(sizeof(1.5L)); emit(sizeof(1.5L + 1.0f)); emit(sizeof(1.5 + 1));
  emit(_Generic(1.0L, double: 1, long double: 2)); long n = input(0);
  long double l[4] = {1.5L, -2, 0.25L, 0}; l[3] = n; emit_double(sum(l, 4)); emit((long)(l[1] * 3)); emit(l[0] < l[1]);
  float f = l[3] / 3; emit_double(f); emit_double((double)(l[0] * l[2])); S s = {'x', 4.5L};
  emit_double(s.l); emit(s.c);
  unsigned char b[16]; memcpy(b, &l[1], 16); for (int i = 0; i < 10; i++) emit(b[i]);
  long double back; memcpy(&back, b, 16); emit_double(back); memset(&back, 0, 16); emit_double(back);
  b[9] ^= 128; memcpy(&back, b, 16); emit_double(back);
  return 0;
}
"""
UNIONS = """
#include <stdint.h>
#include <string.h>
typedef union { int i[2]; double d; char c[8]; uint64_t w; struct { uint32_t lo, hi; } h; } U;
struct msg { int tag; union { int ival; double dval; char text[12]; union U *next; }; struct { short x, y; } end; };
union U { long l; struct msg m; };
static U g = {.d = 1.5}, h = {{1, 2}}, table[2] = {{.c = "ab"}, {.h = {.hi = 7}}};
static struct msg first = {1, {.dval = 2.5}, {3, 4}}, second = {.tag = 2, .text = "xyz", .end.y = 5};
static int pick(const struct msg *m) { return m->tag == 1 ? (int)m->dval : m->tag == 2 ? m->text[0] : m->ival; }
static U twice(U u) { u.i[0] *= 2; u.h.hi++; return u; }
int main(void) {
  long n = input(0); emit(sizeof(U)); emit(_Alignof(U)); emit(sizeof(struct msg)); emit(sizeof(union U));
  emit(g.i[0]); emit(g.i[1]); emit(g.c[7]); emit(h.w); emit(h.i[1]); emit(table[0].c[1]); emit(table[0].c[3]);
  emit(table[1].w); emit(pick(&first)); emit(pick(&second)); emit(second.end.y); emit(first.end.x);
  U u, v = {.w = 5}; u.d = n; emit(u.w); u.i[0] = (int)n; emit(u.h.lo); emit(u.h.hi); emit_double(u.d); u.c[3] = -1;
  emit(u.i[0]); v = twice(v); emit(v.w); emit(v.i[0]); v = u; emit(v.h.lo); U *p = &v; p->c[0] = 9; emit(p->i[0] & 255);
  memset(&v, 1, sizeof v); emit(v.h.hi); emit(((U){.i = {3, (int)n}}).h.hi); union { float f; int i; } q;
  q.f = 1.0f; emit(q.i); q.i ^= 1 << 31; emit_double(q.f);
  struct msg m; memset(&m, 0, sizeof m); m.ival = 4; emit(pick(&m)); m.tag = 1; m.dval = 7.5; emit(pick(&m));
  struct msg k = m; emit(pick(&k)); strcpy(k.text, "hi"); k.tag = 2; emit(pick(&k));
  union { int only; } w = {3}; emit(w.only);
  return 0;
}
"""
PLACES = """
#include <string.h>
struct point { char tag; short side; double x; }; struct both { int key; int value; };
static int a[8]; static struct point points[4]; static struct both table[6]; static long wide[4]; static char text[12];
int main(void) {
  int n = (int)input(1) & 3, m = (int)input(0) & 1, b[6] = {1, 2, 3, 4, 5, 6}; struct both one = {7, 8};
  memcpy(&a[n], &b[m], 3 * sizeof(int)); memmove(&a[n + 1], &a[n], 12); memset(&a[m], -1, 4);
  for (int i = 0; i < 8; i++) emit(a[i]);
  memcpy(b, &a[n], 8); emit(b[0]); emit(b[1]); emit(b[2]); memcpy(&b[n], &b[m], 8);
  for (int i = 0; i < 6; i++) emit(b[i]);
  table[n] = one; memcpy(&table[n + 1], &one, sizeof one); one = table[m + 1]; emit(one.key); emit(one.value);
  memmove(&table[n], &table[m], 2 * sizeof *table);
  for (int i = 0; i < 6; i++) emit(table[i].key * 10 + table[i].value);
  struct point p = {'x', -3, 1.5}; points[n] = p; p.x = 2;
  memcpy(&points[m], &p, sizeof p); p = points[n]; emit(p.side);
  for (int i = 0; i < 4; i++) { emit(points[i].tag); emit(points[i].side); emit_double(points[i].x); }
  memset(&points[n], 0, sizeof p); emit_double(points[n].x); emit(points[m].tag);
  memcpy(&wide[n], wide, 0); wide[m] = 5; memcpy(&wide[n], &wide[m], 8); memset(&wide[m + 1], 1, 8); emit(wide[n]);
  for (int i = 0; i < 4; i++) emit(wide[i]);
  memcpy(text + n, "abc", 4); memset(text + n + m, 'z', 2); text[7] = 'q'; emit(text[n]);
  emit(text[n + 1]); emit(text[3]);
  return 0;
}
"""
PROGRAMS = {"bytes": BYTES, "places": PLACES, "long double": LONG_DOUBLE, "unions": UNIONS}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("inputs", [[7, 2], [-5, 3], [0, 0]], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_holds_what_gcc_says(name: str, inputs: list[int], tmp_path: Path) -> None:
    expected = by_gcc(PROGRAMS[name], inputs, tmp_path)
    assert folded(PROGRAMS[name], inputs) == expected
    assert executed(PROGRAMS[name], inputs) == expected


def drawn(seed: int) -> str:
    """A program that copies, moves and fills parts of arrays at indices that are not known."""
    chosen, steps = random.Random(seed), list[str]()
    arrays = {"a": 4, "b": 4, "s": 8, "l": 8, "d": 8}
    for number in range(14):
        to = chosen.choice("absld")
        of, size = chosen.choice([each for each in arrays if each in "ab" or each == to]), arrays[to]
        of = of if (of in "ab") == (to in "ab") else to
        places = [f"{name} + {chosen.choice('nmk')} + {chosen.randrange(3)}" for name in (to, of)]
        bytes = size * chosen.randint(1, 3)
        match chosen.choice("cmfs"):
            case "m":
                steps.append(f"memmove({places[0]}, {places[1]}, {bytes});")
            case "f":
                steps.append(f"memset({places[0]}, {chosen.randrange(256)}, {bytes});")
            case "s":
                steps.append(f"*({places[0]}) = *({places[1]});")
            case _:
                value = "(struct S){%d, n}" if to == "s" else "%d"
                steps.append(f"*({places[0]}) = {value % number};")
    shown = "emit(a[i]); emit(b[i]); emit(s[i].x); emit(s[i].y); emit(l[i]); emit_double(d[i] < 1e-9 ? 0 : d[i]);"
    declared = "struct S { int x, y; }; static int a[10], b[10]; static struct S s[10]; static long l[10];"
    return f"""#include <string.h>
        {declared} static double d[10];
        int main(void) {{ int n = (int)input(0) & 3, m = (int)input(1) & 3, k = 2; {" ".join(steps)}
        for (int i = 0; i < 9; i++) {{ {shown} }} return 0; }}"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("seed", range(40))
def test_copies_to_unknown_places(seed: int, tmp_path: Path) -> None:
    inputs = [seed, seed // 4]
    expected = by_gcc(drawn(seed), inputs, tmp_path)
    assert folded(drawn(seed), inputs) == expected
    assert executed(drawn(seed), inputs) == expected


def test_a_long_double_takes_16_bytes_in_transfers_too() -> None:
    text = """
        #include <shmem.h>
        static long double to[4]; static char bytes[64];
        int main(void) {
          shmem_init(); long double of[4] = {1, 2, 3, 4};
          if (shmem_my_pe() == 0) {
            shmem_putmem(to, of, 64, 1);
            shmem_longdouble_put((long double *)bytes, of, COUNT, 1); }
          shmem_barrier_all();
        }"""
    assert check(parse_c(text.replace("COUNT", "4")), 2).verdict == "robust"
    assert "outside" in str(check(parse_c(text.replace("COUNT", "5")), 2).reason)


PARTS = """
#include <shmem.h>
#include <assert.h>
#include <stdint.h>
static uint64_t word; static int flag; static union { int64_t w; struct { int32_t lo, hi; } h; } pair;
int main(void) {
  shmem_init(); int me = shmem_my_pe(); uint32_t *half = (uint32_t *)&word;
  unsigned char *byte = (unsigned char *)&word;
  %s
}
"""


@pytest.mark.parametrize(
    ("body", "verdict", "assertions"),
    [
        # Rank 0 updates the word at once; behind the barrier its halves are there.
        (
            """if (!me) shmem_uint64_atomic_add(&word, (1ULL << 32) | 2, 1); shmem_barrier_all();
            assert(!me || (half[0] == 2 && half[1] == 1));""",
            "robust",
            "hold",
        ),
        # The flag may overtake the word, and the half that is read then is the old one.
        (
            """if (!me) { shmem_uint64_p(&word, 3ULL << 32, 1); shmem_int_p(&flag, 1, 1); }
            else { shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); assert(half[1] == 3); }""",
            "not robust",
            None,
        ),
        (
            """if (!me) { shmem_uint64_p(&word, 3ULL << 32, 1); shmem_fence(); shmem_int_p(&flag, 1, 1); }
            else { shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); assert(half[1] == 3); }""",
            "robust",
            "hold",
        ),
        # A store to one half does not undo what is done to the other meanwhile.
        (
            """if (!me) shmem_uint64_atomic_add(&word, 1ULL << 32, 1); else half[0] = 5; shmem_barrier_all();
            assert(!me || word == ((1ULL << 32) | 5));""",
            "robust",
            "hold",
        ),
        # Bytes of what others get.
        (
            """for (int i = 0; i < 8; i++) byte[i] = i + me; byte[3]++; shmem_barrier_all();
            uint64_t got = shmem_uint64_g(&word, 1 - me); assert(me || got == 0x0807060505030201);""",
            "robust",
            "hold",
        ),
        (
            """pair.h.hi = me; pair.h.lo = -1; shmem_barrier_all();
            long got = shmem_int64_atomic_fetch(&pair.w, 1 - me); assert(got == ((long)(1 - me) << 32 | 0xffffffff));
            shmem_barrier_all(); if (me) shmem_int64_p(&pair.w, -2, 0);
            shmem_barrier_all(); assert(me || (pair.h.hi == -1 && pair.h.lo == -2 && pair.w == -2));""",
            "robust",
            "hold",
        ),
        # What is a whole at one end has parts at the other.
        (
            """static int of; for (int i = 0; i < 4; i++) ((char *)&of)[i] = i + 1; int to = 0; shmem_barrier_all();
            shmem_getmem(&to, &of, sizeof of, 1 - me); assert(to == 0x04030201); shmem_barrier_all();
            long wide = 0; ((short *)&wide)[1] = 7; shmem_putmem(half, &wide, 8, 1 - me); shmem_barrier_all();
            assert(byte[2] == 7 && half[1] == 0);""",
            "robust",
            "hold",
        ),
        # Here the parts conflict (each rank's read of its own half, and the other's late put of the whole).
        (
            """if (!me) { shmem_uint64_put_nbi(&word, (uint64_t[]){9}, 1, 1); shmem_int_p(&flag, 1, 1); }
            else { shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); half[1] = 4; }""",
            "not robust",
            None,
        ),
    ],
)
def test_parts_of_what_ranks_share(body: str, verdict: str, assertions: str | None) -> None:
    found = check(parse_c(PARTS % body), 2)
    assert found.verdict == verdict
    assert assertions is None or found.assertions == assertions
    assert Kind.PARTS in {each.kind for each in found.assumptions}


def test_atomics_access_the_same_bytes() -> None:
    both = "shmem_uint64_%s(&word, 1, 0); shmem_uint32_%s(half, 1, 0);"
    mistake = check(parse_c(PARTS % both.replace("%s", "atomic_inc").replace(" 1,", "")), 2)
    assert mistake.verdict == "error" and "whole as 4 bytes at offset 0 and as 8 bytes" in str(mistake.errors)
    puts = "if (!me) { shmem_uint64_p(&word, 1, 1); shmem_fence(); shmem_uint32_p(half, 1, 1); }"
    assert check(parse_c(PARTS % puts), 2).verdict == "robust"


SIGNS = """
#include <shmem.h>
#include <assert.h>
#include <stdint.h>
static long w; static uint64_t z; static int q;
int main(void) { shmem_init(); int me = shmem_my_pe(); %s shmem_barrier_all(); }
"""


@pytest.mark.parametrize(
    "body",
    [
        "w = -1; shmem_barrier_all(); uint64_t got = shmem_uint64_atomic_fetch((uint64_t *)&w, 1 - me);"
        "assert(got > 5);",
        "w = -1; shmem_barrier_all(); shmem_uint64_get(&z, (uint64_t *)&w, 1, 1 - me); assert(z > 5);",
        "w = -1; shmem_barrier_all(); shmem_putmem(&z, &w, 8, 1 - me); shmem_barrier_all(); assert(z > 5);",
        "q = -1; shmem_barrier_all(); unsigned got = shmem_uint_g((unsigned *)&q, 1 - me); assert(got > 5);",
        "shmem_uint64_p((uint64_t *)&w, ~0UL, 1 - me); shmem_barrier_all(); assert(w == -1);",
        "((int *)&z)[1] = -1; shmem_barrier_all(); long got = shmem_int64_atomic_fetch((long *)&z, 1 - me);"
        "assert(got < 0);",
    ],
)
def test_an_integer_with_a_sign_is_another_number_without(body: str) -> None:
    found = check(parse_c(SIGNS % body), 2)
    assert (found.verdict, found.assertions) == ("robust", "hold")
