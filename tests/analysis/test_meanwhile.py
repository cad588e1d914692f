"""What other ranks may do while one stays where it is contains what they do, and it is not much more."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgasrob
from pgasrob.analysis.futures import futures
from pgasrob.analysis.intervals import Interval, related_to
from pgasrob.analysis.meanwhile import ANY, comparison, rough
from pgasrob.program import core
from pgasrob.program.expressions import (
    INT32,
    MIRRORED,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Register,
    Unary,
    evaluator,
)
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.attack import AttackSpace, State
from pgasrob.reference.persistent_sets import _is_left_alone, _outlook
from tests.analysis.test_symmetry import random_text
from tests.support import examples, instance

# What it says is true

LOOK = "memory x, y, flag, next, slot[3]; register i, p, n; queue q, u unordered; nodes {nodes};"
STATEMENTS = (
    "write(x, {to}, y, q);", "read(x, {to}, y, q);", "wait(q);", "mem[x] <- 1;", "i <- mem[y];", "mem[y] <- i + 1;",
    "i <- fetch_add(0, next, 1);", "i <- fetch_add(0, next, 1);", "if (i < 3) {{ write(x, 0, slot + i, q); }}",
    "if (i < 3) {{ i <- mem[slot + i]; }}", "await(mem[flag] == 1);", "await(mem[flag] >= me);",
    "notify(set, 1, {to}, flag, q);", "update(add, 1, {to}, flag, u);", "i <- compare_swap({to}, flag, 0, 1);",
    "n <- swap({to}, flag, me + 1);", "assume(n == 0);", "assume(n != me);", "assume(i > n);", "assume(!(i <= 1));",
    "p <- (n + 1) * 2 - i;", "if (p < 1) {{ mem[x] <- p; }}", "n <- mem[flag];", "barrier;", "bundle;", "fence(u);",
    "update_from(set, x, {to}, y, u, y);", "await_add({to}, mem[flag] < 2, 1);", "mem[y] <- -n;",
)  # fmt: skip


def random_contended_text(seed: int) -> str:
    """A program whose ranks draw numbers, use them as indexes, and wait for flags of each other."""
    choose = random.Random(seed)
    nodes = choose.randint(2, 3)

    def statements(most: int) -> str:
        texts = [
            choose.choice(STATEMENTS).format(to=choose.choice(("0", "1", "(me + 1) % nodes", "me")))
            for _ in range(most)
        ]
        if most > 1 and choose.random() < 0.3:
            return f"while (i < 3) {{ i <- fetch_add(0, next, 1); {texts[0]} }} {' '.join(texts[1:])}"
        return " ".join(texts)

    def block() -> str:
        waits = choose.choice(("await(mem[flag] == 1); ", "await(mem[flag] > 0); i <- fetch_add(0, next, 1); ", ""))
        return statements(choose.randint(0, 2)) + waits + statements(choose.randint(1, 4))

    blocks = [f"process {rank} {{ {block()} }}" for rank in range(nodes)]
    return LOOK.format(nodes=nodes) + " " + " ".join(blocks)


def reached(program: Instance, start: State, most: int, staying: int | None = None) -> list[State]:
    """States that lead from ``start``, without a barrier and without a move by the rank that is ``staying``."""
    space, states, seen = AttackSpace(program), [start], {start}
    for state in states:
        for rank in range(program.nodes):
            for _, target in space.moves(state, rank) if rank != staying else ():
                if isinstance(target, State) and target not in seen and len(states) < most:
                    seen.add(target)
                    states.append(target)
        for _, target in space.barriers(state) if staying is None else ():
            if isinstance(target, State) and target not in seen and len(states) < most:
                seen.add(target)
                states.append(target)
    return states


def made(program: Instance, state: State, staying: int) -> Iterator[core.Access[int]]:
    """The accesses of the moves of the other ranks at ``state``."""
    space = AttackSpace(program)
    for rank in range(program.nodes):
        if rank != staying:
            moving = {letter.occurrence for word, _ in space.moves(state, rank) for _, letter in word}
            for transition, operands in program.evaluated(rank, state.control[rank], state.registers[rank]):
                if transition.occurrence in moving:
                    yield from core.accesses_of(operands)


def check(program: Instance, seen: Counter[str], choose: random.Random) -> None:
    start = AttackSpace(program).initial
    assert isinstance(start, State)
    states = reached(program, start, 150)
    known = futures(program)
    for state in choose.sample(states, min(8, len(states))):
        outlooks = {
            rank: _outlook(program, known, state, rank)
            for rank in range(program.nodes)
            if program.automata[rank].out[state.control[rank]]
        }
        for staying, outlook in outlooks.items():
            others = [theirs for rank, theirs in outlooks.items() if rank != staying]
            by_text = not any(outlook.next.conflicts(theirs.future) for theirs in others)
            if outlook.at_barrier or by_text or not _is_left_alone(program, state, staying, outlooks):
                continue
            seen["alone"] += 1
            for later in reached(program, state, 100, staying):
                for access in made(program, later, staying):
                    seen["accesses"] += 1
                    assert not outlook.next.hits(access)


def test_nobody_touches_what_a_rank_is_about_to_access() -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(83, nightly=20_000)):
        check(parse(random_contended_text(seed)).instantiate(), seen, random.Random(seed))
    for seed in range(examples(20, nightly=5_000)):
        text = random_text(seed, 2 + seed % 2, extended=True, computed=True)
        check(parse(text).instantiate(), seen, random.Random(seed))
    assert seen["alone"] > 15 and seen["accesses"] > 60, "the text alone does not say so"


# How little it is


def alone(program: Instance, **changes: object) -> list[int]:
    """The ranks that are left alone in the initial state with ``changes``."""
    start = AttackSpace(program).initial
    assert isinstance(start, State)
    state = start._replace(**changes)  # type: ignore[arg-type]
    known = futures(program)
    outlooks = {rank: _outlook(program, known, state, rank) for rank in range(program.nodes)}
    return [rank for rank in outlooks if _is_left_alone(program, state, rank, outlooks)]


UPDATE = "update_from(set, w, 0, x, q, z);"
READ = "read(z, 0, x, q); wait(q); s <- mem[z];"
SMALL = "memory x, y, z, w; register r, s; queue q;"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Rank 1 waits for what rank 0 is about to write; rank 0 waits for nothing.
        ("mem[y] <- 1; write(y, 1, x, q);", "await(mem[x] == 1); write(y, 0, z, q); read(z, 0, y, q);", [0]),
        ("write(y, 1, x, q);", "await(mem[x] == 0); r <- mem[x];", []),
        ("write(y, 1, x, q);", "await(mem[x] >= 1); r <- mem[x];", [0]),
        # Rank 1 can help itself.
        ("write(y, 1, x, q);", "r <- mem[z]; mem[z] <- r + 1; await(mem[z] == 1); r <- mem[x];", [1]),
        ("write(y, 1, x, q);", "r <- mem[z]; mem[z] <- 1; await(mem[z] == 2); r <- mem[x];", [0, 1]),
        # Conditions on registers.
        ("write(y, 1, x, q);", "assume(r == 1); r <- mem[x];", [0, 1]),
        ("write(y, 1, x, q);", "s <- mem[z]; assume(!(s != 3)); r <- mem[x];", [0, 1]),
        ("write(y, 1, x, q);", "s <- 1; assume(s * 2 > r + 1); r <- mem[x];", [1]),
        ("write(y, 1, x, q);", "s <- 1; assume(s * 2 > r + 2); r <- mem[x];", [0, 1]),
        # What comes behind a barrier does not count.
        ("write(y, 1, x, q);", "s <- 1; barrier; r <- mem[x];", [0, 1]),
        # Where a loop goes on for ever, an index comes to be anything.
        ("mem[y] <- 1;", "loop { s <- 1; read(z, 0, x + r, q); r <- r + 3; }", [1]),
        ("mem[y] <- 1;", "s <- 1; while (r < 1) { read(z, 0, x + r, q); r <- r + 1; }", [0, 1]),
        # A compare_swap that cannot succeed is a read.
        ("r <- mem[x];", "s <- compare_swap(0, x, 5, 1);", [0]),
        ("mem[x] <- 1;", "s <- compare_swap(0, x, 5, 1);", []),
        ("r <- mem[y];", f"s <- compare_swap(0, x, 5, 1); {READ} if (s) {{ write(w, 0, y, q); }}", [0, 1]),
        ("r <- mem[y];", f"s <- compare_swap(0, x, 0, 1); {READ} if (s) {{ write(w, 0, y, q); }}", [1]),
        # Results, and operands from memory.
        ("r <- mem[y];", "update(set, 2, 0, x, q, z); await(mem[z] == 9); write(w, 0, y, q);", [0, 1]),
        ("r <- mem[y];", "update(set, 9, 0, x, q, z); await(mem[z] == 9); write(w, 0, y, q);", [1]),
        ("r <- mem[y];", f"mem[w] <- 4; {UPDATE} await(mem[z] == 5); write(w, 0, y, q);", [0, 1]),
        ("r <- mem[y];", f"mem[w] <- 5; {UPDATE} await(mem[z] == 5); write(w, 0, y, q);", [1]),
    ],
)  # fmt: skip
def test_who_is_left_alone(first: str, second: str, expected: list[int]) -> None:
    assert alone(instance(first, second, declarations=SMALL)) == expected


def test_it_begins_with_what_the_state_has() -> None:
    program = instance("mem[x] <- 1;", "s <- 1; if (r == 2) { read(z, 0, x, q); }")
    assert alone(program) == [0, 1]
    assert alone(program, registers=((0, 0), (2, 0))) == [1]
    program = instance("mem[x] <- 1;", "await(mem[y] == 3); read(z, 0, x, q);")
    assert alone(program) == [0, 1]
    assert alone(program, memory=(0, 0, 0, 0, 0, 3, 0, 0)) == [1]


def test_who_draws_numbers_does_not_come_back_to_earlier_ones() -> None:
    """The slots that have been given out are left alone by all who draw."""
    draws = "s <- 1; s <- fetch_add(0, w, 1); if (s < 3) { read(z, 0, x + s, q); }"
    program = instance("write(z, 0, x + r, q);", draws, draws, declarations=SMALL)
    assert alone(program) == [1, 2]
    given_out = (0, 0, 0, 1) + (0,) * 8
    assert alone(program, memory=given_out) == [0, 1, 2]
    assert alone(program, memory=given_out, registers=((1, 0), (0, 0), (0, 0))) == [1, 2]


COUNTING_DOWN = """
#include <shmem.h>
unsigned long c = 5;
long data, flag, one = 1;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    long f = flag, d = data;
    shmem_ulong_atomic_fetch_add(&c, -1UL, 0);
  } else if (shmem_ulong_atomic_fetch_add(&c, -1UL, 0) == 5) {
    shmem_long_put(&data, &one, 1, 0);
    shmem_long_put(&flag, &one, 1, 0);
  }
  shmem_finalize();
}
"""


def test_numbers_that_wrap_around_are_no_counters(tmp_path: Path) -> None:
    """What is found by adding the greatest value of 64 bits may be anything."""
    (tmp_path / "down.c").write_text(COUNTING_DOWN)
    program = pgasrob.load(tmp_path / "down.c")
    assert pgasrob.check(program, 2, "attack").verdict == "not robust"
    verdict = pgasrob.check(program, 2, "attack", reductions=("persistent",))
    assert verdict.verdict == "not robust"


# Expressions


def random_expression(choose: random.Random, depth: int) -> Expr:
    if not depth or choose.random() < 0.2:
        return choose.choice((Const(choose.randint(-3, 5)), Register("r", 0), Register("s", 1)))
    inner = [random_expression(choose, depth - 1) for _ in range(3)]
    type = choose.choice((INT32, IntType(8, True), IntType(8, False), IntType(64, True), IntType(64, False)))
    symbol = choose.choice(("+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "!", "neg", "cast", "&&", "?"))
    match symbol:
        case "!" | "cast":
            return Unary(symbol, inner[0], type)
        case "neg":
            return Unary("-", inner[0], type)
        case "?":
            return Conditional(*inner)
        case _:
            return Binary(symbol, inner[0], inner[1], type)


def contains(interval: Interval, value: int) -> bool:
    return interval[0] <= value <= interval[1]


def test_rough_values_contain_the_exact_ones() -> None:
    choose, seen = random.Random(1), Counter[str]()
    for _ in range(examples(3_000, nightly=100_000)):
        expr = random_expression(choose, 3)
        file: list[Interval] = []
        for _ in range(2):
            low = choose.choice((-3, 0, 1, 126, -128, 250))
            file.append((low, low + choose.choice((0, 0, 1, 3))))
        value, compared = rough(expr, file), comparison(expr, file)
        for r in range(file[0][0], file[0][1] + 1):
            for s in range(file[1][0], file[1][1] + 1):
                try:
                    exact = evaluator(expr)((r, s))
                except Fault:
                    seen["fault"] += 1
                    continue
                assert value is not None and contains(value, exact)
                if compared is not None and exact:
                    relation, (left, in_left), (right, in_right) = compared
                    seen["compared"] += 1
                    if in_left is not None:
                        assert contains(related_to(relation, left, right), (r, s)[in_left])
                    if in_right is not None:
                        assert contains(related_to(MIRRORED[relation], right, left), (r, s)[in_right])
        seen["exact" if value == ANY else "narrow"] += 1
    assert seen["narrow"] > 2 * seen["exact"] > 0 and seen["compared"] > 500
