"""Random numbers, and what assumed-pure functions return: all that they may be counts, and no more than must be chosen.

`CARELESS` is not robust, and nothing else in these programs is wrong: so the verdict says whether it can be reached.
"""

from __future__ import annotations

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.robustness.reasons import ValueForgotten, ValuesSetFree
from tests.frontends.apis.lowering import printed

CARELESS = """{ if (me == 0) { shmem_int_p(&data, 1, 1); shmem_int_p(&flag, 1, 1); }
    else if (me == 1) { int f = flag, d = data; shmem_int_p(&seen, f + 2 * d, 0); } }"""
PURE = ("compute", "weigh", "find", "both", "small")


def source(body: str) -> str:
    return f"""#include <assert.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
static int data, flag, seen, first, x, y, cells[8], large[100];
struct pair {{ int first; long second; }};
int compute(int); double weigh(void); int *find(void); struct pair both(void); signed char small(void);
int main(void) {{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    {body.replace("CARELESS", CARELESS)}
}}
"""


def verdict(body: str, nodes: int = 2) -> Verdict:
    return check(parse_c(source(body), "test.c", FrontEnd(pure=PURE)), nodes, effect=False)


def lowered(body: str, nodes: int = 2) -> str:
    return printed(parse_c(source(body), "test.c", FrontEnd(pure=PURE)).program(nodes))


REACHED = {
    "a condition": "if (rand() % 10 == 7) CARELESS",
    "the same with a smaller number": "if (rand() % 10 == 3) CARELESS",
    "a large number": "if (rand() > 1000000) CARELESS",
    "a negation": "if (!(rand() != 77)) CARELESS",
    "and": "int r = rand(); if (r > 10 && r < 12) CARELESS",
    "two numbers": "if (rand() - rand() == 11) CARELESS",
    "a switch": "switch (rand() % 100) { case 1: break; case 64: CARELESS break; default: ; }",
    "the rest of a switch": "switch (rand()) { case 0: case 1: case 2: case 3: break; default: CARELESS }",
    "?:": "int c = rand() % 100 > 50 ? 9 : 4; if (c == 9) CARELESS",
    "a loop bound": "int k = 0; for (int i = 0; i < rand() % 10; i++) k++; if (k == 9) CARELESS",
    "a large loop bound": "int most = rand(), k = 0; while (k < most) k++; if (k > 20) CARELESS",
    "a sum": "int s = 0; for (int i = 0; i < 20; i++) s += rand() % 3; if (s == 37) CARELESS",
    "a value computed from it": "int r = rand(), s = r * 7 % 50; if (s == 49) CARELESS",
    "a double": "double r = rand() / (RAND_MAX + 1.0); if (r > 0.999) CARELESS",
    "drand48": "if (drand48() > 0.9) CARELESS",
    "a large bit": "if (rand() & 1024) CARELESS",
    "a struct": "struct pair s; s.first = rand() % 10; s.second = 3; if (s.first == 9) CARELESS",
    "a static": "static int kept; kept = rand() % 10; if (kept == 9) CARELESS",
    "an array": "int a[3]; for (int i = 0; i < 3; i++) a[i] = rand(); if (a[2] == 9 && a[1] == 17) CARELESS",
    "a copy": "int r = rand(), s; memcpy(&s, &r, sizeof s); if (s == 12) CARELESS",
    "stored and loaded": "x = rand() % 10; shmem_int_get(&y, &x, 1, me); if (y == 7) CARELESS",
    "a large one stored and loaded": "x = rand(); shmem_int_get(&y, &x, 1, me); if (y == 7777) CARELESS",
    "stored at another rank": """shmem_int_p(&x, rand() % 100, 1 - me); shmem_barrier_all();
        if (x == 55) CARELESS""",
    "a piece of what is put": """int a[3]; for (int i = 0; i < 3; i++) a[i] = rand();
        shmem_int_put(cells, a, 3, 1 - me); shmem_barrier_all(); if (cells[2] == 55) CARELESS""",
    "passed on": """shmem_int_p(&x, rand() % 100, 1 - me); shmem_barrier_all();
        shmem_int_put(&y, &x, 1, 1 - me); shmem_barrier_all(); if (y == 55) CARELESS""",
    "an await of a large number": """shmem_int_p(&x, rand(), me);
        shmem_int_wait_until(&x, SHMEM_CMP_EQ, 40); CARELESS""",
    "an await of a small number": """shmem_int_p(&x, rand() % 8, me);
        shmem_int_wait_until(&x, SHMEM_CMP_EQ, 7); CARELESS""",
    "an atomic's result": """shmem_int_atomic_set(&x, rand(), me); shmem_quiet();
        if (shmem_int_atomic_fetch(&x, me) == 49) CARELESS""",
    "what a compare-and-swap expects": """shmem_int_p(&x, 9, me); shmem_barrier_all();
        shmem_int_atomic_compare_swap(&x, rand() % 10, 5, me); if (x == 5) CARELESS""",
    "an index": "int a[10] = {0}; a[rand() % 10] = 1; if (a[8]) CARELESS",
    "a table": "int a[10] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0}; if (a[rand() % 10]) CARELESS",
    "a register in a loop": """int s = 0; while (!shmem_int_g(&x, 0)) { s += rand() % 2; if (s == 40) break; }
        if (s == 40) CARELESS""",
    "seconds and their fractions": """struct timeval t; gettimeofday(&t, NULL);
        if (t.tv_sec > 5 && t.tv_usec < 5) CARELESS""",
    "an assumed-pure function": "if (compute(3) == -5) CARELESS",
    "an assumed-pure function of few values": "if (small() == -100) CARELESS",
    "an assumed-pure function on doubles": "if (weigh() > 2.5) CARELESS",
    "an assumed-pure function that gives a pointer": "if (find()) CARELESS",
    "an assumed-pure function that gives a struct": "if (both().second == 8) CARELESS",
}


