"""SC runs and what is true of them: assertions, deadlocks, faults (the design, sections 3 and 6)."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings

from pgasrob.automata.automaton import PIECE
from pgasrob.program.instance import Instance
from pgasrob.program.reading import LITERAL_READING
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialFacts, SequentialSpace
from pgasrob.semantics.state_space import computation_of
from tests.oracle.definition import decide
from tests.oracle.replay import check_deadlock, check_failed_assert, check_fault
from tests.oracle.strategies import random_program
from tests.support import (
    Drawn,
    TooMany,
    computations,
    drawn_programs,
    examples,
    instance,
    json_events,
    one_to_one,
    sizes,
    spelled,
    tiny_instances,
    translated,
)


def facts(program: Instance) -> SequentialFacts:
    found = SequentialFacts(program)
    for _ in found.explore():
        pass
    return found


def of(*blocks: str) -> SequentialFacts:
    return facts(instance(*blocks))


def sequential(program: Instance) -> set[Computation]:
    """All SC runs, by following every path."""
    space = SequentialSpace(program)
    stack = [(space.initial, [])]
    found = set()
    while stack:
        state, path = stack.pop()
        found.add(computation_of(path))
        stack += [(target, [*path, word]) for word, target in space.successors(state)]
    return found


def is_sequential(computation: Computation) -> bool:
    """Every step directly follows its issue, and popb popa."""
    expected = None
    for event in computation:
        if expected is not None and (event.kind, event.issued) != expected:
            return False
        if expected is None and event.is_step:
            return False
        after = {"read": "popa", "write": "popa", "popa": "popb"}.get(event.kind)
        expected = (after, event.issued) if after else None
    return expected is None


# The runs


@given(tiny_instances())
def test_sc_runs_are_the_computations_in_which_steps_directly_follow(program: Instance) -> None:
    try:
        found = computations(program, 5000)
    except TooMany:
        return
    assert sequential(program) == {computation for computation in found if is_sequential(computation)}


@given(tiny_instances(7))
def test_sc_runs_have_no_cycle(program: Instance) -> None:
    """The easy half of Shasha and Snir's theorem."""
    assert all(HappensBefore(computation).cycle is None for computation in sequential(program))


def test_a_remote_command_is_one_word() -> None:
    space = SequentialSpace(instance("write(x, 1, y, q);", ""))
    ((word, state),) = space.successors(space.initial)
    assert [(letter.kind, letter.cell) for letter in word] == [("write", None), ("popa", 0), ("popb", 5)]
    assert state.memory == (1, 0, 0, 0, 1, 1, 0, 0)


def test_waits_are_always_over() -> None:
    assert max(map(len, sequential(instance("write(x, 0, y, q); wait(q); wait_local(q);")))) == 5


# Assertions


@pytest.mark.parametrize(
    ("blocks", "violated"),
    [
        (("assert(r == 0);",), False),
        (("assert(r == 1);",), True),
        (("assert(r);",), True),
        (("r <- mem[x]; assert(r == 1);", "r <- swap(0, x, 2);"), True),
        (("barrier; r <- mem[x]; assert(r == 2);", "r <- swap(0, x, 2); barrier;"), False),
        (("assume(r == 1); assert(r == 2);",), False),
        (("write(x, 0, y, q); r <- mem[y]; assert(r == 1);",), False),
    ],
)
def test_an_assertion_is_violated_when_an_sc_run_makes_it_false(blocks: tuple[str, ...], violated: bool) -> None:
    found = of(*blocks)
    assert (found.failed.get(None) is not None) == violated
    assert found.complete


def test_the_run_to_a_failed_assertion_is_a_shortest_one_and_ends_with_it() -> None:
    found = of("choose { skip; } or { mem[x] <- 2; mem[x] <- 3; } r <- mem[x]; assert(r == 2);")
    assert found.failed.get(None) is not None
    assert spelled(found.failed.get(None)) == "load0 assert1"
    run = replay(
        instance("r <- mem[x]; assert(r == 2);"), facts(instance("r <- mem[x]; assert(r == 2);")).failed.get(None) or ()
    )
    assert run.events[-1].holds is False


