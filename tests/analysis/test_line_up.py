"""Which interchangeable ranks come to a cell in the order of their numbers."""

from __future__ import annotations

import pytest

from pgasrob.analysis import line_up as module
from pgasrob.analysis.line_up import Behind, line_up
from pgasrob.analysis.symmetry import alike, symmetry
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse

HEAD = "nodes 4; memory x, y = -1, z, w = 1; register r, s; queue q;\n"


def of_crowd(block: str, head: str = HEAD) -> Instance:
    return parse(f"{head}process 0 {{ await(mem[z] == 2); }}\nprocess {{ {block} }}").instantiate()


@pytest.mark.parametrize(
    ("block", "place"),
    [
        ("r <- swap(0, x, me); write(w, r, z, q);", 0),
        ("mem[y] <- me; write(w, 0, z, q); wait(q); r <- swap(0, y, me); write(w, r, z, q);", 3),
        ("r <- fetch_add(0, x, 1); mem[y] <- r;", 0),
        ("await_add(0, mem[w] >= 1, 1); barrier; r <- swap(0, x, me);", 2),
        ("await(mem[x] == 0); r <- mem[x]; r <- swap(0, x, me);", 2),
    ],
)
def test_who_begins_with_an_atomic_on_one_cell_lines_up(block: str, place: int) -> None:
    assert line_up(of_crowd(block)) == (None, None, Behind(1, place), Behind(2, place))


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("write(w, 0, x, q);", "no atomic"),
        ("r <- swap(me, x, 1);", "a cell of its own"),
        ("r <- mem[x]; if (r == 1) { r <- swap(0, x, me); }", "not in each run"),
        ("r <- fetch_add(0, x, 1); if (r == 2) { write(w, 0, z, q); }", "only compared: no order by itself"),
        ("r <- compare_swap(0, x, 0, 1);", "two commands, of which one only reads"),
        ("notify(add, 1, 0, x, q);", "it comes later, and commutes"),
        ("r <- swap(0, x, me); s <- r * 2; if (s == 4) { skip; }", "ranks are computed with"),
    ],
)
def test_who_does_not(block: str, why: str) -> None:
    assert line_up(of_crowd(block)) == (None,) * 4, why


def test_who_is_named_by_the_initial_state_stands_apart() -> None:
    """x names rank 1 at the beginning, in memory that each rank writes."""
    block = "r <- swap(0, x, me); mem[x] <- me; if (r == me) { skip; }"
    program = of_crowd(block, HEAD.replace("x,", "x = 1,"))
    assert symmetry(program).classes == ((1, 2, 3),)
    assert line_up(program) == (None, None, None, Behind(2, 0))


def test_a_rank_with_a_literal_name_stands_apart() -> None:
    program = of_crowd("r <- swap(0, x, me); if (r == 2) { write(w, r, z, q); }")
    assert line_up(program) == (None, None, None, Behind(1, 0))


def test_steps_are_those_of_some_interchangeable_rank() -> None:
    program = of_crowd("r <- swap(0, x, me); write(w, r, z, q);")
    own, others = (len(program.automata[rank].transitions) for rank in (0, 1))
    steps = [0] * (own + 3 * others)
    steps[0], steps[own + 1], steps[own + 2 * others] = 4, 1, 2
    assert alike(program, steps) == [4, *[0] * (own - 1), *[2, 1, *[0] * (others - 2)] * 3]


def test_nobody_lines_up_without_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse(
        HEAD + "process { r <- swap(me - me, x, me * 2); s <- mem[x]; write(w, s / 2, z, q); }"
    ).instantiate()
    assert line_up(program) == (None,) * 4
    assert module.first_contended(program, 1) == (0, (0, 0))
