"""The memory of a local variable is given back where its block is left, in whatever way."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.printer import to_source

PROGRAM = """#include <shmem.h>
static long x, y, z[3];
static void helper(int other, int early) {{ {helper} }}
int main(void) {{ shmem_init(); int me = shmem_my_pe(), other = 1 - me;
  if (me == 0) {{ {body} }}
  shmem_quiet(); shmem_barrier_all(); return 0; }}
"""
PUT = "shmem_long_put_nbi(&x, t, 1, other); {wait}"
WAYS = {
    "end": "{{ long t[1] = {{5}}; {put} }}",
    "end of an if": "if (other) {{ long t[1] = {{5}}; {put} }}",
    "end of a for": "for (long t[1] = {{5}}, i = 0; i < 2; i++) {{ {put} }}",
    "next iteration": "for (int i = 0; i < 2; i++) {{ long t[1] = {{i + 5}}; {put} }}",
    "next iteration, nobody knows of how many": "do {{ long t[1] = {{5}}; {put} }} while (shmem_long_g(&y, 0));",
    "continue": "for (int i = 0; i < 2; i++) {{ long t[1] = {{5}}; if (i == 0) {{ {put} continue; }} t[0] = 6; }}",
    "break": "for (;;) {{ long t[1] = {{5}}; if (other) {{ {put} break; }} t[0] = 6; }}",
    "break of a switch": "switch (other) {{ case 1: {{ long t[1] = {{5}}; {put} break; }} default: y = 1; }}",
    "goto forward": "{{ long t[1] = {{5}}; {put} goto out; }} out: y = 1;",
    "goto forward out of two": "{{ long t[1] = {{5}}; {{ long u[1]; u[0] = 2; {put} goto out; }} }} out: y = 1;",
    "goto back": "int i = 0; again: if (i < 2) {{ long t[1] = {{5}}; i++; {put} goto again; }}",
    "do while": "int i = 0; do {{ long t[1] = {{5}}; {put} }} while (++i < 2);",
    "a value of a block": "y = ({{ long t[1] = {{5}}; {put} t[0]; }});",
    "an address": "{{ long v = 5, *t = &v; {put} }}",
    "a literal": "{{ long *t = (long[1]){{5}}; {put} }}",
}


def verdict(body: str, helper: str = "") -> str:
    return check(parse_c(PROGRAM.format(body=body, helper=helper)), 2).verdict


@pytest.mark.parametrize("way", WAYS)
def test_a_source_is_gone_when_its_block_is_left(way: str) -> None:
    assert verdict(WAYS[way].format(put=PUT.format(wait=""))) == "not robust"
    assert verdict(WAYS[way].format(put=PUT.format(wait="shmem_quiet();"))) == "robust"


FIXED, SIZED = "long t[1] = {5};", "long t[other]; t[0] = 5;"


@pytest.mark.parametrize("way", ["end", "break", "goto forward", "goto forward out of two", "goto back", "do while"])
def test_a_source_of_a_length_that_is_computed_is_gone_as_well(way: str) -> None:
    for wait, expected in (("", "not robust"), ("shmem_quiet();", "robust")):
        assert verdict(WAYS[way].format(put=PUT.format(wait=wait)).replace(FIXED, SIZED)) == expected


def test_what_is_allocated_on_the_stack_lives_until_the_function_returns() -> None:
    for memory in (SIZED, "long *t; { t = __builtin_alloca(8 * other); } t[0] = 5;"):
        for wait, expected in (("", "not robust"), ("shmem_quiet();", "robust")):
            assert (
                verdict("helper(other, 1);", f"{memory} {PUT.format(wait=wait)} if (early) return; y = 1;") == expected
            )
        assert verdict(f"{memory} helper(other, 1); {PUT.format(wait='')} shmem_quiet();", SIZED) == "robust"


@pytest.mark.parametrize("leave", ["return;", "if (early) return; y = 1;", "for (;;) { if (early) return; }"])
def test_a_source_is_gone_when_a_function_returns_from_within_a_block(leave: str) -> None:
    for wait, expected in (("", "not robust"), ("shmem_quiet();", "robust")):
        body = f"{{ long t[1] = {{5}}; {PUT.format(wait=wait)} {leave} }}"
        assert verdict("helper(other, 1);", body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "static long t[1] = {5}; " + PUT,
        "long t[1] = {5}; if (other) { long u[1] = {3}; y = u[0]; " + PUT + " }",
        "{ static long t[1]; t[0] = 5; " + PUT + " }",
        "long t[1] = {5}; for (int i = 0; i < 2; i++) { if (i) break; " + PUT + " continue; }",
        "long t[1] = {5}; goto in; { long u[1]; in: u[0] = 3; y = u[0]; " + PUT + " }",
        "{ long t[1] = {5}; " + PUT + " shmem_quiet(); shmem_long_put_nbi(&z[1], &y, 1, other); }",
    ],
)
def test_what_lives_on_stays_what_it_is(body: str) -> None:
    assert verdict(body.replace("{wait}", "") + " shmem_quiet();") == "robust"


def test_the_run_ends_where_main_returns_from_a_block() -> None:
    text = PROGRAM.format(body="{ long t[1] = {5}; " + PUT.format(wait="") + " return 0; }", helper="")
    assert check(parse_c(text), 2).verdict == "robust"


def test_a_block_that_is_entered_again_begins_anew() -> None:
    """Each time it has another variable, so that states are alike at the head of the loop; what it held is gone."""
    text = """#include <shmem.h>
        static long x; int main(void) { shmem_init();
        for (int i = 0; i < 3; i++) { long t[2]; if (i == 0) t[0] = 7; t[1] = i; shmem_long_p(&x, t[%d], 0); } }"""
    assert "set, 2, 0, x" in to_source(parse_c(text % 1).program(1))
    assert check(parse_c(text % 0), 1).verdict == "error"


def test_a_struct_that_a_block_has_for_a_value_is_copied() -> None:
    text = """#include <shmem.h>
        struct pair { long a, b; }; static long x; int main(void) { shmem_init();
        struct pair p = ({ struct pair q = {3, 4}; q; }); shmem_long_p(&x, p.b, 0); }"""
    assert "set, 4, 0, x" in to_source(parse_c(text).program(1))
