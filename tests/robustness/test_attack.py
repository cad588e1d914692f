"""The attack search decides what the other engines decide, and its witnesses are what it says they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

import pgasrob
from pgasrob.program.instance import Instance
from pgasrob.robustness.attack import AttackSearch
from pgasrob.robustness.product import ProductSearch
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.support import Drawn, drawn_programs, examples, instance, one_to_one

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").rglob("*.pgas"))


def attack(program: Instance) -> AttackSearch:
    found = AttackSearch(program)
    for _ in found.run():
        pass
    return found


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_corpus(path: Path) -> None:
    program = pgasrob.load(path)
    assert pgasrob.check(program, engine="attack").verdict == pgasrob.check(program, engine="product").verdict


@given(drawn_programs())
@settings(max_examples=examples(200))
def test_attack_agrees_with_product_and_shows_a_violation(drawn: Drawn) -> None:
    program = drawn.instance
    found, other = attack(program), ProductSearch(program)
    for _ in other.run():
        pass
    assert (found.violation is None) == (other.violation is None)
    if found.violation is not None:
        run = replay(program, found.violation.computation)
        assert run.complete
        assert HappensBefore(run.computation).cycle is not None


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_the_witness_has_two_parts_and_only_steps_in_the_second(nodes: int) -> None:
    violation = attack(one_to_one(nodes=nodes)).violation
    assert violation is not None and violation.parts is not None
    assert list(violation.parts) == sorted(violation.parts)
    assert all(event.is_step for event, part in zip(violation.computation, violation.parts, strict=True) if part == 2)


@pytest.mark.parametrize(("nodes", "states"), [(2, 25), (3, 89)])
def test_states_of_a_robust_one_to_one(nodes: int, states: int) -> None:
    """Pinned: a pruning bug shows here before it shows in a verdict."""
    assert attack(one_to_one("wait(q);", nodes)).states == states


@pytest.mark.parametrize(
    ("commands", "robust"),
    [
        ("write(x, 0, y, q); r <- mem[y];", False),  # the load is e and leaves at its issue
        ("write(x, 0, y, q); wait(q); r <- mem[y];", True),
        ("write(x, 0, y, q); mem[x] <- 2;", False),  # the source is the read of the put's source
        ("write(x, 0, y, q); wait_local(q); mem[x] <- 2;", True),
        ("write(x, 0, y, q); write(z, 0, y, q);", True),  # FIFO keeps the second from leaving
        ("write(x, 0, y, u); write(z, 0, y, u);", False),
        ("write(x, 0, y, u); fence(u); write(z, 0, y, u);", True),
        ("write(x, 0, x, q);", True),  # an edge from a command to itself
    ],
)
def test_one_rank(commands: str, robust: bool) -> None:
    assert (attack(instance(commands)).violation is None) == robust
