"""Accesses: what an event does to its cell, when two of them conflict, and which a rank can make at all."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.control import Transition
from pgasrob.program.core import Access, Operands, at_issue, steps_of
from pgasrob.program.expressions import Fault
from pgasrob.semantics.accesses import access, conflict, possible_accesses
from pgasrob.semantics.state_space import computation_of
from tests.support import Drawn, drawn_programs, examples, instance, walks

BOTH = {"fetch_add", "fetch_update", "swap", "compare_swap", "await_add"}
READS = BOTH | {"load", "await", "fetch", "failed_compare_swap", "put", "popa", "popd"}
WRITES = BOTH | {"store", "popb", "popc"}


@pytest.mark.parametrize("kind", sorted(READS | WRITES))
def test_what_an_event_does_to_its_cell(kind: str) -> None:
    """Design, section 2: an atomic reads and writes; a compare_swap that fails only reads."""
    assert access(kind, 3) == Access(3, kind in READS, kind in WRITES)


@pytest.mark.parametrize(
    "kind", ["assign", "assume", "assert", "read", "write", "barrier", "wait", "wait_local", "fence"]
)
def test_an_event_without_a_cell_makes_no_access(kind: str) -> None:
    assert access(kind, None) is None


def accesses(transition: Transition, operands: Operands) -> set[Access[int]]:
    """The accesses of one command, at its issue or in its steps."""
    first = at_issue(operands)
    made = [
        (transition.command.kind, first and first.cell),
        *((step.kind, step.access.cell) for step in steps_of(operands)),
    ]
    return {found for kind, cell in made if (found := access(kind, cell))}


def test_accesses_conflict_when_one_of_them_writes_the_cell_of_the_other() -> None:
    kinds = [(True, False), (False, True), (True, True)]
    for (first, second), same in product(product(kinds, kinds), (True, False)):
        one, other = Access(0, *first), Access(0 if same else 1, *second)
        assert conflict(one, other) == conflict(other, one) == (same and (first[1] or second[1]))


def possible(block: str, rank: int = 0) -> set[tuple[str, str]]:
    program = instance(block, nodes=2, declarations="memory x, a[2]; register r; queue q;")
    modes = {(True, False): "r", (False, True): "w", (True, True): "rw"}
    return {(program.cell_name(a.cell), modes[a.reads, a.writes]) for a in possible_accesses(program, rank)}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("r <- mem[x];", {("x@0", "r")}),
        ("mem[a + 1] <- 2;", {("a[1]@0", "w")}),
        ("await(mem[x] == 0);", {("x@0", "r")}),
        ("write(x, 1, a, q);", {("x@0", "r"), ("a[0]@1", "w")}),
        ("read(x, 1, a, q);", {("a[0]@1", "r"), ("x@0", "w")}),
        ("r <- compare_swap(1 - me, x, 0, 1);", {("x@1", "rw"), ("x@1", "r")}),
        ("put(x, 1, a, q);", {("x@0", "r"), ("a[0]@1", "w")}),
        ("update(compare_swap, 1, a, 1, x, q, a + 1);", {("x@1", "w"), ("a[1]@0", "w")}),
        ("update_from(compare_swap, x, a, 1, x, q);", {("x@0", "r"), ("a[0]@0", "r"), ("x@1", "w")}),
        ("update_from(fetch, 1, x, q, a);", {("x@1", "r"), ("a[0]@0", "w")}),
        ("notify(set, 1, r, x, q); bundle;", {("x@0", "w"), ("x@1", "w")}),
        ("signal(add, 1, 1, x, q);", {("x@1", "w")}),
        ("r <- fetch(1, x);", {("x@1", "r")}),
        ("await_add(1, mem[a] > 0, -1);", {("a[0]@1", "rw")}),
        ("r <- 1; assume(r); assert(r); wait(q); fence(q); barrier;", set()),
        ("mem[x + r] <- 2;", {("x@0", "w"), ("a[0]@0", "w"), ("a[1]@0", "w")}),
        ("r <- swap(r, x, 1);", {("x@0", "rw"), ("x@1", "rw")}),
        ("write(x, r, a, q);", {("x@0", "r"), ("a[0]@0", "w"), ("a[0]@1", "w")}),
        ("r <- mem[3];", set()),
        ("r <- swap(2, x, 1);", set()),
        ("if (me == 1) { r <- mem[x]; }", set()),
    ],
)
def test_possible_accesses_of_constant_and_of_unknown_operands(block: str, expected: set[tuple[str, str]]) -> None:
    assert possible(block) == expected


def test_possible_accesses_are_those_of_the_rank() -> None:
    assert possible("r <- mem[x];", rank=1) == {("x@1", "r")}


@given(st.data(), drawn_programs(loops=True))
def test_every_access_of_a_computation_is_possible(data: st.DataObject, drawn: Drawn) -> None:
    """The automata Z would miss a conflict otherwise."""
    program = drawn.instance
    allowed = [possible_accesses(program, rank) for rank in range(program.nodes)]
    for event in computation_of(data.draw(walks(program))):
        made = access(event.kind, event.cell)
        assert made is None or made in allowed[event.rank]


@given(drawn_programs())
@settings(max_examples=examples(30))
def test_the_accesses_of_operands_are_possible(drawn: Drawn) -> None:
    program = drawn.instance
    for rank, automaton in enumerate(program.automata):
        for transition in automaton.transitions:
            try:
                operands = program.operands(rank, transition, program.registers)
            except Fault:
                continue
            assert possible_accesses(program, rank) >= accesses(transition, operands)
