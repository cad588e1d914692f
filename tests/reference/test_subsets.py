"""Subsets of updates against trying all of them."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from pgasrob.program import core
from pgasrob.program.expressions import IntType
from pgasrob.reference.subsets import MOST_SETS, TooMany, Updates
from pgasrob.semantics.mazurkiewicz_trace import value_after

UINT8 = IntType(8, False)


def test_all_sets_and_the_greatest() -> None:
    random, found = Random(1), 0
    for _ in range(400):
        kind = random.choice(sorted(core.COMMUTING))
        updates = [core.Update(kind, random.choice((1, 1, 2, 255)), None, UINT8) for _ in range(random.randrange(6))]
        before, wanted = random.randrange(4), random.randrange(6)

        def passes(value: int, wanted: int = wanted) -> bool:
            return value == wanted or value > 250

        numbers = range(len(updates))
        all_sets = {frozenset(chosen) for size in range(len(updates) + 1) for chosen in combinations(numbers, size)}
        passing = {each for each in all_sets if passes(value_after(before, [updates[number] for number in each]))}
        proper = passing - {frozenset(numbers)}
        greatest = {each for each in proper if not any(each < other for other in proper)}
        told = Updates(before, updates)
        assert sorted(map(sorted, told.passing(passes))) == sorted(map(sorted, passing))
        assert sorted(map(sorted, told.greatest(passes))) == sorted(map(sorted, greatest))
        found += bool(greatest)
    assert found > 100


def test_many_that_are_alike_are_counted() -> None:
    """All of 500 are needed: that is found out at once."""
    updates = Updates(0, [core.Update("add", 1)] * 500)
    assert [len(each) for each in updates.passing(lambda value: value >= 500)] == [500]
    assert not list(updates.greatest(lambda value: value >= 500))
    assert sum(1 for _ in updates.greatest(lambda value: value >= 499)) == 500


def test_too_many() -> None:
    half = Updates(0, [core.Update("add", 1)] * 30)
    with pytest.raises(TooMany):
        list(half.greatest(lambda value: value == 15))
    assert MOST_SETS < 155_117_520  # that many sets of 15 there are
    different = Updates(0, [core.Update("add", 1 << number) for number in range(20)])
    with pytest.raises(TooMany):
        list(different.passing(lambda value: value == 1))