@pytest.mark.parametrize("body", REACHED.values(), ids=REACHED)
def test_every_value_counts(body: str) -> None:
    assert verdict(body).verdict == "not robust"


def test_every_value_of_an_operand_counts() -> None:
    """Both ranks look at what the atomics make of such values, and nothing says which they are together."""
    found = verdict("shmem_int_atomic_add(&x, rand() % 50, me); shmem_quiet(); if (x == 49) CARELESS")
    assert found.verdict == "unknown" and isinstance(found.reason, ValuesSetFree)


EXCLUDED = {
    "the same condition goes the same way": "int r = rand(); if (r == 5) x = 1; if (r != 5 && r == 5) CARELESS",
    "it is the constant": "int r = rand(); if (r == 5) { if (r % 4 != 1) CARELESS }",
    "it lies in between": "int r = rand(); if (r > 5) { if (r < 3) CARELESS }",
    "of a remainder too": "int r = rand() % 10; switch (r) { case 3: if (r > 5) CARELESS }",
    "all that is left": "int r = rand() % 3; if (r != 0 && r != 1) { if (r != 2) CARELESS }",
    "it is not more than it can be": "if (rand() % 10 > 9) CARELESS",
    "nor less": "if (rand() < 0) CARELESS",
    "a remainder of what is not negative": "if (rand() % n < 0 || rand() % n >= n) CARELESS",
    "a fraction": "int i = (int)(rand() / (RAND_MAX + 1.0) * n); if (i < 0 || i >= n) CARELESS",
    "few values in a cell are chosen": """x = rand() % 3; shmem_int_get(&y, &x, 1, me);
        if (y != 0 && y != 1 && y != 2) CARELESS""",
    "all take the way that one has drawn": """if (me == 0) x = rand() % 2; shmem_barrier_all();
        int c = shmem_int_g(&x, 0); shmem_barrier_all(); if (c != 0 && c != 1) CARELESS""",
}


@pytest.mark.parametrize("body", EXCLUDED.values(), ids=EXCLUDED)
def test_what_no_value_does_is_not_done(body: str) -> None:
    assert verdict(f"shmem_int_p(&first, 1, me); {body}").verdict == "robust"


def test_a_rank_is_any_that_there_is() -> None:
    body = """int to = rand() % n; if (me == 0) { shmem_int_p(&data, 1, to); shmem_int_p(&flag, 1, to); }
        else if (me == 5) { int f = flag, d = data; shmem_int_p(&seen, f + 2 * d, 0); }"""
    assert verdict(body, 6).verdict == "not robust"
    assert verdict(body.replace("me == 5", "me == 5 && n == 5"), 6).verdict == "robust"