def test_a_program_without_assertions_checks_none() -> None:
    found = of("mem[x] <- 1;")
    assert not found.checks_deadlock
    assert found.failed.get(None) is None and found.deadlock is None


# Deadlocks


@pytest.mark.parametrize(
    ("blocks", "deadlock"),
    [
        (("barrier;", "barrier;"), None),
        (("barrier;", ""), ""),
        (("mem[x] <- 1; barrier;", ""), "store0"),
        (("await(mem[x] == 2);",), ""),
        (("await(mem[x] == 1);",), None),
        (("await(mem[x] == 2);", "r <- swap(0, x, 2);"), None),
        # a rank before false assumes alone is stuck by the program's own will, and others may wait all the same
        (("await(mem[x] == 1); assume(r == 1);", "assume(r == 1); await(mem[x] == 2);"), None),
        (("await(mem[x] == 1); assume(r == 1);", ""), None),
        (("assume(r == 1); barrier;", "barrier;"), ""),
        (("await(mem[x] == 2);", "assume(r == 1);"), ""),
        (("assume(0);", "await(mem[x] == 2); r <- swap(2, x, 2);", "await(mem[x] == 2); r <- swap(1, x, 2);"), ""),
        # with something else beside the assume it is not
        (("choose { assume(r == 1); } or { await(mem[x] == 2); }",), ""),
        (("choose { assume(r == 1); } or { barrier; }", ""), ""),
        # a rank that can move for ever does not excuse the others when it changes nothing
        (("await(mem[x] == 2);", "loop { r <- mem[x]; }"), ""),
        (("await(mem[x] == 2);", "while (1) { mem[x] <- 1; r <- swap(0, y, 1); r <- swap(0, y, 0); }"), ""),
        (("await(mem[x] == 2);", "while (1) { r <- swap(0, x, 1); r <- swap(0, x, 0); }"), None),
        (("choose { barrier; } or { r <- mem[x]; }", ""), None),
    ],
)
def test_a_deadlock_is_a_state_in_which_some_rank_is_stuck(blocks: tuple[str, ...], deadlock: str | None) -> None:
    found = of(*blocks)
    assert (None if found.deadlock is None else spelled(found.deadlock)) == deadlock
    assert found.checks_deadlock


def test_all_ranks_ended_is_no_deadlock() -> None:
    assert of("barrier; mem[x] <- 1;", "barrier;").deadlock is None


# Faults


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (("r <- 1 / s;",), "division by zero: 1 / 0"),
        (("r <- 5 % s;",), "division by zero: 5 % 0"),
        (("r <- 1 << 32;",), "shift outside 0..31: 1 << 32"),
        (("r <- mem[4];",), "address 4 is outside the memory: the memory has cells 0..3"),
        (("write(x, 2, y, q);", ""), "rank 2 is outside 0..1"),
        (("wait(-1);",), "queue -1 is negative"),
        (("assume(1 / s);",), "division by zero: 1 / 0"),
    ],
)
def test_a_fault_is_a_command_that_cannot_be_evaluated(blocks: tuple[str, ...], reason: str) -> None:
    found = of(*blocks).fault
    assert found is not None
    assert (found.reason, found.rank, found.run) == (reason, 0, ())


def test_a_fault_says_which_registers_did_it() -> None:
    found = of("barrier;", "r <- 3; s <- mem[r + r];").fault
    assert found is not None
    assert (found.rank, found.registers, spelled(found.run)) == (1, (3, 0), "1:assign0")
    assert found.transition.command.kind == "load"


def test_a_fault_ends_the_exploration() -> None:
    found = of("r <- 1 / s;", "while (r < 9) { r <- r + 1; }")
    assert found.fault is not None and not found.complete


