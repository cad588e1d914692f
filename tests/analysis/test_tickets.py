"""Ranks that took different numbers of a counter are in different slots; each condition by a program that breaks it."""

from __future__ import annotations

import random

import pytest

from pgasrob.analysis.tickets import numbered_accesses
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness.reduction import infeasibility
from tests.bench.templates import TEMPLATES
from tests.robustness.reduction.test_infeasibility import all_steps, not_choosable, violated
from tests.support import examples, instance

DECLARATIONS = "memory n, d, e, slot[20]; register r, s, v; queue q;"
TAKE = "r <- fetch_add(0, n, 1);"
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
    ],
)
def test_which_puts_are_in_different_slots(block: str, settled: bool) -> None:
    # Who puts late and is followed by one who puts to the same slot is the first and the second by their order at e.
    program = instance(f"{block} v <- fetch_add(0, e, 1); {block}", nodes=3, declarations=DECLARATIONS)
    assert any(all_steps(program))
    assert any(infeasibility.choosable(program)) is not settled


def test_what_an_address_is_made_of() -> None:
    program = instance(f"{TAKE} s <- 2 * (r + 1); write(d, 0, slot + s, q);", nodes=2, declarations=DECLARATIONS)
    assert {numbers for _, numbers in numbered_accesses(program).items()} == {(None, (0, 2, 5))}


COMMANDS = (
    "r <- fetch_add(0, n, 1);", "s <- fetch_add(0, n, 1);", "r <- fetch_add(0, n, 2);", "r <- fetch_add(1, n, 1);",
    "r <- fetch(0, n);", "r <- s;", "s <- r + 1;", "r <- 2 * s;", "write(d, 0, slot + r, q);",
    "write(d, 0, slot + r, q);", "write(d, 0, slot + s, q);", "read(d, 0, slot + r, q);", "v <- fetch(0, slot + s);",
    "wait(q);", "barrier;", "if (me == 0) { v <- mem[slot + 1]; }", "if (me == 0) { mem[n] <- 0; }",
    "if (me == 1) { s <- fetch_add(0, n, 1); }",
)  # fmt: skip


def random_tickets(seed: int, commands: tuple[str, ...] = COMMANDS) -> Instance:
    """A program of two ranks that take numbers and put and get at slots."""
    chosen = random.Random(seed)
    block = " ".join(chosen.choices(commands, k=chosen.randint(3, 5)))
    text = f"program tickets; nodes 2; {DECLARATIONS} process {{ {TAKE} {block} }}"
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


@pytest.mark.parametrize("nodes", [4, 16])
def test_sparse_all_to_all_is_settled(nodes: int) -> None:
    program = parse(TEMPLATES["sparse_all_to_all"].program(nodes)).instantiate()
    assert not any(infeasibility.choosable(program))
