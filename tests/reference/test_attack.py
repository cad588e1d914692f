"""The attack search decides what the other engines decide, and its witnesses are what it says they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

import pgasrob
from pgasrob.program.instance import Instance
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.support import Drawn, drawn_programs, examples, instance, one_to_one

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").rglob("*.pgas"))


def attack(program: Instance) -> AttackSearch:
    found = AttackSearch(program)
    for _ in found.run():
        pass
    return found


@pytest.mark.nightly  # tests/test_corpus.py holds both engines to what the headers say
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_corpus(path: Path) -> None:
    program = pgasrob.load(path)
    assert pgasrob.check(program, engine="attack").verdict == pgasrob.check(program, engine="product").verdict


@given(drawn_programs())
@settings(max_examples=examples(17))
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


@pytest.mark.parametrize(
    ("first", "second", "violating"),
    [
        # The put of the second rank is e: its read leaves the cycle, which enters by program order.
        ("put(x, 1, y, u); put(x, 1, z, u);", "await(mem[z] == 1); put(y, 0, w, u);", True),
        # It is e: the cycle enters by its read and leaves by its popb.
        ("put(x, 1, y, u); put(x, 1, z, u);", "put(z, 1, y, u);", True),
        ("update(add, 1, 1, x, u); put(x, 1, z, u);", "put(z, 1, x, u);", True),
        # It is reached by its read alone, and what comes after it is e.
        ("put(x, 1, y, u); put(x, 1, z, u);", "put(z, 0, w, u); r <- mem[y];", True),
        # A put after the source has read what e's rank overwrites before e.
        ("put(x, 1, y, u); put(z, 1, w, v);", "r <- swap(0, z, 5); r <- mem[y];", True),
        # What it reads is delayed: it comes after that, or its popb does not go before anything.
        ("put(x, 1, y, u); put(x, 1, z, u);", "put(y, 1, w, u); r <- mem[z];", False),
    ],
)
def test_a_put_takes_part_by_its_read_and_by_its_step(first: str, second: str, violating: bool) -> None:
    """`proofs/attack.md`, section 6: a bound access and a step."""
    program = instance(first, second)
    for found in (AttackSearch(program), DefinitionSearch(program)):
        for _ in found.run():
            pass
        assert (found.violation is not None) == violating


WAITS = {
    "await": "await(mem[w] == 0);",
    "await_add": "await_add(0, mem[w] == 0, 5);",
    "poll": "r <- mem[w]; while (r) { r <- mem[w]; }",
}


@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS)
@pytest.mark.parametrize(
    ("ranks", "violating"),
    [
        # Neither increment may have happened when the wait is over, which is behind both issues.
        (("await(mem[y] == 1); update(add, 1, 0, w, u); {}", "update(add, 1, 0, w, u); r <- swap(0, y, 1);"), True),
        # Three of them, by three ranks.
        (
            (
                "await(mem[y] == 2); update(add, 1, 0, w, u); {}",
                "update(add, 1, 0, w, u); r <- fetch_add(0, y, 1);",
                "update(add, 1, 0, w, u); r <- fetch_add(0, y, 1);",
            ),
            True,
        ),
        # Different kinds conflict: one of them is the source, which the other comes after.
        (("await(mem[y] == 1); update(add, 1, 0, w, u); {}", "update(or, 1, 0, w, u); r <- swap(0, y, 1);"), True),
        # One of the increments is over before, so that no run passes the wait.
        (
            (
                "await(mem[y] == 1); update(add, 1, 0, w, u); {}",
                "update(add, 1, 0, w, u); wait(u); r <- swap(0, y, 1);",
            ),
            False,
        ),
    ],
)
def test_a_wait_may_come_before_several_updates_of_one_kind(
    waits: str, ranks: tuple[str, ...], violating: bool
) -> None:
    """`proofs/attack.md`, section 5: further sources."""
    program = instance(*(rank.replace("{}", waits) for rank in ranks))
    kernel = [NativeSearch(program, reductions) for reductions in ((), ("infeasibility",), REDUCTIONS)]
    for found in (AttackSearch(program), DefinitionSearch(program), ProductSearch(program), *kernel):
        for _ in found.run():
            pass
        assert (found.violation is not None) == violating, found
        if found.violation is not None:
            computation = found.violation.computation
            assert replay(program, computation).complete and HappensBefore(computation).cycle is not None