def test_an_address_is_any_of_the_object() -> None:
    body = """int at = rand() % 8; if (me == 0) { shmem_int_p(&data, 1, 1); shmem_int_p(&cells[at], 1, 1); }
        else { int f = cells[6], d = data; shmem_int_p(&seen, f + 2 * d, 0); }"""
    assert verdict(body).verdict == "not robust"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cells[rand() % 9] = 1; shmem_int_p(&x, cells[2], 0);", "error"),
        ("cells[rand()] = 1; shmem_int_p(&x, cells[2], 0);", "error"),
        ("int r = rand(); if (r < 8) { cells[r] = 1; shmem_int_p(&x, cells[2], 0); }", "robust"),
        ("shmem_int_p(&x, 1, rand() % 3);", "error"),
        ("shmem_int_p(&x, 1, rand());", "error"),
        ("int r = rand() % 1000; if (r < n) shmem_int_p(&x, 1, r);", "robust"),
        ("shmem_int_p(&x, 10 / rand(), 0);", "error"),
        ("shmem_int_p(&x, 10 / (rand() % 4 + 1), 0);", "robust"),
        ("int r = rand(); if (r) shmem_int_p(&x, 10 / r, 0);", "robust"),
        ("shmem_int_p(&x, 1 << rand(), 0);", "error"),
        ("shmem_int_p(&x, 1 << rand() % 8, 0);", "robust"),
        ("int r = compute(1); if (r + n < 8 && r + me >= 0) cells[r] = 1; shmem_int_p(&x, cells[1], 0);", "error"),
    ],
)
def test_what_is_out_of_range_is_a_fault(body: str, expected: str) -> None:
    assert verdict(body).verdict == expected


@pytest.mark.parametrize(
    "body",
    [
        "int r = rand(); cells[r & 7] = 1; if ((r & 7) == 4) shmem_int_p(&x, 10 / (r % 7 & 4), 0);",
        "int r = rand(); shmem_int_p(&x, 10 / ((r % 8 * 2 + 1) % 4), 0);",
        "int r = rand(); cells[(r & 12 & 3) + 7] = 1; shmem_int_p(&x, cells[2], 0);",
        "int r = rand(); cells[(r & 6) % 4 + 5] = 1; shmem_int_p(&x, cells[2], 0);",
    ],
)
def test_a_value_that_no_run_comes_to_is_no_fault(body: str) -> None:
    """Bounds alone do not say that a computation comes to all the values between them, nor to them."""
    assert verdict(body).verdict == "unknown"


UNFOLLOWED = {
    "a size": ("shmem_int_put(large, large, rand(), me);", "argument 3 `rand()` of `shmem_int_put`"),
    "a pointer": ("int *p = find(); if (p) *p = 4; shmem_int_p(&x, 1, 0);", "memory is set through a pointer"),
    "a place that may be outside": (
        "int r = compute(1); if (r + compute(2) < 8 && r >= 0 && r < 9) cells[r] = 1; shmem_int_p(&x, cells[1], 0);",
        "an index is an unknown value, which may be out of range",
    ),
    "a divisor": (
        "int r = rand(); if (r % 7) shmem_int_p(&x, 10 / r, 0);",
        "the right side of `/` is an unknown value",
    ),
}


@pytest.mark.parametrize(("body", "reason"), UNFOLLOWED.values(), ids=UNFOLLOWED)
def test_what_is_not_followed_is_unknown(body: str, reason: str) -> None:
    found = verdict(f"{body} shmem_barrier_all(); assert(me < n);")
    assert found.verdict == "unknown" and reason in str(found.reason)
    assert "line 14" in str(found.reason)
    # Nothing is said of the runs that are not followed, but that one of the others is wrong is so.
    assert found.assertions == "unknown" and found.deadlock == "unknown"
    assert verdict(f"if (rand() == 12) CARELESS {body}").verdict == "not robust"
    text = to_source(parse_c(source(body), "test.c", FrontEnd(pure=PURE)).program())
    assert text.startswith("// Not all runs are here, so this is not `robust`: line 14: ") and reason in text


