"""Ranks that took different numbers of a counter are in different slots; each condition by a program that breaks it."""

from __future__ import annotations

import random

import pytest

from pgasrob.analysis.tickets import Taken, numbered_accesses
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness.reduction import infeasibility
from tests.bench.templates import TEMPLATES
from tests.robustness.reduction.test_infeasibility import all_steps, not_choosable, violated
from tests.support import examples, instance

DECLARATIONS = "memory n, d, e, slot[20]; register r, s, v; queue q;"
TAKE = "r <- fetch_add(0, n, 1);"
SWAP = "r <- fetch(0, n); s <- compare_swap(0, n, r, r + 1);"
PUT = "write(d, 0, slot + r, q);"


@pytest.mark.parametrize(
    ("block", "settled"),
    [
        (f"{TAKE} {PUT}", True),
        (f"s <- fetch_add(0, n, 3); r <- s - 0 + 2; {PUT}", True),
        (f"{TAKE} write(d, 0, slot + 2 * r, q);", True),
        (f"{TAKE} write(d, 0, slot + (5 - r), q);", False),  # factors are positive
        (f"{TAKE} write(d, 0, slot + 0 * r, q);", False),
        (f"{TAKE} write(d, 0, slot + r / 2, q);", False),
        (f"{TAKE} {PUT} {TAKE} {PUT}", True),  # a rank's own puts are in order
        (f"{TAKE} s <- r; if (me == 0) {{ {TAKE} }} write(d, 0, slot + s, q);", True),
        (f"{TAKE} if (me == 0) {{ r <- r + 1; }} {PUT}", False),  # no longer made in one way
        (f"r <- fetch(0, n); {PUT} v <- fetch_add(0, n, 1);", False),
        (f"r <- fetch_add((me + 1) % nodes, n, 1); {PUT}", False),  # of different counters
        (f"{TAKE} {PUT} barrier; mem[n] <- 0;", False),  # it is not only counted up
        (f"{TAKE} {PUT} barrier; v <- fetch_add(0, n, -1);", False),
        (f"{TAKE} {PUT} update(add, 1, 0, n, q);", False),
        (f"loop {{ {TAKE} }} assume(r < 9); {PUT}", False),  # it may wrap around
        (f"v <- fetch_add(0, n, 2147483647); {TAKE} assume(r >= 0); assume(r < 9); {PUT}", False),
        (f"{TAKE} {PUT} v <- mem[slot + 1];", False),  # rank 0 looks at any slot
        (f"{TAKE} {PUT} barrier; if (me == 1) {{ write(d, 0, slot + 1, q); }}", False),
        (f"{SWAP} if (s == r) {{ {PUT} }}", True),
        (f"{SWAP} if (!(r != s)) {{ write(d, 0, slot + s, q); }}", True),
        (f"{SWAP} {PUT}", False),  # it may have failed
        (f"{SWAP} if (s != r) {{ {PUT} }}", False),
        (f"{SWAP} s <- fetch(0, n); if (s == r) {{ {PUT} }}", False),
        (f"{SWAP} r <- r + 1; if (s == r) {{ {PUT} }}", False),
        (f"{SWAP.replace('r + 1', 'r - 1')} if (s == r) {{ {PUT} }}", False),
    ],
)
def test_which_puts_are_in_different_slots(block: str, settled: bool) -> None:
    # Who puts late and is followed by one who puts to the same slot is the first and the second by their order at e.
    program = instance(f"{block} v <- fetch_add(0, e, 1); {block}", nodes=3, declarations=DECLARATIONS)
    assert any(all_steps(program))
    assert any(infeasibility.choosable(program)) is not settled


def test_what_an_address_is_made_of() -> None:
    program = instance(f"{TAKE} s <- 2 * (r + 1); write(d, 0, slot + s, q);", nodes=2, declarations=DECLARATIONS)
    assert {made and made.number for made in numbers_of(program)} == {None, (0, 2, 5)}


def numbers_of(program: Instance) -> list[Taken | None]:
    return [made for numbers in numbered_accesses(program).values() for made in numbers]


