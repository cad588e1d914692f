"""The definition engine against the definition itself: all computations, one by one, nothing remembered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings

from pgasrob.automata.automaton import PIECE
from pgasrob.program.instance import Instance
from pgasrob.program.reading import LITERAL_READING
from pgasrob.robustness import definition
from pgasrob.robustness.definition import DefinitionSearch, HappensBeforeSpace, drain
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reasons import PendingBound
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.state_space import StateSpace, computation_of
from tests.support import FURTHER, SHARING, TooMany, computations, examples, instance, one_to_one, sizes, tiny_instances


def search(program: Instance) -> DefinitionSearch:
    found = DefinitionSearch(program)
    for _ in found.run():
        pass
    return found


def violating(program: Instance, most: int = 6000) -> bool:
    """Whether some computation has a happens-before cycle."""
    return any(HappensBefore(computation).cycle is not None for computation in computations(program, most))


@given(tiny_instances(5) | tiny_instances(5, SHARING) | tiny_instances(6, SHARING) | tiny_instances(4, FURTHER))
@settings(max_examples=examples(22))
def test_a_violation_is_found_exactly_when_some_computation_is_violating(program: Instance) -> None:
    try:
        expected = violating(program)
    except TooMany:
        return
    found = search(program)
    assert found.gave_up is None
    assert (found.violation is not None) == expected


@given(tiny_instances(8, SHARING))
def test_the_violation_replays_to_a_cycle(program: Instance) -> None:
    found = search(program)
    if found.violation is not None:
        run = replay(program, found.violation.computation)
        assert run.complete and HappensBefore(run.computation).cycle is not None
        assert found.violation.parts is found.violation.marks is found.violation.cycle_type is None


def test_pending_steps_are_drained_at_the_end() -> None:
    space = StateSpace(instance("write(x, 0, y, q); write(x, 0, z, q);"))
    path, state = [], space.initial
    for _ in range(2):
        word, state = next(iter(space.successors(state)))
        path.append(word)
    words = drain(space, path, state)
    assert words[:2] == path
    assert replay(space.instance, computation_of(words)).complete


# Loops


@pytest.mark.parametrize(
    ("blocks", "violation"),
    [
        (("loop { write(x, 1, y, q); wait(q); }", "loop { r <- mem[y]; }"), False),
        (
            ("loop { write(x, 1, y, q); wait(q); } r <- mem[y];", "loop { write(x, 0, y, q); wait(q); } r <- mem[y];"),
            False,
        ),
        (("loop { mem[x] <- 1; }", "loop { r <- swap(0, x, 2); }"), False),
        (("loop { write(x, 1, y, q); wait_local(q); }", "loop { r <- mem[y]; }"), False),
        (("loop { write(x, 1, y, q); }", "loop { r <- mem[y]; }"), False),
        (("loop { write(x, 1, y, q); r <- fetch_add(1, y, 0); }", ""), True),
        (("loop { r <- mem[y]; } write(x, 0, y, q); loop { r <- mem[y]; }",), True),
        (("while (r == 0) { r <- mem[y]; }", "write(x, 0, y, q);"), False),
    ],
)
def test_loops(blocks: tuple[str, ...], violation: bool) -> None:
    found = search(instance(*blocks, reading=LITERAL_READING))
    assert (found.violation is not None) == violation


@pytest.mark.parametrize("block", ["loop { write(x, 1, y, q); }", "loop { read(x, 1, y, q); wait_local(u); }"])
def test_operations_that_pile_up_make_it_give_up(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definition, "MOST_PENDING", 3)
    found = search(instance(block, ""))
    assert found.violation is None
    assert found.gave_up == PendingBound(3)


def test_a_violation_among_operations_that_pile_up_is_found_all_the_same() -> None:
    found = search(instance("loop { write(x, 0, y, q); } r <- mem[y];"))
    assert found.violation is not None and found.gave_up is None


# The relation


def test_states_that_differ_in_order_alone_are_kept_apart() -> None:
    """The same state of X, but another happens-before: the search must not take one for the other."""
    program = instance("mem[x] <- 1; write(x, 1, z, q);", "r <- fetch_add(0, x, 0); r <- 0;")
    assert sizes(HappensBeforeSpace(program))[0] > sizes(StateSpace(program))[0]


def test_doing_says_how_many_operations_are_pending() -> None:
    assert search(instance("write(x, 0, y, q); write(x, 0, z, q);")).doing == "up to 2 operations pending at a rank"


# Pinned counts


@pytest.mark.parametrize(
    ("program", "counts", "violation"),
    [
        (one_to_one(), (47, 83), True),
        (one_to_one("wait(q);"), (29, 45), False),
        (one_to_one(nodes=3), (147, 328), True),
        (one_to_one("wait(q);", nodes=3), (133, 313), False),
        (instance("write(x, 0, y, u); fence(u); write(x, 0, y, u);"), (14, 19), False),
        (instance("write(z, 1, x, q); r <- mem[y];", "write(z, 0, y, q); r <- mem[x];"), (60, 125), True),
        (
            instance("loop { write(x, 1, y, q); wait(q); }", "loop { r <- mem[y]; }", reading=LITERAL_READING),
            (11, 22),
            False,
        ),
    ],
)
def test_states_and_transitions(program: Instance, counts: tuple[int, int], violation: bool) -> None:
    found = search(program)
    assert (found.states, found.transitions, found.violation is not None) == (*counts, violation)


@pytest.mark.parametrize("search", [DefinitionSearch, ProductSearch])
def test_choices_at_a_barrier_do_not_hold_the_caller_up(
    search: Callable[[Instance], DefinitionSearch | ProductSearch],
) -> None:
    """One state has 2 ** 16 barriers here."""
    engine = search(instance("choose { barrier; } or { barrier; r <- 1; }", nodes=16))
    before = 0
    for _ in engine.run():
        assert engine.transitions - before <= PIECE
        before = engine.transitions
        if before > 3 * PIECE:
            break
    assert 3 * PIECE < before < 1 << 16


def test_draining_takes_no_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ranks can choose there may be millions, and all a computation needs are the steps that are left."""
    program = instance("write(x, 1, y, q); choose { barrier; } or { barrier; r <- 1; }", nodes=2)
    space, state, path = StateSpace(program), StateSpace(program).initial, []
    for _ in range(2):
        word, state = next(iter(space.successors(state)))
        path.append(word)
    monkeypatch.setattr(Instance, "barriers", None)
    assert [letter.kind for word in drain(space, path, state) for letter in word] == [
        "write", "write", "popa", "popb", "popa", "popb",
    ]  # fmt: skip