def test_a_size_of_few_values_is_each_of_them() -> None:
    body = """int k = rand() % 3 + 1; if (me == 0) { shmem_int_put(cells, large, k, 1); shmem_int_p(&flag, 1, 1); }
        else { int f = flag, d = cells[2]; shmem_int_p(&seen, f + 2 * d, 0); }"""
    assert verdict(body).verdict == "not robust"
    assert verdict(body.replace("% 3 + 1", "% 2 + 1")).verdict == "robust"


def test_arguments_of_which_an_api_makes_cases() -> None:
    """MPI tells ranks and displacements apart, and what is none of them is a fault."""
    text = """#include <mpi.h>
#include <stdlib.h>
static int x[4], v;
int main(int argc, char **argv) {
    int rank, r;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(&v, 1, MPI_INT, RANK, PLACE, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (rank == 0) { r = rand(); MPI_Send(&r, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
    else if (rank == 1) {
        MPI_Recv(&r, 1, MPI_INT, rand() % 2 ? MPI_ANY_SOURCE : 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (r == 123456 && OUTSIDE) MPI_Put(&v, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
    }
}
"""

    def found(rank: str, place: str, outside: int = 0) -> str:
        defines = (("RANK", rank), ("PLACE", place), ("OUTSIDE", str(outside)))
        return check(parse_c(text, options=FrontEnd(defines=defines)), 2, effect=False).verdict

    assert found("rand() % 2", "rand() % 4") == "robust"
    assert found("rand() % 3", "rand() % 4") == "error"
    assert found("rand() % 2", "rand() % 5") == "error"
    assert found("rand() % 2", "rand()") == "unknown"
    assert found("rand() % 2", "rand() % 4", 1) == "error"


def test_a_choice_does_not_get_into_the_way_of_an_earlier_one() -> None:
    """Both are for variables that get their registers at the head of one loop, and the first is needed until then."""
    body = """int i = rand() % 4; cells[i] = 1; shmem_int_p(&x, cells[0], me); shmem_quiet();
        int a = i + 1, s = shmem_int_g(&y, me) + rand() % 2;
        for (int k = 0; k < 2; k++) shmem_quiet();
        if (s == 1) shmem_quiet();
        if (a == 4) CARELESS"""
    assert verdict(body).verdict == "not robust"
    assert verdict(body.replace("a == 4", "a == 5")).verdict == "robust"


def test_what_is_mixed_with_what_is_loaded_is_chosen_too() -> None:
    body = """static int kept; kept = shmem_int_g(&y, me) + rand() % 2;
        if (kept == WANTED) CARELESS shmem_int_p(&seen, kept, 0);"""
    assert verdict(body.replace("WANTED", "1")).verdict == "not robust"
    assert verdict(body.replace("WANTED", "2")).verdict == "robust"


def test_what_is_only_moved_costs_nothing() -> None:
    body = """int mine[100]; for (int i = 0; i < 100; i++) mine[i] = rand() % 4;
        shmem_int_put(large, mine, 100, 1 - me); shmem_barrier_all();
        int sum = 0; for (int i = 0; i < 100; i++) sum += large[i]; printf("%d", sum);"""
    assert "choose" not in lowered(body)
    found = verdict(body)
    assert (found.verdict, found.stats.states) == ("robust", 16)  # of the elements, two stand for all


def test_a_few_values_are_chosen_where_they_decide_something() -> None:
    body = "x = rand() % 2; cells[0] = rand() % 2; shmem_int_get(&y, &x, 1, me); shmem_int_p(cells, cells[0], 1 - me);"
    assert "choose" not in lowered(body)
    assert lowered(f"{body} if (y) shmem_int_p(&seen, 1, 0);").count("<- 1;\n  } or") == 0
    assert lowered(f"{body} if (y) shmem_int_p(&seen, 1, 0);").count("choose") == 2


def test_a_rank_may_be_stuck_on_the_way_that_it_has_drawn() -> None:
    body = "if (rand() % 2) { shmem_int_p(&x, 1, 1 - me); shmem_int_wait_until(&x, SHMEM_CMP_EQ, 1); }"
    assert verdict(body).deadlock is True
    assert verdict(body.replace("rand() % 2", "rand() % 2 < 2")).deadlock is False


