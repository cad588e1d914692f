"""Runs made of choices: what may come next is what X(P, N) has, and all else has a reason."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pgasrob.explore.position import Position, follow
from pgasrob.explore.request_bounds import MOST_CHOICES, MOST_EVENTS
from pgasrob.explore.why_blocked import why_not_issued, why_not_yet
from pgasrob.program.instance import Instance
from pgasrob.robustness.load import load
from pgasrob.semantics.replay import replay
from pgasrob.semantics.state_space import StateSpace

PROGRAMS = Path(__file__).parents[2] / "programs"
WALKED = (
    "one_to_one/one_to_one.pgas",
    "iriw/iriw_get_unordered.pgas",
    "mcs_lock/mcs_lock_late_reset.pgas",
    "notification/later_write.pgas",
    "bundled_signal/counted.pgas",
    "deferred_atomics/old_value.pgas",
    "ticket_lock/ticket_lock_put_wait_local.pgas",
    "two_plus_two_writes/two_plus_two_writes_fence_two_targets.pgas",
    "control/puts_in_a_loop_unordered.pgas",
    "deadlock/missing_barrier.pgas",
    "faults/division_by_zero.pgas",
    "c/openshmem/message_passing_fence.c",
    "c/mpi/fence_halo.c",
)


def instance_of(path: str) -> Instance:
    return load(PROGRAMS / path).instantiate()


def walk(instance: Instance, automatic: bool, seed: int, most: int = 60) -> list[str]:
    """The choices of a random run."""
    chance = random.Random(seed)
    position, _ = follow(instance, (), automatic)
    run: list[str] = []
    while len(run) < most and (moves := position.moves()):
        run.append(chance.choice(moves).name)
        position, stop = follow(instance, run, automatic)
        assert stop is None
        assert [choice for choice, _ in position.made] == run
    return run


@pytest.mark.parametrize("path", WALKED)
def test_what_is_possible_is_listed_and_all_else_has_a_reason(path: str) -> None:
    instance = instance_of(path)
    space, chance = StateSpace(instance), random.Random(path)
    position = Position(instance)
    for _ in range(80):
        moves = position.moves()
        assert [(move.word, move.target) for move in moves] == list(space.successors(position.state))
        assert len({move.name for move in moves}) == len(moves)
        barrier = any(len(move.word) > 1 for move in moves)
        for rank, automaton in enumerate(instance.automata):
            issued = {move.word[0].which for move in moves if move.rank == rank and not move.step}
            for transition in automaton.out[position.state.control[rank]]:
                why = why_not_issued(position, rank, transition, lambda rank, operation: f"{rank}.{operation}")
                possible = barrier if transition.command.kind == "barrier" else transition.occurrence in issued
                assert (why is None) == possible, (transition.command, why)
            for operation in position.pending[rank]:
                why = why_not_yet(position, rank, operation, lambda rank, operation: f"{rank}.{operation}")
                assert (why is None) == (f"s{rank}.{operation}" in {move.name for move in moves}), why
        if not moves:
            break
        position.take(chance.choice(moves))
    assert replay(instance, position.computation).memory == position.state.memory


@pytest.mark.parametrize("path", WALKED)
@pytest.mark.parametrize("automatic", [True, False])
def test_a_run_means_the_same_with_local_steps_by_themselves_and_one_by_one(path: str, automatic: bool) -> None:
    """But for what is local at its end."""
    instance = instance_of(path)
    run = walk(instance, automatic, seed=3)
    by_themselves, stop = follow(instance, run, True)
    one_by_one, stopped = follow(instance, run, False)
    assert stop is stopped is None
    named, fewer = ([choice for choice, _ in position.made] for position in (one_by_one, by_themselves))
    assert run == (fewer if automatic else named)
    assert [choice for choice in named if choice in fewer] == fewer
    for choices in (named, fewer):
        assert follow(instance, choices, True)[0].state == by_themselves.state
    assert one_by_one.state.memory == by_themselves.state.memory


def test_names_are_of_ranks_and_operations() -> None:
    position, _ = follow(instance_of("one_to_one/one_to_one.pgas"), ("0.0", "1.0", "s0.0", "0.1"), False)
    assert [event.kind for event in position.computation] == ["write", "write", "popa", "barrier", "barrier"]
    assert position.made == [("0.0", 1), ("1.0", 2), ("s0.0", 3), ("0.1", 5)]
    assert [move.name for move in position.moves()] == ["0.2", "1.2", "s0.0", "s1.0"]


@pytest.mark.parametrize(
    ("run", "place", "message"),
    [
        (("0.0", "0.1"), 1, "not possible here"),  # rank 1 is not at the barrier
        (("0.0", "s0.1"), 1, "not possible here"),
        (("7.0",), 0, "not possible here"),
        (("0.0", "rm -rf"), 1, "no choice"),
        (("0.0", "0.0"), 1, "not possible here"),
    ],
)
def test_a_run_ends_before_what_cannot_be(run: tuple[str, ...], place: int, message: str) -> None:
    position, stop = follow(instance_of("one_to_one/one_to_one.pgas"), run, True)
    assert stop
    assert (stop.place, len(position.made)) == (place, place)
    assert message in stop.reason


def test_endless_local_loops_and_long_runs_are_cut(tmp_path: Path) -> None:
    text = "program spin; nodes 2; memory x; register r;\nprocess { while (1) { r <- r + 1; } }\n"
    (tmp_path / "spin.pgas").write_text(text)
    instance = load(tmp_path / "spin.pgas").instantiate()
    position, _ = follow(instance, (), True)
    assert position.events <= MOST_EVENTS
    position, stop = follow(instance, [f"0.{number}" for number in range(2 * MOST_CHOICES)], False)
    assert stop
    assert f"at most {MOST_CHOICES} choices" in stop.reason
    assert position.events <= MOST_EVENTS
