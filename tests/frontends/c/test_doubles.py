"""Which cells and registers of a C program are known to hold doubles."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c

HEAD = """
#include <shmem.h>
#include <stdlib.h>
double d, e[2]; float f; long n; struct { double x; long y; } s;
int main(void) {
  shmem_init(); int me = shmem_my_pe(), other = 1 - me;
"""
BODIES = {
    "shmem_double_p(&d, 3.5, other);": {"d"},
    "shmem_double_p(&d, 0.0, other);": {"d"},
    "shmem_float_p(&f, 0.5f, other);": {"f"},
    "shmem_long_p(&n, 4607182418800017408, other);": set(),  # an integer that is as large as 1.0
    "shmem_double_put(e, e, 2, other); double v = e[1]; shmem_double_p(&d, v * 2, other);": {"d", "e", "v"},
    "double v = d; int k = v > 1; shmem_long_p(&n, k, other); shmem_double_p(&d, v, other);": {"d", "v"},
    "shmem_double_p(&s.x, 1.5, other); shmem_long_p(&s.y, 7, other);": {"s.x"},
    "double v = shmem_double_g(&d, other); long k = shmem_long_g(&n, other);"
    " shmem_double_p(&d, v, me); shmem_long_p(&n, k, me);": {"d", "v"},
    # Used both ways: an integer stays one, and what it gets into.
    "shmem_long_p((long *) &d, 5, other);": set(),
    "shmem_long_atomic_add((long *) &d, 1, other); double v = d; shmem_double_p(&d, v, other);": set(),
    "shmem_double_p(&d, 1.0, other); shmem_putmem(&d, &n, 8, other);": set(),
    "double *p = shmem_malloc(16); shmem_double_p(p, 1.5, other); shmem_double_p(&p[1], 2.5, other);": {"p"},
}


@pytest.mark.parametrize(("body", "names"), BODIES.items())
def test_doubles(body: str, names: set[str]) -> None:
    program = parse_c(f"{HEAD}{body} shmem_finalize(); return 0; }}", "test.c").program(2)
    known = {memory.name for memory in program.memory} | set(program.registers)
    assert names <= program.doubles <= known
    assert {name for name in program.doubles if name in {"d", "e", "f", "n", "s.x", "s.y", "v", "k", "p"}} == names


def test_a_name_of_a_cell_and_of_a_register() -> None:
    """Names tell both apart only when both hold doubles."""
    body = "long t = shmem_long_g(&n, other); shmem_long_p(&n, t, me); shmem_double_p(&d, 1.5, me);"
    text = f"{HEAD}{body} return 0; }}".replace(" d,", " t,").replace("&d", "&t").replace("long t", "long u")
    program = parse_c(text, "test.c").program(2)
    assert "t" in program.doubles
    text = f"double t; {HEAD.replace('double d,', 'double')} {{ {body} }} shmem_double_p(&t, 1.5, me); return 0; }}"
    program = parse_c(text.replace("shmem_double_p(&d, 1.5, me);", ""), "test.c").program(2)
    assert "t" in {memory.name for memory in program.memory} and "t" in program.registers
    assert "t" not in program.doubles