def test_few_values_that_are_reduced_are_chosen_before_what_decides_is_known() -> None:
    text = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int v = rand() % 2, s;
    MPI_Allreduce(&v, &s, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (s) MPI_Barrier(MPI_COMM_WORLD); else if (v) MPI_Barrier(MPI_COMM_WORLD);
}
"""
    assert check(parse_c(text), 2).deadlock is False


def test_a_rank_may_be_stuck_in_a_call_with_what_it_has_drawn() -> None:
    """Each of two ranks may take the other one for the root, and wait for it."""
    text = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    x = rank;
    MPI_Bcast(&x, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
}
"""
    for root, deadlock in (("rand() % 2", True), ("1 - rank", True), ("rank", False), ("rand() % 1", False)):
        found = check(parse_c(text, options=FrontEnd(defines=(("ROOT", root),))), 2)
        in_any_case = found.deadlock is True and found.strict_waits is None
        assert (found.verdict, in_any_case) == ("robust", deadlock)
        assert bool(found.deadlock) == (root != "rand() % 1")  # who waits for all finds that roots differ


def test_nobody_knows_whether_an_await_of_an_unknown_value_ends() -> None:
    body = "shmem_int_p(&x, rand(), 1 - me); shmem_int_wait_until(&x, SHMEM_CMP_NE, 0);"
    assert verdict(body).deadlock == "unknown"


def test_assertions_on_unknown_values() -> None:
    send = "shmem_int_p(&x, 1, 0);"
    assert verdict(f"{send} assert(rand() != 77);").assertions == "violated"
    assert verdict(f"{send} int r = rand() % 5; assert(r >= 0 && r < 5);").assertions != "violated"
    stored = "shmem_int_p(&x, rand(), me); shmem_quiet();"
    assert verdict(f"{stored} assert(x != 77);").assertions == "violated"


ROUND = "int v = rand() % 100; shmem_int_p(&x, v, PEER); shmem_barrier_all();"
SUM = """int v = 1 + rand() % 90, all; x = v; shmem_barrier_all();
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &y, &x, 1); all = y;"""
ASSERTIONS = {
    "the range of what was put": (ROUND + "assert(x >= 0 && x < 100);", "hold"),
    "what may have been put": (ROUND + "assert(x != 77);", "violated"),
    "what is not put": (ROUND + "assert(x != 777);", "hold"),
    "what is certainly wrong": (ROUND + "assert(x > 100);", "violated"),
    "what was put, read twice": (ROUND + "int r = x; shmem_barrier_all(); assert(r <= 5 || x > 5);", "hold"),
    "handed on": ("if (me == 0) first = rand() % 9; shmem_barrier_all(); x = shmem_int_g(&first, 0); "
                  "shmem_barrier_all(); int r = shmem_int_g(&x, 1); assert(r != 4);", "violated"),
    "after a condition": (ROUND + "if (x > 50) assert(x > 40);", "hold"),
    "the value itself": (ROUND + "assert(x == v);", "unknown"),
    "computed of the value": (ROUND + "assert(2 * x == v + v);", "unknown"),
    "what is added to": ("shmem_int_atomic_add(&x, rand() % 90, 0); shmem_barrier_all(); assert(x >= 0);", "unknown"),
    "a sum": (SUM + "assert(all > 0);", "unknown"),
    "a sum that is put on": (SUM + "if (me == 0) first = all; shmem_barrier_all(); "
                             "int r = shmem_int_g(&first, 0); assert(r > 0);", "unknown"),
    "one that fails beside it": (ROUND + "assert(x == v); assert(v != 3);", "violated"),
    "of known values": (ROUND + "assert(x == v); assert(n == 3);", "violated"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASSERTIONS)
def test_an_assertion_is_not_said_to_fail_for_values_that_no_run_may_have(name: str) -> None:
    body, answer = ASSERTIONS[name]
    for peer in ("me", "1 - me"):
        found = verdict(body.replace("PEER", peer))
        assert found.assertions == answer
        assert isinstance(found.reason, ValueForgotten) == (answer == "unknown")


def test_the_text_has_the_same_verdict() -> None:
    for body in REACHED["a condition"], REACHED["stored and loaded"], EXCLUDED["few values in a cell are chosen"]:
        assert check(parse(lowered(body))).verdict == verdict(body).verdict