@pytest.mark.parametrize(
    "blocks",
    [
        ("assume(r == 1); r <- 1 / s;",),
        ("if (s != 0) { r <- 1 / s; }",),
        ("r <- s && 1 / s;",),
        ("r <- s ? 1 / s : 0;",),
        ("await(mem[x] == 5); r <- 1 / s;", ""),
        ("barrier; r <- 1 / s;", ""),
    ],
)
def test_a_fault_that_no_sc_run_reaches_is_none(blocks: tuple[str, ...]) -> None:
    found = of(*blocks)
    assert found.fault is None and found.complete


def test_a_fault_beside_another_command_counts() -> None:
    """The rank stands before it, whatever it would have chosen."""
    assert of("choose { mem[x] <- 1; } or { r <- 1 / s; }").fault is not None


# The search


def test_the_facts_can_be_learned_in_pieces() -> None:
    program = one_to_one(nodes=3)
    found = SequentialFacts(program)
    steps = 0
    while not found.complete:
        steps += sum(1 for _ in islice(found.explore(), 3))
    assert found.states == facts(program).states
    assert not any(True for _ in found.explore())


@pytest.mark.parametrize(
    ("program", "counts"),
    [
        (one_to_one(), (8, 9)),
        (one_to_one("wait(q);"), (13, 17)),
        (one_to_one(nodes=3), (16, 25)),
        (one_to_one("wait(q);", nodes=3), (35, 67)),
        (instance("loop { write(x, 1, y, q); wait(q); }", "loop { r <- mem[y]; }", reading=LITERAL_READING), (5, 10)),
    ],
)
def test_states_and_transitions(program: Instance, counts: tuple[int, int]) -> None:
    found = facts(program)
    assert (found.states, found.transitions) == sizes(SequentialSpace(program)) == counts


@given(drawn_programs())
@settings(max_examples=examples(15))
def test_the_facts_agree_with_the_oracle(drawn: Drawn) -> None:
    program = drawn.instance
    found, expected = facts(program), decide(drawn.oracle)
    assert (found.fault is not None) == expected.fault
    if found.fault is not None:
        places = check_fault(drawn.oracle, None, json_events(replay(program, found.fault.run)))
        assert (found.fault.rank, found.fault.transition.span.line) in [place[:2] for place in places]
        return
    assert (found.failed.get(None) is not None) == (expected.assertions == "violated")
    assert (found.deadlock is not None) == (expected.deadlock is True)
    if found.failed.get(None) is not None:
        check_failed_assert(drawn.oracle, None, json_events(replay(program, found.failed.get(None))))
    if found.deadlock is not None:
        check_deadlock(drawn.oracle, None, json_events(replay(program, found.deadlock)))


def test_deadlocks_beside_false_assumes_agree_with_the_oracle() -> None:
    count, seen = examples(60, 10_000), Counter[bool | str | None]()
    for seed in range(count):
        drawn = translated(random_program(seed, (2, 3), ("assume", "await", "barrier", "swap", "choose"), faults=False))
        expected, found = decide(drawn.oracle), facts(drawn.instance)
        assert (found.deadlock is not None) == (expected.deadlock is True)
        seen[expected.deadlock] += 1
        if found.deadlock is not None:
            control = replay(drawn.instance, found.deadlock).control
            leaving = [automaton.out[at] for automaton, at in zip(drawn.instance.automata, control, strict=True)]
            seen["beside assumes"] += any(out and all(edge.command.kind == "assume" for edge in out) for out in leaving)
    assert min(seen[False], seen[True], seen["beside assumes"]) > count // 50, seen


def test_choices_at_a_barrier_do_not_hold_the_caller_up() -> None:
    """One state has 2 ** 24 barriers here."""
    program = instance("choose { barrier; } or { barrier; r <- 1; }", nodes=24)
    facts = SequentialFacts(program)
    for _ in zip(range(3), facts.explore(), strict=False):
        pass
    assert facts.transitions == 2 * PIECE and facts.states == 2 * PIECE + 1
