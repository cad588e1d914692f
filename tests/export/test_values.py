"""What registers and cells hold in SC runs is among the values that the analysis gives them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pgasrob.export.values import MANY, PossibleValues, Values
from pgasrob.program.instance import Instance
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from tests.oracle.strategies import random_program
from tests.support import examples, instance, translated


def reached(program: Instance, most: int) -> set[SequentialState]:
    space = SequentialSpace(program)
    seen, stack = {space.initial}, [space.initial]
    while stack and len(seen) < most:
        for _, target in space.successors(stack.pop()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def agree(program: Instance, most: int = 2_000) -> None:
    values = PossibleValues(program)
    for state in reached(program, most):
        for held, known in zip(state.memory, values.cells, strict=True):
            assert known is None or held in known
        for rank, control in enumerate(state.control):
            file = values.registers(rank, control)
            assert file is not None
            assert all(known is None or held in known for held, known in zip(state.registers[rank], file, strict=True))


@pytest.mark.parametrize("loops", [False, True], ids=["without loops", "with loops"])
def test_random_programs(loops: bool) -> None:
    for seed in range(examples(200, nightly=10_000)):
        agree(translated(random_program(seed, loops=loops)).instance)


@pytest.mark.parametrize(
    "body",
    [
        "while (r < 7) { r <- r + 1; } mem[x] <- r; write(x, me, y, q); s <- mem[y];",
        "r <- fetch_add(0, x, 3); r <- fetch_add(0, x, -2); mem[y] <- r; s <- swap(0, y, r * r);",
        "loop { r <- fetch_add(0, x, 1); assume(r < 40); } mem[y] <- r & 3; s <- r % 5;",
        "r <- compare_swap(0, x, 1, 9); s <- r == 1 ? -4 : ~r; mem[x + (r & 1)] <- s << 30; mem[y] <- 1 / (s + 4);",
        "choose { r <- 1; } or { r <- 2; } read(x + r, 0, x, r); wait(r); s <- mem[x + r]; assume(s != 1 || r == 2);",
        "loop { r <- r * 3 + 1; } mem[x] <- r;",
    ],
)
@pytest.mark.parametrize("nodes", [1, 2])
def test_programs_that_compute(body: str, nodes: int) -> None:
    agree(instance(body, nodes=nodes))


def cell(program: Instance, number: int = 0) -> Values:
    return PossibleValues(program).cells[number]


def test_counters_are_as_large_as_they_can_get() -> None:
    ticket = "memory x, y; register r, s; queue q;"
    assert cell(instance("r <- fetch_add(0, x, 1);", nodes=3, declarations=ticket)) == {0, 1, 2, 3}
    assert cell(instance("loop { r <- fetch_add(0, x, 1); }", nodes=2, declarations=ticket)) is None
    assert cell(instance("loop { r <- fetch_add(0, x, 0); } r <- fetch_add(0, x, 2);", declarations=ticket)) == {0, 2}
    assert cell(instance("while (r < 3) { r <- r + 1; mem[x] <- r; }", declarations=ticket)) == {0, 1, 2, 3}


def test_large_sets_are_any_value() -> None:
    for bound in (MANY - 1, MANY):
        program = instance(f"while (r < {bound}) {{ r <- r + 1; }} mem[x] <- r;", declarations="memory x; register r;")
        values = PossibleValues(program)
        files = [values.registers(0, state) for state in range(len(program.automata[0].out))]
        assert any(file is None or None in file for file in files) == (bound == MANY)


def test_code_that_cannot_be_reached_has_no_values() -> None:
    program = instance("assume(r == 1); mem[x] <- 5;", declarations="memory x; register r;")
    values = PossibleValues(program)
    assert values.cells == [frozenset((0,))]
    states = [values.registers(0, state) for state in range(len(program.automata[0].out))]
    assert states[0] is not None and states[1:] == [None] * (len(states) - 1)
    assert all(first is not None or second is None for first, second in pairwise(states))
