"""Programs with unknown values are no better than those with known values that they stand for (`unknown_c`)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from pgasrob.frontends.c.asked import Questions
from tests.frontends.random_c import draw
from tests.frontends.unknown_c import Compared, compare, guarded, passing, written
from tests.support import examples

BATCHES = 6


def checked(text: str, places: int, seed: int) -> Compared:
    found = compare(text, places, Random(seed))
    assert not found.wrong, f"seed {seed}: {found.wrong}\n{text}"
    return found


@pytest.mark.parametrize("batch", range(BATCHES))
def test_chains_of_computations(batch: int) -> None:
    for seed in range(batch, examples(4, 2_000), BATCHES):
        checked(*guarded(Random(seed)), seed)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_programs_in_disguise(batch: int) -> None:
    for seed in range(batch, examples(2, 1_000), BATCHES):
        random = Random(seed)
        text, places = written(draw(random), random)
        if places:
            checked(text, places, seed)


def test_values_that_are_passed_on() -> None:
    for seed in range(examples(3, 2_000)):
        text, places = passing(Random(seed), of_two=seed % 2 == 1)
        found = compare(text, places, Random(seed), 4)
        assert not found.wrong, f"seed {seed}: {found.wrong}\n{text}"


def test_ranks_that_pass_values_on_branch_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cells are asked nothing, ranks go opposite ways by one value, and what that shows is open."""
    drawn = {seed: passing(Random(seed)) for seed in (1011, 1027, 1036, 1043)}
    alike = {seed: compare(*each, Random(seed), 2) for seed, each in drawn.items()}
    monkeypatch.setattr(Questions, "ask", lambda *_: None)
    apart = {seed: compare(*each, Random(seed), 0).unknown for seed, each in drawn.items()}
    assert all(each.excused and each.unknown.verdict == "robust" for each in alike.values())
    assert {seed: (each.verdict, each.deadlock) for seed, each in apart.items()} == {
        1011: ("robust", "unknown"),
        1027: ("robust", "unknown"),
        1036: ("robust", "unknown"),
        1043: ("unknown", False),
    }


def test_the_programs_are_worth_comparing() -> None:
    """Many answers depend on the values, and few are worse than all that they stand for."""
    found = [compare(*guarded(Random(seed)), Random(seed)) for seed in range(100, 106)]
    verdicts = Counter(each.unknown.verdict for each in found)
    assert min(verdicts["robust"], verdicts["not robust"]) >= 1
    assert sum(each.depends for each in found) >= 1
    assert sum(each.avoidable for each in found) <= 3
