"""Sorting and searching of what other ranks have put: in order, and no way more than there are elements."""

from __future__ import annotations

import random

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Load
from pgasrob.program.statements import Do, statements_in

PROGRAM = r"""
#include <assert.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
typedef struct { char tag; KEY key; short twin; } item;
static int up(const void *a, const void *b) { return *(const KEY *)a - *(const KEY *)b; }
static int down(const void *a, const void *b) {
  KEY x = *(const KEY *)a, y = *(const KEY *)b;
  if (x < y) return 1;
  return x > y ? -1 : 0;
}
static int signs(const void *a, const void *b) {
  const KEY *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}
static int either(const void *a, const void *b) {
  KEY x = *(const KEY *)a, y = *(const KEY *)b;
  return x < y ? -1 : x > y;
}
static int by_key(const void *a, const void *b) { return signs(&((const item *)a)->key, &((const item *)b)->key); }
static TYPE in[N];
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  TYPE source[N] = {VALUES};
  if (me == 0) shmem_putmem(in, source, sizeof in, 1);
  shmem_barrier_all();
  if (me == 1) {
    TYPE *r = malloc(sizeof in);
    memcpy(r, in, sizeof in);
    qsort(r, N, sizeof *r, COMPARE);
    CLAIMS
  }
  shmem_finalize();
}
"""


def text(values: list[int], compare: str, key: str, claims: str) -> str:
    of_items = compare == "by_key"
    shown = [f"{{1, {each}, {each % 100 + 7}}}" if of_items else str(each) for each in values]
    parts = {"VALUES": ", ".join(shown), "CLAIMS": claims, "COMPARE": compare, "KEY": key,
             "TYPE": "item" if of_items else key}  # fmt: skip
    whole = PROGRAM.replace("[N]", f"[{len(values)}]").replace("(r, N", f"(r, {len(values)}")
    for name, part in parts.items():
        whole = whole.replace(name, part)
    return whole


def claimed(values: list[int], compare: str) -> str:
    """What lies where, behind the sort."""
    member = ".key" if compare == "by_key" else ""
    wanted = sorted(values, reverse=compare == "down")
    equal = [f"r[{at}]{member} == {each}" for at, each in enumerate(wanted)]
    twins = [f"r[{at}].twin == {each % 100 + 7}" for at, each in enumerate(wanted)] if member else []
    return f"assert({' && '.join(equal + twins)});"


@pytest.mark.parametrize(
    ("compare", "key", "count"),
    [("up", "int", 9), ("down", "long", 6), ("signs", "double", 7), ("by_key", "int", 5), ("down", "short", 2),
     ("by_key", "double", 3), ("up", "char", 8), ("either", "int", 8)],
)  # fmt: skip
def test_what_has_been_put_is_sorted(compare: str, key: str, count: int) -> None:
    values = [random.Random(compare + key).randrange(-9, 10) for _ in range(count)]
    claims = claimed(values, compare)
    for claim, expected in ((claims, "hold"), (claims.replace("==", "!=", 1), "violated")):
        verdict = pgasrob.check(parse_c(text(values, compare, key, claim)), nodes=2, effect=False)
        assert (verdict.verdict, verdict.assertions) == ("robust", expected)


@pytest.mark.parametrize("compare", ["up", "down", "signs", "by_key"])
def test_the_code_is_as_long_as_the_network(compare: str) -> None:
    """63 comparisons for 16 elements, each with two loads of a key at least, and no way for every order."""
    program = parse_c(text([*range(16, 0, -1)], compare, "int", "")).program(2)
    commands = [each.command for each in statements_in(program.processes[1].body) if isinstance(each, Do)]
    assert 63 * 4 <= sum(isinstance(each, Load) for each in commands) < 63 * 25
    assert len(commands) < 63 * 45


def test_many_elements_are_in_any_order() -> None:
    """Their contents are unknown then, and the verdict says so."""
    program = parse_c(text([*range(200)], "up", "int", "")).program(2)
    assert "qsort" in str([each for each in program.assumptions if each.kind is Kind.UNKNOWN_VALUES]) or any(
        "__sorting" in str(each.about) for each in program.assumptions
    )


SEARCH = """KEY wanted = KEYED, *found = bsearch(&wanted, r, 9, sizeof(KEY), signs);"""


@pytest.mark.parametrize(("wanted", "place"), [(1, 0), (9, 8), (4, 3), (0, None), (10, None)])
def test_what_is_searched_is_found(wanted: int, place: int | None) -> None:
    values = [3, 1, 9, 2, 8, 4, 7, 6, 5]
    claim = "found == 0" if place is None else f"found == r + {place}"
    search = SEARCH.replace("KEYED", str(wanted))
    for truth, expected in ((claim, "hold"), (f"!({claim})", "violated")):
        verdict = pgasrob.check(
            parse_c(text(values, "signs", "int", f"{search} assert({truth});")), nodes=2, effect=False
        )
        assert verdict.assertions == expected


def test_a_search_among_many_has_a_way_for_each() -> None:
    """64 elements, and the ways between them."""
    body = text([*range(64)], "up", "int", SEARCH.replace("KEYED", "me + 40").replace("9", "64"))
    program = parse_c(body.replace("qsort(", "if (0) qsort(")).program(2)
    commands = [each.command for each in statements_in(program.processes[1].body) if isinstance(each, Do)]
    assert 64 < len(commands) < 1_000
