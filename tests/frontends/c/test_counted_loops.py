"""Loops with more iterations than are executed end at once; how many are left is never said to be more than it is."""

from __future__ import annotations

import operator
from random import Random

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c import merge_points
from pgasrob.frontends.c.code import LoopHead
from pgasrob.frontends.c.counted_loops import CountedLoop, counted_loop
from pgasrob.frontends.c.values import Known
from pgasrob.frontends.lower import parse_c
from tests.support import examples

FRAME = """#include <shmem.h>
#include <stdlib.h>
static long twice(long k) {{ return 2 * k; }} static int ends(void) {{ shmem_finalize(); exit(0); }}
static int over(long k) {{ if (k > 9000) ends(); return twice(k); }}
static long table[1 << 28]; static int x, small[8];
int main(void) {{ shmem_init(); int n = 1 << 28; long found = 0; {}
  shmem_long_p(&table[5], 1, 1); shmem_finalize(); }}"""


def loop_of(body: str) -> CountedLoop | None:
    unit = parse_c(FRAME.format(body)).compiled.unit
    function = unit.functions["main"]
    head = next(place for place, each in enumerate(function.code) if isinstance(each, LoopHead))
    end = max(place for place, each in enumerate(function.code) if getattr(each, "to", None) == head)
    return counted_loop(function, head, end, unit.functions)


LONG = [
    "for (long i = 0; i < (1 << 28); i++) table[i] = i;",
    "for (int i = 0; i < n; i += 2) { if (i % 3) table[i] = 1; else table[i] = 2; }",
    "for (int i = n - 1; i >= 0; --i) table[i] = 3;",
    "int i = 0; while (i != n) table[i++] = 3;",
    "for (long i = 0; i < n; i++) table[i] = rand();",
    "for (long i = 0; i < n; i++) table[i] = twice(i);",
    "for (unsigned i = 0; i <= n / 2 - 1u; i++) table[i] = 3;",
]


@pytest.mark.parametrize("body", LONG)
def test_a_loop_that_is_too_long_ends_at_once(body: str) -> None:
    assert loop_of(body) is not None
    with pytest.raises(SourceError) as raised:
        parse_c(FRAME.format(body)).program(2)
    (problem,) = raised.value.diagnostics
    assert problem.code == "PG141" and "rank 0 goes through a loop at least" in problem.message


@pytest.mark.parametrize(
    "body",
    [
        "for (long i = 0; i < (1 << 28); i++) if (i == 9000) break;",
        "for (long i = 0; i < (1 << 28); i++) { if (i == 9000) i = 1 << 28; x = 1; }",
        "for (long i = 0; i < n; i++) { if (i == 9000) n = 1; x = 1; }",
        "for (long i = 0; i < (1 << 28); i++) { if (i == 9000) goto over; x = 1; } over:",
        "for (long i = 0; i < (1 << 28); i++) if (i == 9000) { shmem_finalize(); return 0; }",
        "long step = 1; for (long i = 0; i < (1 << 28); i += step) if (i > 9000) step = 1 << 27;",
        "for (long i = 0, k = 9000; i < (1 << 28); i = k ? i + 1 : 1 << 28) k--;",
        "for (long i = 1; i < (1 << 28); i += i) found++;",
        "for (long i = -9000; i < (1 << 28); i = -i + 1) if (i > 1) i = 1 << 28;",
        "for (int i = 0; i < 9000; i++) small[i % 8] = i;",
    ],
)
def test_what_may_end_early_is_executed(body: str) -> None:
    loop = loop_of(body)
    assert loop is None or "i < 9000;" in body
    assert parse_c(FRAME.format(body)).program(2)


def test_a_call_may_end_the_run() -> None:
    assert loop_of("for (long i = 0; i < n; i++) if (over(i) > 9) x = 1;") is None


def test_a_loop_is_looked_at_where_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is executed already counts, and a loop that comes close to the end is executed."""
    body = "for (int i = 0; i < 9000; i++) small[i % 8] = i;"
    for most, fails in ((200_000, False), (60_000, True)):
        monkeypatch.setattr(merge_points, "MOST_INSTRUCTIONS", most)
        if fails:
            with pytest.raises(SourceError, match="at least 9,"):
                parse_c(FRAME.format(body)).program(2)
        else:
            parse_c(FRAME.format(body)).program(2)


def test_what_is_left_is_never_too_much() -> None:
    relations = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}
    choose, exact = Random(7), 0
    for _ in range(examples(400, nightly=20_000)):
        start, bound, step = choose.randint(-20, 20), choose.randint(-20, 20), choose.randint(-4, 4)
        relation, sign = choose.choice([*relations]), choose.choice((1, -1))
        passes, counter = 0, start
        while relations[relation](counter, bound) and passes < 99:
            counter, passes = counter + sign * step, passes + 1
        left = CountedLoop(0, relation, 1, 2, sign, 4).left([Known(start), Known(bound), Known(step)])
        assert left <= passes
        exact += passes - 1 <= left and left > 0
    assert exact > 60
