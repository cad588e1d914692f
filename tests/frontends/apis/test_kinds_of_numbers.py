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
        ("static float a; static uint32_t b = 1;", "if (!me) shmem_put32(&a, &b, 1, 1);", "assert(a < 1);"),
        ("static float a;", "if (!me) shmem_float_p(&a, 1, 1);", "assert(*(uint32_t *) &a == 0x3f800000);"),
        ("static int a[2];", "if (!me) shmem_int_p(a, 0x3f800000, 1);",
            "float r; memcpy(&r, a, 4); assert(r == 1);"),
    ],
    ids=["to an integer", "to a float", "within an object", "carried by integers"],
)  # fmt: skip
def test_a_float_is_no_integer(memory: str, first: str, then: str) -> None:
    """Cells hold floats as doubles, so their bits are others."""
    verdict = pgasrob.check(parse_c(SHMEM.format(memory, first, f"if (me == 1) {{ {then} }}")), 2)
    assert verdict.verdict == "error" and "float" in str(verdict.reason)
