"""What a transfer moves between numbers of two kinds: what is read there is what its bits are, or it is refused."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c

SHMEM = """#include <shmem.h>
#include <assert.h>
#include <stdint.h>
#include <string.h>
{}
int main(void) {{
  shmem_init(); int me = shmem_my_pe();
  {}
  shmem_barrier_all();
  {}
  shmem_finalize(); return 0;
}}"""


@pytest.mark.parametrize(
    ("memory", "first", "then"),
    [
        ("static uint64_t a;", "double d = -1.0; if (!me) shmem_putmem(&a, &d, 8, 1);", "assert(a >> 52 == 0xbff);"),
        ("static double a;", "uint64_t u = 0xbffull << 52; if (!me) shmem_putmem(&a, &u, 8, 1);", "assert(a == -1.0);"),
        ("struct s { int i; float f; }; static struct s a[2];",
            "struct s l = {1, 2.5f}; if (!me) shmem_putmem(&a[1], &l, sizeof l, 1);", "assert(a[1].f == 2.5f);"),
        ("static char a[8];", "float l[2] = {1, 2.5f}; if (!me) shmem_putmem(a, l, 8, 1);",
            "float r[2]; memcpy(r, a, 8); assert(r[1] == 2.5f);"),
    ],
    ids=["a double as an integer", "an integer as a double", "a structure", "bytes that carry floats"],
)  # fmt: skip
def test_bits_are_what_they_are(memory: str, first: str, then: str) -> None:
    for told, expected in ((then, "hold"), (then.replace("==", "!="), "violated")):
        verdict = pgasrob.check(parse_c(SHMEM.format(memory, first, f"if (me == 1) {{ {told} }}")), 2)
        assert (verdict.verdict, verdict.assertions) == ("robust", expected)


@pytest.mark.parametrize(
    ("memory", "first", "then"),
    [
        ("static uint32_t a;", "float f = 1; if (!me) shmem_putmem(&a, &f, 4, 1);", "assert(a == 0x3f800000);"),
        ("static float a; static uint32_t b = 0x40000000;", "if (!me) shmem_put32(&a, &b, 1, 1);", "assert(a == 2);"),
        ("static float a;", "if (!me) shmem_float_p(&a, 1, 1);", "assert(*(uint32_t *) &a == 0x3f800000);"),
        ("static int a[2];", "if (!me) shmem_int_p(a, 0x3f800000, 1);",
            "float r; memcpy(&r, a, 4); assert(r == 1);"),
    ],
    ids=["to an integer", "to a float", "within an object", "carried by integers"],
)  # fmt: skip
def test_floats_and_integers_in_the_same_bytes(memory: str, first: str, then: str) -> None:
    """Their cells hold bits, and no double in place of a float."""
    for told, expected in ((then, "hold"), (then.replace("==", "!="), "violated")):
        verdict = pgasrob.check(parse_c(SHMEM.format(memory, first, f"if (me == 1) {{ {told} }}")), 2)
        assert (verdict.verdict, verdict.assertions) == ("robust", expected)


@pytest.mark.parametrize(
    ("memory", "first", "then"),
    [
        ("static int f;", "shmem_int_p(&f, -1, me); shmem_quiet();",
            "assert(shmem_uint_test((unsigned *) &f, SHMEM_CMP_GT, 5) == 1);"),
        ("static int8_t f; static uint8_t a[2];",
            "shmem_int8_p(&f, -1, me); shmem_barrier_all(); shmem_fcollectmem(SHMEM_TEAM_WORLD, a, &f, 1);",
            "assert(a[0] == 255);"),
        ("static int8_t f; static uint8_t a;",
            "shmem_int8_p(&f, -1, me); shmem_barrier_all(); "
            "shmem_uint8_max_reduce(SHMEM_TEAM_WORLD, &a, (uint8_t *) &f, 1);", "assert(a == 255);"),
    ],
    ids=["a test", "a collect", "a reduction"],
)  # fmt: skip
def test_calls_read_numbers_of_another_sign(memory: str, first: str, then: str) -> None:
    for told, expected in ((then, "hold"), (then.replace("==", "!="), "violated")):
        verdict = pgasrob.check(parse_c(SHMEM.format(memory, first, f"if (me == 1) {{ {told} }}")), 2)
        assert (verdict.verdict, verdict.assertions) == ("robust", expected)


OF_A_FLOAT = "shmem_float_p(&f, 1, me); shmem_barrier_all();"


@pytest.mark.parametrize(
    ("memory", "first", "then"),
    [
        ("static float f;", "shmem_uint32_p((uint32_t *) &f, 0x3f800000, me);", "assert(f == 1);"),
        ("static float f;", OF_A_FLOAT, "assert(shmem_uint32_g((uint32_t *) &f, 1) == 0x3f800000);"),
        ("static uint32_t f;", "shmem_uint32_p(&f, 0x3f800000, me);", "assert(shmem_float_g((float *) &f, 1) == 1);"),
        ("static float f; static uint32_t a;",
            f"{OF_A_FLOAT} shmem_uint32_max_reduce(SHMEM_TEAM_WORLD, &a, (uint32_t *) &f, 1);",
            "assert(a == 0x3f800000);"),
        ("static float f; static uint32_t a[2];",
            f"{OF_A_FLOAT} shmem_fcollectmem(SHMEM_TEAM_WORLD, a, &f, 4);", "assert(a[0] == 0x3f800000);"),
    ],
    ids=["a put", "a get", "a get of a float", "a reduction", "a collect"],
)  # fmt: skip
def test_calls_take_floats_for_integers(memory: str, first: str, then: str) -> None:
    every = f"if (me == 1) {{ {then} }}" if "_reduce" not in first and "collect" not in first else then
    for told, expected in ((every, "hold"), (every.replace(") == ", ") != ").replace("f ==", "f !=")
                           .replace("a ==", "a !=").replace("] ==", "] !="), "violated")):  # fmt: skip
        verdict = pgasrob.check(parse_c(SHMEM.format(memory, first, told)), 2)
        assert (verdict.verdict, verdict.assertions) == ("robust", expected)


WAIT = "shmem_uint_wait_until((unsigned *) &f, SHMEM_CMP_GT, 5);"


@pytest.mark.parametrize(
    ("memory", "first", "then"),
    [
        ("static int f;", "shmem_int_p(&f, -1, me);", WAIT),
        ("static int f;", "shmem_int_p(&f, -1, me);",
            "if (shmem_uint_atomic_compare_swap((unsigned *) &f, -1, 1, 1) != -1u) f = 7;"),
        ("static float f;", "shmem_uint32_p((uint32_t *) &f, 0, me);", "shmem_float_atomic_set(&f, 1, 1);"),
    ],
    ids=["a wait", "a comparison", "an atomic"],
)  # fmt: skip
def test_numbers_that_calls_would_read_wrongly_are_refused(memory: str, first: str, then: str) -> None:
    verdict = pgasrob.check(parse_c(SHMEM.format(memory, first, f"if (me == 1) {{ {then} }}")), 2)
    assert verdict.verdict == "error" and "`f`" in str(verdict.reason)


def test_accumulates_that_compare_numbers_of_another_sign_are_refused() -> None:
    text = """#include <mpi.h>
    static int x, k = -1;
    int main(void) {
      int me; MPI_Win w;
      MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me);
      MPI_Win_create(&x, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
      MPI_Win_fence(0, w);
      if (!me) MPI_Accumulate(&k, 1, TYPE, 1, 0, 1, TYPE, MPI_MAX, w);
      MPI_Win_fence(0, w);
      return x;
    }"""
    assert pgasrob.check(parse_c(text.replace("TYPE", "MPI_INT")), 2).verdict == "robust"
    verdict = pgasrob.check(parse_c(text.replace("TYPE", "MPI_UNSIGNED")), 2)
    assert verdict.verdict == "error" and "another sign" in str(verdict.reason)


@pytest.mark.parametrize(
    ("value", "cell", "told", "expected"),
    [
        ("ARMCI_PutValueInt(-1, u, 1)", "unsigned *u = (unsigned *) base[1]", "*u == 0xffffffffu", ("robust", "hold")),
        ("ARMCI_PutValueFloat(2.5f, u, 1)", "float *u = base[1]", "*u == 2.5f", ("robust", "hold")),
        ("ARMCI_PutValueInt(0x3f800000, u, 1)", "float *u = base[1]", "*u == 1", ("robust", "hold")),
        ("ARMCI_PutValueInt(0x3f800000, u, 1)", "float *u = base[1]", "*u == 2", ("robust", "violated")),
    ],
)
def test_values_of_armci(value: str, cell: str, told: str, expected: tuple[str, str | None]) -> None:
    text = f"""#include <armci.h>
    #include <mpi.h>
    #include <assert.h>
    int main(int argc, char **argv) {{
      int me; void *base[2];
      MPI_Init(&argc, &argv); ARMCI_Init(); MPI_Comm_rank(MPI_COMM_WORLD, &me); ARMCI_Malloc(base, 64);
      {cell};
      if (!me) {value};
      ARMCI_Barrier();
      if (me) assert({told});
      ARMCI_Finalize(); MPI_Finalize(); return 0;
    }}"""
    verdict = pgasrob.check(parse_c(text), 2)
    assert (verdict.verdict, verdict.assertions) == expected


def test_a_value_of_gasnet_is_the_bits_of_a_float() -> None:
    text = """#include <gasnet.h>
    #include <assert.h>
    static float x;
    int main(int argc, char **argv) {
      gasnet_init(&argc, &argv); gasnet_attach(0, 0, 0, 0);
      if (gasnet_mynode() == 0) gasnet_put_val(1, &x, 0x3f800000, 4);
      gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS); gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
      if (gasnet_mynode() == 1) assert(x == 1);
      return 0;
    }"""
    for told, expected in ((text, "hold"), (text.replace("x == 1", "x != 1"), "violated")):
        assert pgasrob.check(parse_c(told), 2).assertions == expected


@pytest.mark.parametrize(("held", "verdict"), [("0", "robust"), ("-1", "error")])
def test_gaspi_compares_numbers_without_a_sign(held: str, verdict: str) -> None:
    """Where the program has them with one it makes a difference for those below 0 alone."""
    text = """#include <GASPI.h>
    #include <assert.h>
    int main(void) {
      gaspi_proc_init(GASPI_BLOCK); gaspi_rank_t me; gaspi_proc_rank(&me); gaspi_atomic_value_t old;
      gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
      gaspi_pointer_t at; gaspi_segment_ptr(0, &at); long *p = at; *p = HELD;
      gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
      if (me == 0) gaspi_atomic_compare_swap(0, 0, 1, HELD, 5, &old, GASPI_BLOCK);
      gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
      if (me == 1) assert(*p == 5);
      gaspi_proc_term(GASPI_BLOCK); return 0;
    }""".replace("HELD", held)
    found = pgasrob.check(parse_c(text), 2)
    assert (found.verdict, found.assertions) == (verdict, "hold" if verdict == "robust" else None)


def test_a_wait_for_a_number_that_is_the_same_without_a_sign() -> None:
    """The flag is declared with one."""
    text = SHMEM.format("static long f;", "if (!me) shmem_long_p(&f, 1, 1);", "WAIT").replace(
        "WAIT", "if (me) shmem_uint64_wait_until((uint64_t *) &f, SHMEM_CMP_EQ, 1);"
    )
    found = pgasrob.check(parse_c(text), 2)
    assert found.verdict == "robust" and not found.deadlock
