"""Expressions of an unknown value that stand in several places: the same values everywhere, and no others together."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from pgasrob import check
from pgasrob.frontends.c.choices import Choice, Way, ways, with_known
from pgasrob.frontends.c.nondeterminism import ANY, Bounds, Leaf
from pgasrob.frontends.lower import parse_c
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register, Unary, evaluator
from pgasrob.robustness.synchronisation import synchronised

INT32 = IntType(32, True)
K, ANYTHING = Leaf("k", -1, 0, 2**31 - 1), Leaf("l", -2, *ANY)
R, S = Register("r", 0), Register("s", 1)


def of(symbol: str, left: Expr, right: int) -> Binary:
    return Binary(symbol, left, Const(right), INT32)


@pytest.mark.parametrize(
    ("term", "other", "expected"),
    [
        (of("&", K, 3), of("&", K, 3), R),
        (of("&", K, 3), of("+", of("&", K, 3), 1), of("+", R, 1)),
        (of("&", K, 3), of("&", K, 1), of("&", R, 1)),
        (of("&", K, 3), of("&", K, 4), None),
        (of("&", K, 3), of("%", K, 4), of("%", R, 4)),
        (of("%", K, 12), of("%", K, 4), of("%", R, 4)),
        (of("%", K, 12), of("%", of("%", K, 24), 6), of("%", R, 6)),
        (of("%", K, 12), of("%", of("%", K, 8), 6), None),
        (of("%", K, 4), of("%", K, 12), None),
        (of("%", ANYTHING, 4), of("%", ANYTHING, 2), of("%", R, 2)),
        (of("%", ANYTHING, 4), of("&", ANYTHING, 3), None),  # of what may be negative
        (of("&", ANYTHING, 6), of("&", ANYTHING, 2), of("&", R, 2)),
        (of(">", K, 5), of("<=", K, 5), Unary("!", R)),
        (of(">", K, 5), of(">", K, 6), None),
    ],
)
def test_what_follows_from_a_term_that_is_known(term: Expr, other: Expr, expected: Expr | None) -> None:
    assert with_known(other, {term: R}) == (expected or other)


def test_what_is_said_goes_together_with_what_was_chosen() -> None:
    masked, above = of("&", K, 3), of(">", K, 9)
    choices = {masked: Choice(R, (0, 1, 2, 3)), above: Choice(S, (0, 1))}
    only = {masked: choices[masked]}
    assert ways(only, {}, of("%", K, 3), Bounds(1, 1)) == [Way(Const(1), False)]
    assert ways(only, {}, K, Bounds(6, 7)) == [
        Way(Binary("||", of2(R, 2), of2(R, 3)), False),
        Way(Binary("||", of2(R, 0), of2(R, 1)), True),
    ]
    assert ways({above: choices[above]}, {}, K, Bounds(20, 30)) == [Way(of2(S, 1), False)]
    (both,) = ways(choices, {}, of("%", K, 3), Bounds(1, 1))  # not 2 and at most 9
    assert not both.vain and sum(map(evaluator(both.condition), product(range(4), range(2)))) == 7
    assert ways({above: choices[above]}, {K: Bounds(0, 5)}, of("*", K, 3), Bounds(3, 3)) == [Way(of2(S, 0), False)]


def test_what_was_chosen_follows_from_what_is_chosen_now() -> None:
    choices = {of("&", K, 1): Choice(R, (0, 1)), of("<=", K, 5): Choice(S, (0, 1))}
    (way,) = ways({of("&", K, 1): choices[of("&", K, 1)]}, {}, of("&", K, 3), Bounds(3, 3))
    assert way == Way(of2(R, 1), False)
    (way,) = ways({of("<=", K, 5): choices[of("<=", K, 5)]}, {}, of(">", K, 5), Bounds(1, 1))
    assert way == Way(of2(S, 0), False)


def test_of_a_term_with_few_values_it_is_known_which_there_are() -> None:
    digit = of("%", K, 8)
    choices = {of(">>", digit, 2): Choice(R, (0, 1))}
    assert ways(choices, {}, digit, Bounds(5, 5)) == [Way(of2(R, 1), False)]
    assert ways({}, {of("&", digit, 5): Bounds(1, 1)}, of("&", digit, 7), Bounds(2, 2)) == []


def test_of_what_other_registers_hold_nothing_is_known() -> None:
    digit, other = of("%", K, 8), Register("other", 0)
    assert ways({}, {}, Binary("+", digit, other, INT32), Bounds(15, 15)) == [Way(Const(1), False)]
    assert ways({}, {}, Binary("+", digit, replace(other, index=5), INT32), Bounds(15, 15)) == [Way(Const(1), False)]


def test_of_many_values_together_nothing_is_known() -> None:
    choices = {of("%", K, 16): Choice(R, tuple(range(16))), of("%", K, 15): Choice(S, tuple(range(15)))}
    assert ways(choices, {}, K, Bounds(5, 5)) == [Way(Const(1), True)]
    assert ways(choices, {}, ANYTHING, Bounds(5, 5)) == [Way(Const(1), False)]


def of2(register: Register, value: int) -> Binary:
    return Binary("==", register, Const(value))


def answers(body: str) -> dict[str, str]:
    """What is said of the lines of a program with this ``body``."""
    text = f"""#include <shmem.h>