@pytest.mark.parametrize(
    ("block", "settled"),
    [
        (f"{TAKE} {PUT} {TAKE} {PUT}", True),
        (f"{TAKE} {PUT} {PUT}", False),  # to one slot
        (f"{TAKE} s <- r; {PUT} {TAKE} write(d, 0, slot + s, q);", False),
        (f"{TAKE} s <- r; {TAKE} {PUT} write(d, 0, slot + s, q);", False),  # not known to be another one
        (f"{TAKE} while (r < 9) {{ {PUT} {TAKE} }}", True),
        (f"{TAKE} {PUT} if (me == 0) {{ {TAKE} }} else {{ {TAKE} }} {PUT}", True),
        (f"{TAKE} {PUT} if (me == 0) {{ {TAKE} }} {PUT}", False),
        (f"{TAKE} {PUT} s <- compare_swap(0, n, r, r + 1); if (me == 0) {{ assume(s == r); }} {PUT}", False),
        (f"{TAKE} loop {{ assume(r < 9); {PUT} choose {{ {TAKE} }} or {{ v <- 1; }} }}", False),
        (f"{TAKE} while (r < 9) {{ {PUT} v <- v + 1; if (v == 1) {{ {TAKE} }} }}", False),
        ("r <- fetch(0, n); while (r < 9) { s <- compare_swap(0, n, r, r + 1); if (s == r) { $ } r <- s; }", True),
        ("r <- fetch(0, n); while (r < 9) { s <- compare_swap(0, n, r, r + 1); if (s == r) { $ $ } r <- s; }", False),
    ],
)
def test_a_rank_puts_to_other_slots_when_it_has_taken_another_number(block: str, settled: bool) -> None:
    """In an unordered queue, so that its own puts might come in another order."""
    declarations = DECLARATIONS.replace("queue q", "queue q unordered")
    program = instance(block.replace("$", PUT), nodes=2, declarations=declarations)
    assert any(all_steps(program))
    assert any(infeasibility.choosable(program)) is not settled


COMMANDS = (
    "r <- fetch_add(0, n, 1);", "s <- fetch_add(0, n, 1);", "r <- fetch_add(0, n, 2);", "r <- fetch_add(1, n, 1);",
    "r <- fetch(0, n);", "r <- s;", "s <- r + 1;", "r <- 2 * s;", "write(d, 0, slot + r, q);",
    "write(d, 0, slot + r, q);", "write(d, 0, slot + s, q);", "read(d, 0, slot + r, q);", "v <- fetch(0, slot + s);",
    "wait(q);", "barrier;", "if (me == 0) { v <- mem[slot + 1]; }", "if (me == 0) { mem[n] <- 0; }",
    "if (me == 1) { s <- fetch_add(0, n, 1); }",
    "r <- fetch(0, n); s <- compare_swap(0, n, r, r + 1); if (r == s) { write(d, 0, slot + r, q); }",
    "s <- compare_swap(0, n, r, r + 1); if (s == r) { write(d, 0, slot + s, q); write(d, 0, e, q); }",
    "s <- compare_swap(0, n, r, r + 2); if (s == r) { skip; }",
    "while (r < 2) { write(d, 0, slot + r, q); r <- fetch_add(0, n, 1); }",
    "while (r < 2) { s <- compare_swap(0, n, r, r + 1); if (s == r) { write(d, 0, slot + r, q); } r <- fetch(0, n); }",
)  # fmt: skip


def random_tickets(seed: int, commands: tuple[str, ...] = COMMANDS) -> Instance:
    """A program of two ranks that take numbers and put and get at slots."""
    chosen = random.Random(seed)
    block, other = (" ".join(chosen.choices(commands, k=chosen.randint(3, 5))) for _ in range(2))
    declarations = DECLARATIONS.replace("queue q", "queue q unordered") if seed % 2 else DECLARATIONS
    take = TAKE if seed % 3 else "r <- fetch(0, n); s <- r;"
    own = f"process 1 {{ {other} }}" if seed % 5 < 2 else ""
    text = f"program tickets; nodes 2; {declarations} process {{ {take} {block} }} {own}"
    return parse(text).instantiate()


def test_no_violation_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    mattered = 0
    for seed in range(examples(12, nightly=4_000)):
        program = random_tickets(seed)
        if not numbered_accesses(program):
            continue
        steps = not_choosable(program)
        with monkeypatch.context() as patch:
            patch.setattr(infeasibility, "numbered_accesses", lambda _: {})
            without = not_choosable(program)
        if steps != without:
            mattered += 1
            assert not violated(program, steps), seed
    assert mattered >= examples(1, nightly=100)


def test_who_accesses_a_slot_without_a_number_has_to_do_with_those_who_do() -> None:
    """No access of rank 1 has the name that the load of rank 0 has beside its cell."""
    text = """nodes 2; memory n, d = 1, e, slot[4]; register r, v; queue q unordered;
    process 0 { write(d, 0, e, q); v <- mem[slot]; }
    process 1 { r <- fetch_add(0, n, 1); write(d, 0, slot + r, q); wait(q); write(d, 0, e, q); }"""
    program = parse(text).instantiate()
    assert violated(program, all_steps(program)) and not violated(program, not_choosable(program))


@pytest.mark.parametrize("nodes", [4, 16])
def test_sparse_all_to_all_is_settled(nodes: int) -> None:
    program = parse(TEMPLATES["sparse_all_to_all"].program(nodes)).instantiate()
    assert not any(infeasibility.choosable(program))
