"""Numbers for which conditions are true: those that are found are some, and nearly always some are found."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.c.nondeterminism import Bounds, Leaf, leaves
from pgasrob.frontends.c.witnesses import found_values, has_values, related
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.expressions import (
    INT32,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    Me,
    Register,
    Unary,
    evaluator,
    rewritten,
)
from pgasrob.robustness.reasons import NoValuesKnown
from tests.support import examples

A, B, C = (Leaf(name, -number, 0, 7) for number, name in enumerate("abc", 1))
PROGRAM = """#include <shmem.h>
#include <assert.h>
#include <math.h>
#include <stdlib.h>
static int x, flag;
int read_int(void); double read_double(void); unsigned read_unsigned(void);
int main(void) {
    shmem_init();
    int k = rand(), l = rand(), i = read_int(), j = read_int(), me = shmem_my_pe(); unsigned u = read_unsigned();
    double y = read_double(), z = read_double();
    shmem_barrier_all();
    if (me == 0) BODY
    shmem_finalize();
}
"""
PURE = ("read_int", "read_double", "read_unsigned")
NEVER = (
    "k / 2 > k", "k > l && l > k", "k > 3 && k < 2", "k % 2 == 0 && k % 2 == 1", "i < j && j < k && k < i",
    "u >= 10 && u / 10 == 0", "y > 3.0 && y < 2.0", "y > z && z > y", "sqrt(y) < -1", "fabs(y) < 0", "i * i == 3",
    "(i & 1) == 1 && i % 2 == 0", "exp(y) < 0", "floor(y) > y", "k / 4 * 4 > k", "k % 7 == 3 && (k + 1) % 7 == 5",
)  # fmt: skip
SOMETIMES = (
    "k / 2 > 100", "k > l && l > 5", "k > 3 && k < 5", "k % 3 == 2 && k % 5 == 4", "i < j && j < k && k < l",
    "u >= 10 && u / 10 == 1", "y > 3.0 && y < 3.5", "y > z && z > y - 1e-3", "sqrt(y) > 4 && y < 17", "fabs(y) < 1e-9",
    "i * i == 49", "(i & 1) == 1 && i % 3 == 0", "exp(y) < 1e-3", "floor(y) < y && y > 9.5",
    "y + z == 10 && y - z == 2", "(i ^ j) == 1234", "k * 31 % 17 == 5", "(i & 12) == 8 && (i & 2) == 2",
    "isnan(y)", "hypot(y, 3) > 5",
)  # fmt: skip


def verdict(body: str) -> Verdict:
    return check(parse_c(PROGRAM.replace("BODY", body), "test.c", FrontEnd(pure=PURE)), 2, effect=False)


@pytest.mark.parametrize("condition", NEVER)
def test_what_no_values_satisfy_shows_nothing(condition: str) -> None:
    found = verdict(f"{{ if ({condition}) assert(0); if ({condition}) shmem_barrier_all(); }}")
    assert found.assertions != "violated" and found.deadlock is not True
    assert found.reason is None or isinstance(found.reason, NoValuesKnown)
    assert (found.reason is None) == (found.deadlock is False)


@pytest.mark.parametrize("condition", SOMETIMES)
def test_what_some_values_satisfy_is_found(condition: str) -> None:
    assert verdict(f"if ({condition}) {{ assert(0); }}").assertions == "violated"
    assert verdict(f"if ({condition}) shmem_barrier_all();").deadlock is True


@pytest.mark.parametrize(("condition", "answer"), [("k / 2 > k", "unknown"), ("k / 2 > 3", "not robust")])
def test_nor_is_it_a_violation(condition: str, answer: str) -> None:
    sides = f"{{ if ({condition}) {{ shmem_int_p(&x, 1, 1); shmem_int_p(&flag, 1, 1); }} }}"
    found = verdict(f"{sides} else {{ int seen = flag, data = x; if (seen && !data) shmem_int_p(&x, 7, 0); }}")
    assert found.verdict == answer and isinstance(found.reason, NoValuesKnown) == (answer == "unknown")


@pytest.mark.parametrize("index", ["k * k % 4", "(k & 6) % 5"])
def test_nor_an_index_that_it_never_is(index: str) -> None:
    """Squares are 0 or 1 modulo 4; and neither is 3."""
    body = f"{{ int a[5] = {{0, 0, 0, 1, 0}}; if (a[{index}] == 1) assert(0); }}"
    assert verdict(body).assertions in ("unknown", "hold", None)
    assert verdict(body.replace(index, "k * 3 % 5")).assertions == "violated"


def operand(pick: random.Random, depth: int) -> Expr:
    if depth == 0 or pick.random() < 0.2:
        return pick.choice((A, B, C, Const(pick.randrange(-3, 12))))
    one, other = operand(pick, depth - 1), operand(pick, depth - 1)
    match pick.randrange(8):
        case 0:
            return Unary(pick.choice("-~!"), one)
        case 1:
            return Conditional(Binary("<", one, other), other, operand(pick, depth - 1))
        case 2:
            return Binary(pick.choice(("&&", "||", "<", "==")), one, other)
    return Binary(pick.choice(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")), one, other)


def test_random_conditions() -> None:
    """What is said to have values has some, by trying all; and nearly all that have some are said to."""
    pick, seen = random.Random(5), Counter[tuple[bool, bool]]()
    places: dict[Expr, Expr] = {leaf: Register(leaf.name, place) for place, leaf in enumerate((A, B, C))}
    for _ in range(examples(120, nightly=2_000)):
        claims: dict[Expr, Bounds] = {}
        for _ in range(pick.choice((1, 2, 2, 3))):
            term = Binary(pick.choice(list(RELATIONS)), operand(pick, 2), operand(pick, 1))
            claims[term] = Bounds(1, 1) if pick.random() < 0.6 else Bounds(0, 0)
            low = pick.randrange(-5, 9)
            claims[operand(pick, 1)] = Bounds(low, low + pick.randrange(9), frozenset({low + 1}))
        claims = {term: bounds for term, bounds in claims.items() if leaves(term)}
        tests = [(evaluator(rewritten(term, places.get)), bounds) for term, bounds in claims.items()]

        def holds(values: tuple[int, ...], tests: list = tests) -> bool:  # type: ignore[type-arg]
            try:
                return all(test(values) in bounds for test, bounds in tests)
            except Fault:
                return False

        there_are = any(map(holds, product(range(8), repeat=3)))
        found = found_values(tuple(claims.items()))
        if found is not None:
            assert holds(tuple(found.get(leaf, 0) for leaf in (A, B, C)))
        seen[there_are, found is not None] += 1
    assert seen[False, True] == 0
    assert seen[False, False] > 9 and seen[True, True] > 20 * seen[True, False], seen


def test_conditions_on_other_values_do_not_matter() -> None:
    claims = {Binary("<", A, B): Bounds(1, 1), Binary("<", B, C): Bounds(0, 0), Binary("<", C, Const(0)): Bounds(1, 1)}
    assert related(claims, Binary("+", A, Const(1))) == claims
    assert related({C: Bounds(0, 3), **dict([next(iter(claims.items()))])}, A) == {Binary("<", A, B): Bounds(1, 1)}
    root = Leaf("root", -9, *INT32.range, made=Binary("+", A, A))
    assert related({root: Bounds(3, 3)}, A) and not has_values({root: Bounds(3, 3)})
    assert has_values({root: Bounds(4, 4)})


def test_what_is_not_known_here_may_be() -> None:
    assert has_values({Binary("<", A, Me()): Bounds(1, 1), Binary("<", A, A): Bounds(1, 1)})
    assert not has_values({Binary("<", A, A): Bounds(1, 1)})
