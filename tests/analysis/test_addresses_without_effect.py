"""Addresses on which no fact of SC runs depends, and SC runs in which only accesses conflict whose values decide."""

from __future__ import annotations

import random

import pytest

from pgasrob.analysis.addresses_without_effect import with_fixed_addresses
from pgasrob.program import core
from pgasrob.program.expressions import constant
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.sequential import SequentialFacts
from pgasrob.twins import search_of_sc_runs
from tests.bench.templates import TEMPLATES
from tests.support import examples, instance

DECLARATIONS = "memory n, d, flag, slot[6]; register r, s, v; queue q;"
TAKE = "r <- fetch_add(0, n, 1);"
PUT = "write(d, 0, slot + r, q);"


def fixed(program: Instance) -> int:
    """How many commands have only constant addresses that had not."""

    def of_registers(each: Instance) -> int:
        accesses = (core.accesses_of(form) for form in each.forms)
        return sum(any(constant(access.cell.address) is None for access in made) for made in accesses)

    return of_registers(program) - of_registers(with_fixed_addresses(program))


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (f"{TAKE} {PUT}", 2),
        (f"{TAKE} mem[slot + r] <- 1; barrier; v <- mem[slot + 1];", 2),
        (f"{TAKE} v <- mem[slot + r]; write(d, 0, slot + v % 2, q);", 4),
        (f"{TAKE} {PUT} barrier; v <- mem[slot]; assert(v == 0);", 0),  # somebody asks what is there
        (f"{TAKE} {PUT} await(mem[slot + 1] == 0);", 0),
        (f"{TAKE} v <- mem[slot + r]; assume(v == 0);", 0),
        (f"{TAKE} write(d, 0, slot + 6 * r, q);", 0),  # it may fault
        (f"{TAKE} v <- 1; while (v == 1) {{ {PUT} v <- mem[flag]; }}", 0),  # in a loop that may have no end
        (f"{TAKE} write(d, 0, d + r, q); v <- mem[flag]; assume(v == 0);", 0),  # the flag is among the cells
    ],
)
def test_which_addresses_have_no_effect(block: str, expected: int) -> None:
    assert fixed(instance(block, nodes=2, declarations=DECLARATIONS)) == expected


COMMANDS = (
    TAKE, "s <- fetch_add(0, n, 1);", PUT, "write(d, 1, slot + s, q);", "mem[slot + r] <- r;", "v <- mem[slot + s];",
    "v <- fetch(0, slot + r);", "write(flag, 0, slot + r, q);", "mem[flag] <- 1;", "r <- v;", "wait(q);", "barrier;",
    "await(mem[flag] == 0);", "v <- fetch(1, flag);", "assert(v == 0);", "assert(s != 1);", "await(mem[n] < 2);",
    "if (r == 1) { write(d, 0, flag, q); }", "if (me == 0) { v <- mem[slot + 1]; }",
    "while (v == 1) { mem[slot + r] <- 2; v <- mem[flag]; }", "v <- compare_swap(0, d, 0, r);",
)  # fmt: skip


def random_program(seed: int) -> Instance:
    chosen = random.Random(seed)
    block = " ".join(chosen.choices(COMMANDS, k=chosen.randint(3, 7)))
    text = f"program slots; nodes {chosen.choice((2, 2, 3))}; {DECLARATIONS} process {{ {TAKE} {block} }}"
    return parse(text).instantiate()


def test_facts_are_those_of_all_sc_runs() -> None:
    mattered = shown = 0
    for seed in range(examples(18, nightly=10_000)):
        program = random_program(seed)
        plain, reduced = SequentialFacts(program), search_of_sc_runs(program, REDUCTIONS, None)
        for facts in (plain, reduced):
            for _ in facts.explore(1_000):
                pass
        if plain.fault or not plain.complete or reduced.fault:
            assert bool(plain.fault) == bool(reduced.fault) or not plain.complete, seed
            continue
        assert reduced.complete and reduced.states <= plain.states, seed
        assert (reduced.deadlock is None) == (plain.deadlock is None), seed
        assert reduced.failed.keys() == plain.failed.keys(), seed
        mattered += fixed(program) > 0
        shown += plain.deadlock is not None or bool(plain.failed)
    assert mattered >= examples(1, nightly=500) and shown >= examples(1, nightly=500)


@pytest.mark.parametrize(("nodes", "states"), [(6, 50), (16, 130)])
def test_slots_that_ranks_compete_for(nodes: int, states: int) -> None:
    """Pinned: the orders in which ranks take numbers, and data goes to slots, are not followed."""
    facts = search_of_sc_runs(parse(TEMPLATES["sparse_all_to_all"].program(nodes)).instantiate(), REDUCTIONS, None)
    for _ in facts.explore():
        pass
    assert facts.complete and facts.deadlock is None and facts.states == states
