"""The product engine (Theorem 16): what it finds, what it says about it, and how large its automata are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.automata import intersection
from pgasrob.program.instance import Instance
from pgasrob.robustness import product
from pgasrob.robustness.cycle_types import cycle_types
from pgasrob.robustness.product import ProductSearch
from pgasrob.semantics.computation import Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.support import Drawn, drawn_programs, examples, instance, one_to_one, tiny_instances

WRITES = {"store", "popb", "fetch_add", "swap", "compare_swap"}


def search(program: Instance, heads: int = 2, most: int | None = None) -> ProductSearch:
    found = ProductSearch(program, heads)
    for _ in found.run():
        if most is not None and found.states > most:
            break
    return found


def test_two_heads_are_the_default() -> None:
    found = ProductSearch(one_to_one())
    for _ in found.run():
        pass
    assert found.states == search(one_to_one(), 2).states < search(one_to_one(), 4).states


# The witness


@given(drawn_programs(), st.sampled_from([2, 2, 2, 4]))
@settings(max_examples=examples(9))
def test_a_violation_is_a_marked_normal_form_computation_with_a_cycle_of_its_type(drawn: Drawn, heads: int) -> None:
    program = drawn.instance
    violation = search(program, heads, 20_000).violation
    if violation is None:
        return
    run = replay(program, violation.computation)
    assert run.complete and HappensBefore(run.computation).cycle
    check_parts(violation.computation, violation.parts, heads)
    check_marks(violation.computation, violation.marks, violation.cycle_type)


def check_parts(computation: tuple[Event, ...], parts: Any, heads: int) -> None:
    """Parts ascend, and after the first there are steps alone (Definition 4)."""
    assert len(parts) == len(computation)
    assert list(parts) == sorted(parts) and set(parts) <= set(range(1, heads + 1))
    assert all(part == 1 or event.is_step for event, part in zip(computation, parts, strict=True))


def check_marks(computation: tuple[Event, ...], marks: Any, cycle: Any) -> None:
    """Lemma 13: a_i <->* b_i ->*po c_i <->* d_i within rank r_i, and d_i -> a_{i+1} by conflict or identity."""
    enter, leave = {}, {}
    for place, (event, names) in enumerate(zip(computation, marks, strict=True)):
        for name, found in (("enter", enter), ("leave", leave)):
            if name in names:
                assert event.rank not in found
                found[event.rank] = place
    assert set(enter) == set(leave) == set(cycle)
    conflicts = 0
    for rank, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert computation[enter[rank]].operation <= computation[leave[rank]].operation
        first, second = computation[leave[rank]], computation[enter[after]]
        if first.kind == second.kind == "barrier":
            assert rank != after
            assert barriers_before(computation, leave[rank]) == barriers_before(computation, enter[after])
        else:
            assert first.cell == second.cell is not None and {first.kind, second.kind} & WRITES
            assert leave[rank] < enter[after]
            conflicts += 1
    assert conflicts
    if len(cycle) == 1:
        assert computation[enter[cycle[0]]].operation < computation[leave[cycle[0]]].operation


def barriers_before(computation: tuple[Event, ...], place: int) -> int:
    rank = computation[place].rank
    return sum(event.kind == "barrier" and event.rank == rank for event in computation[:place])


def test_a_shortest_cycle_type_is_tried_first() -> None:
    """A cycle within rank 0 beside one through both ranks."""
    program = instance("write(z, 1, x, q); write(x, 0, y, u); r <- mem[y];", "write(z, 0, x, q); r <- mem[x];")
    violation = search(program).violation
    assert violation is not None and violation.cycle_type == (0,)


# The search


@pytest.mark.parametrize("nodes", [1, 2, 3, 4])
def test_every_cycle_type_of_a_robust_program_is_refuted(nodes: int) -> None:
    found = search(one_to_one("wait(q);", nodes))
    assert found.violation is None and found.gave_up is None
    assert found.refuted == sum(1 for _ in cycle_types(nodes))


def test_cycle_types_of_ranks_that_share_nothing_cost_nothing() -> None:
    found = search(instance("mem[x] <- 1;", nodes=3))
    assert (found.refuted, found.states > 0) == (3, True)  # one of each rank alone
    assert search(instance("r <- 1;", nodes=3)).states == 0


@pytest.mark.parametrize("piece", [1, 7, 64])
@pytest.mark.parametrize("between", ["", "wait(q);"])
def test_the_size_of_the_pieces_does_not_matter(between: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycle types take turns, so a violation may be found after other states were seen, but it is found."""
    whole = search(one_to_one(between, 3))
    monkeypatch.setattr(product, "PIECE", piece)
    pieces = search(one_to_one(between, 3))
    assert (pieces.violation is None) == (whole.violation is None)
    if whole.violation is None:
        assert (pieces.states, pieces.transitions, pieces.refuted) == (whole.states, whole.transitions, whole.refuted)


def test_an_expensive_cycle_type_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks 0 and 1 are robust in many states; rank 2 violates within itself."""
    busy = "loop { r <- fetch_add(0, x, 1); r <- r & 7; mem[y] <- r; r <- mem[x]; mem[x] <- r & 7; }"
    monkeypatch.setattr(product, "PIECE", 16)
    program = instance(busy, busy, "write(x, 2, y, q); r <- mem[y];")
    found = search(program, most=100_000)
    assert found.violation is not None and found.violation.cycle_type == (2,)
    assert found.states < 5_000


@given(tiny_instances(5))
@settings(max_examples=examples(36))
def test_pruning_the_guesses_of_lemma_10_loses_no_violation(program: Instance) -> None:
    pruned = search(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersection.Boundaries, "_is_hopeful", lambda boundaries, runs: True)
        full = search(program, most=50_000)
    if full.violation is None:
        assert pruned.violation is None and pruned.states <= full.states
    else:
        assert pruned.violation is not None


def test_doing_says_how_far_the_search_is() -> None:
    found = ProductSearch(one_to_one())
    next(iter(found.run()))
    assert found.doing.startswith("cycle types: ")


# Pinned counts of W = Y^M with Z^cyc, over all cycle types


@pytest.mark.parametrize(
    ("program", "two", "four"),
    [
        (one_to_one(), (766, 903, 2), (10069, 11823, 2)),
        (one_to_one("wait(q);"), (213, 354, 3), (1704, 3224, 3)),
        (one_to_one(nodes=3), (6189, 8992, 3), None),
        (one_to_one("wait(q);", nodes=3), (2514, 6056, 8), (48658, 137054, 8)),
        (instance("write(x, 0, y, u); fence(u); write(x, 0, y, u);"), (20, 27, 1), (70, 171, 1)),
        (instance("write(x, 0, y, u); write(x, 0, y, u);"), (17, 28, 0), (57, 232, 0)),
        (
            instance("write(z, 1, x, q); r <- mem[y];", "write(z, 0, y, q); r <- mem[x];"),
            (425, 717, 2),
            (4884, 9264, 2),
        ),
        (
            instance("write(z, 1, x, q); wait(q); r <- mem[y];", "write(z, 0, y, q); wait(q); r <- mem[x];"),
            (193, 326, 3),
            (1299, 2454, 3),
        ),
    ],
)
def test_states_transitions_and_refuted_cycle_types(program: Instance, two: Any, four: Any) -> None:
    for heads, counts in ((2, two), (4, four)):
        if counts is not None:
            found = search(program, heads)
            assert (found.states, found.transitions, found.refuted) == counts