#include <stdlib.h>
#include <assert.h>
static int a[8], t[8], u[4] = {{0, 1, 0, 1}}; static long lk[4];
int main(void) {{ shmem_init(); int me = shmem_my_pe(), x = 0; shmem_barrier_all();
    {body}
    shmem_barrier_all(); shmem_finalize(); return 0; }}"""
    found = synchronised(check(parse_c(text, "test.c"), 2, effect=False))
    assert found is not None
    return {line.name: line.answer for line in found.lines}


K_IS = "int k = rand();"
TWICE = {
    "an index": "t[k & 3] = 9; assert(t[WHICH] == 9);",
    "a rank": "if (!me) { shmem_int_p(a, 5, k % 2); shmem_quiet(); assert(shmem_int_g(a, WHICH % 2) == 5); }",
    "in a loop": "for (int i = 0; i < 3; i++) t[k & 3]++; assert(t[WHICH] == 3);",
    "drawn in a loop": "for (int i = 0; i < 2; i++) { k = rand(); t[k & 3] = i + 1; assert(t[WHICH] == i + 1); }",
    "through a pointer": "int *p = &t[k % 4]; *p = 4; assert(t[WHICH] == 4);",
    "an index and a condition": "x = u[k & 3]; if (WHICH & 1) assert(x == 1); else assert(x == 0);",
}  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize(("which", "answer"), [("(k & 3)", "yes"), ("((k + 1) & 3)", "no")])
def test_one_expression_has_one_value(name: str, which: str, answer: str) -> None:
    assert answers(K_IS + TWICE[name].replace("WHICH", which))["assertions"] == answer


@pytest.mark.parametrize(
    ("body", "progress"),
    [
        (K_IS + "shmem_set_lock(&lk[k % 2]); shmem_clear_lock(&lk[k % 2]);", "yes"),
        (K_IS + "if (!me) shmem_int_p(a, k > 7, 1); shmem_barrier_all(); if (me ? a[0] : k > 7) shmem_barrier_all();",
         "yes"),
        (K_IS + "if (!me) shmem_int_p(a, k > 7, 1); shmem_barrier_all(); if (me ? a[0] : k <= 7) shmem_barrier_all();",
         "no"),
        (K_IS + "x = u[k & 1]; if (k & 1 ? x : !x) shmem_barrier_all(); else if (me) shmem_barrier_all();", "yes"),
    ],
)  # fmt: skip
def test_ranks_get_stuck_by_no_two_values_of_one_expression(body: str, progress: str) -> None:
    assert answers(body)["progress"] == progress


FORGOTTEN = "for (int i = 0; i < 8; i++) if (k > 10 * i) t[i] = 1;"


@pytest.mark.parametrize(
    ("body", "progress"),
    [
        (FORGOTTEN + "if (k > 10 && !t[1]) shmem_barrier_all();", "unknown"),
        ("int q = u[rand() & 3]; if (k > q) { if (k <= q) shmem_barrier_all(); }", "unknown"),
        ("int q = u[rand() & 3]; if (k > q) shmem_barrier_all();", "no"),
    ],
)
def test_what_was_said_of_a_value_and_is_not_known_any_more_is_a_doubt(body: str, progress: str) -> None:
    assert answers(K_IS + body)["progress"] == progress


def test_no_number_is_taken_that_sums_have_no_room_for() -> None:
    """`k + 1 <= 6` and `k > 5` have the greatest number, whose successor C does not have."""
    body = "if (!me) shmem_int_p(a, k + 1, 1); shmem_barrier_all(); if (me ? a[0] > 6 : k > 5) shmem_barrier_all();"
    assert answers(K_IS + body)["progress"] == "unknown"
    assert answers("unsigned k = rand();" + body.replace("k + 1", "k + 2147483649u"))["progress"] == "no"


CROSSED = "int v = rand(); shmem_int_p(a + me, v, 1 - me); shmem_barrier_all(); int o = a[1 - me];"


@pytest.mark.parametrize(
    ("condition", "progress"),
    [("v + o > 100", "unknown"), ("v == o", "unknown"), ("v > 100", "no"), ("!me && v + o > 100", "no")],
)
def test_a_value_that_was_sent_is_known_to_others(condition: str, progress: str) -> None:
    assert answers(CROSSED + f"if ({condition}) shmem_barrier_all();")["progress"] == progress


class Drawn:
    """A random program for rank 0 about an unknown value `k`."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.body = "if (!me) { " + " ".join(self.statement(0) for _ in range(self.pick.choice((2, 3, 4)))) + " }"

    def term(self) -> str:
        return self.pick.choice(
            ("(k & 1)", "(k & 3)", "(k % 2)", "(k % 3)", "(k % 4)", "(k % 6)", "(k > 5)", "(k < 9)", "(3 - (k & 3))",
             "((k & 3) ^ 1)", "((k + 1) & 3)", "((k >> 1) & 1)")
        )  # fmt: skip

    def condition(self) -> str:
        number, term = self.pick.randrange(3), self.term()
        return self.pick.choice((f"k > {number + 4}", f"{term} == {number}", term, f"{term} != {self.term()}"))

    def statement(self, depth: int) -> str:
        term, other, number = self.term(), self.term(), self.pick.randrange(3)
        if depth < 2 and self.pick.random() < 0.3:
            return f"if ({self.condition()}) {{ {self.statement(depth + 1)} }} else {{ {self.statement(depth + 1)} }}"
        return self.pick.choice(
            (f"t[{term}] = {number};", f"t[{term}]++;", f"assert(t[{term}] {self.pick.choice(('==', '<'))} {number});",
             f"x = u[{term} & 3];", f"assert(x == {term} % 2);", f"assert({self.condition()} || {self.condition()});",
             f"shmem_int_p(&a[{term} & 3], 1, {other} % 2); shmem_quiet();", f"x = shmem_int_g(&a[{term} & 3], 0);")
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_say_what_they_say_of_all_numbers(seed: int) -> None:
    """No alarm where no number gives one, and none missed that one gives; 24 numbers have all there is."""
    body = Drawn(seed).body
    found = answers(K_IS + body)
    told = [answers(f"int k = {number}; {body}") for number in range(24)]
    for line in found:
        bad = any(each.get(line) == "no" for each in told)
        assert found[line] in (("no", "unknown") if bad else ("yes", "unknown")), body
