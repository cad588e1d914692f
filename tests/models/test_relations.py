"""Relations as rows of bits, against sets of pairs, and shortest paths."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgasrob.models.relations import (
    closed,
    converse,
    empty,
    joined,
    of_pairs,
    pairs,
    shortest_path,
    union,
)

SIZE = 5
PAIRS = st.frozensets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=8)


def closure(relation: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    while True:
        more = relation | {(a, d) for a, b in relation for c, d in relation if b == c}
        if more == relation:
            return relation
        relation = more


@given(PAIRS, PAIRS)
def test_against_sets_of_pairs(first: frozenset[tuple[int, int]], second: frozenset[tuple[int, int]]) -> None:
    one, other = of_pairs(SIZE, first), of_pairs(SIZE, second)
    assert set(pairs(one)) == first
    assert set(pairs(union(one, other))) == first | second
    assert set(pairs(converse(one))) == {(b, a) for a, b in first}
    assert set(pairs(closed(one))) == closure(first)


@given(PAIRS, st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_a_pair_joins_a_closure(relation: frozenset[tuple[int, int]], source: int, target: int) -> None:
    rows = closed(of_pairs(SIZE, ((a, b) for a, b in relation if a < b)))
    before = list(rows)
    found = joined(rows, source, target)
    after = closure(frozenset(pairs(rows)) | {(source, target)})
    assert rows == before
    assert (None if found is None else frozenset(pairs(found))) == (None if any(a == b for a, b in after) else after)


def test_the_empty_relation() -> None:
    assert list(pairs(empty(3))) == []


AFTER = {"a": ["b", "c"], "b": ["d"], "c": ["e"], "d": ["e", "a"], "e": ["e"]}


@pytest.mark.parametrize(
    ("source", "target", "path"),
    [
        ("a", "d", "abd"),
        ("a", "e", "ace"),
        ("a", "a", "abda"),
        ("e", "e", "ee"),
        ("c", "a", ""),
        ("x", "x", ""),
        ("b", "c", "bdac"),
    ],
)
def test_shortest_path(source: str, target: str, path: str) -> None:
    assert "".join(shortest_path(AFTER, source, target)) == path


@given(PAIRS, st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_a_path_is_a_shortest_one(relation: frozenset[tuple[int, int]], source: int, target: int) -> None:
    after = {a: [b for c, b in sorted(relation) if c == a] for a in range(SIZE)}
    found = shortest_path(after, source, target)
    reached, steps = {source}, 0
    while target not in (reached := {b for a, b in relation if a in reached}) and steps < SIZE:
        steps += 1
    if target not in reached:
        assert found == []
        return
    assert len(found) == steps + 2
    assert (found[0], found[-1]) == (source, target)
    assert set(pairwise(found)) <= relation
