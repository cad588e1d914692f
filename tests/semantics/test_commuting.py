"""Updates that commute: which do, what conflicts with what, and which edges follow (`proofs/commuting.md`)."""

from __future__ import annotations

import struct
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.analysis.touched import Planes, Touched
from pgasrob.program.core import COMMUTING, Access, Update
from pgasrob.program.expressions import IntType
from pgasrob.semantics.accesses import access_of, conflict
from pgasrob.semantics.computation import Computation, Event, writes
from pgasrob.semantics.effect import updated
from pgasrob.semantics.happens_before import HappensBefore
from tests.support import examples

TYPES = [IntType(bits, signed) for bits in (8, 16, 32, 64) for signed in (False, True)]
BOUNDARIES = [k * 2**bits + c for bits in (0, 7, 8, 15, 16, 31, 32, 63) for k in (-1, 1) for c in (-1, 0, 1)]
VALUES = st.sampled_from([value for value in BOUNDARIES if -(2**63) <= value < 2**63])


def bits(number: float) -> int:
    """The integer that a cell with a double holds."""
    return int.from_bytes(struct.pack(">d", number), "big", signed=True)


def after(operation: str, type: IntType, cell: int, *operands: int) -> int:
    for operand in operands:
        cell = updated(operation, cell, operand, 0, type)
    return cell


@given(st.sampled_from(sorted(COMMUTING)), st.sampled_from(TYPES), VALUES, VALUES, VALUES)
@settings(max_examples=examples(120))
def test_two_updates_of_a_kind_give_the_same_in_either_order(
    operation: str, type: IntType, cell: int, first: int, second: int
) -> None:
    assert after(operation, type, cell, first, second) == after(operation, type, cell, second, first)


@pytest.mark.parametrize(
    ("one", "other", "cell"),
    [
        (("set", 32, 1), ("set", 32, 2), 0),
        (("add", 32, 1), ("or", 32, 1), 0),
        (("max", 32, 1), ("add", 32, 1), 0),
        (("add", 8, 1), ("add", 32, 1), 126),  # one of them wraps
        (("add.", 64, bits(1.0)), ("add.", 64, bits(-(2.0**53))), bits(2.0**53)),  # one of them rounds
    ],
)
def test_other_updates_may_not(one: tuple[str, int, int], other: tuple[str, int, int], cell: int) -> None:
    def do(cell: int, operation: str, size: int, operand: int) -> int:
        return updated(operation, cell, operand, 0, IntType(size, True))

    kinds = [Update(operation, operand, None, IntType(size, True)).kind for operation, size, operand in (one, other)]
    assert not kinds[0] or kinds[0] != kinds[1]
    assert do(do(cell, *one), *other) != do(do(cell, *other), *one)


# Conflicts and edges

WAYS = [("load", ""), ("store", ""), ("swap", ""), ("popb", ""), ("popb", "add int32"), ("popb", "or int32")]


def event(place: int, way: tuple[str, str], cell: int) -> Event:
    kind, commutes = way
    return Event(kind, place % 3, place, cell, 0, commutes)  # type: ignore[arg-type]


@st.composite
def computations(draw: st.DrawFn) -> Computation:
    ways = draw(st.lists(st.tuples(st.sampled_from(WAYS), st.integers(0, 1)), max_size=9))
    return tuple(event(place, way, cell) for place, (way, cell) in enumerate(ways))


def conflicting(first: Event, second: Event) -> bool:
    one, other = access_of(first), access_of(second)
    assert one is not None and other is not None
    return conflict(one, other)


@given(computations())
@settings(max_examples=examples(120))
def test_edges_are_between_conflicts_with_no_change_between_that_conflicts_with_both(computation: Computation) -> None:
    """All of them, but for those that are implied where updates of two kinds take turns."""
    edges, kinds = set(), {each.commutes for each in computation} - {""}
    for i, j in combinations(range(len(computation)), 2):
        if conflicting(computation[i], computation[j]) and not any(
            writes(between.kind) and conflicting(computation[i], between) and conflicting(between, computation[j])
            for between in computation[i + 1 : j]
        ):
            edges.add((i, j))
    found = HappensBefore(computation).conflicts
    joined = {(edge.source, edge.target) for edge in found}
    assert len(found) == len(joined)
    assert joined == edges if len(kinds) < 2 else joined <= edges


@given(computations())
@settings(max_examples=examples(180))
def test_there_is_a_path_between_conflicts(computation: Computation) -> None:
    """Lemma 0 (`proofs/README.md`)."""
    later: dict[int, set[int]] = {place: set() for place in range(len(computation))}
    for edge in HappensBefore(computation).conflicts:
        later[edge.source].add(edge.target)
    for place in reversed(range(len(computation))):
        later[place] |= set().union(*(later[target] for target in later[place]))
    for i, j in combinations(range(len(computation)), 2):
        if conflicting(computation[i], computation[j]):
            assert j in later[i]


ACCESSES = [
    Access(cell, reads, writes, commutes)
    for cell, (reads, writes, commutes) in product(
        (0, 1),
        [(True, False, ""), (False, True, ""), (True, True, ""), (True, True, "add int32"), (True, True, "or int32")],
    )
]
SETS = st.lists(st.sampled_from(ACCESSES), max_size=4)


def touched(accesses: list[Access[int]]) -> Touched:
    found = Touched()
    for one in accesses:
        found = found.adding(one)
    return found


@given(SETS, SETS)
@settings(max_examples=examples(120))
def test_sets_of_accesses_conflict_as_their_members_do(first: list[Access[int]], second: list[Access[int]]) -> None:
    one, other = touched(first), touched(second)
    planes = Planes(2, ("add int32", "or int32"))
    pairs = any(conflict(mine, its) for mine in first for its in second)
    assert one.conflicts(other) == pairs
    assert any(one.hits(its) for its in second) == pairs
    assert bool(planes.bits(one) & planes.against(other)) == pairs
    assert planes.touched(planes.bits(one)) == one
    met = [mine for mine in first if any(conflict(mine, its) for its in second)]
    for later in ACCESSES:  # what is left of a set meets what may come as the whole set does
        if later in second:
            assert one.met_by(other).hits(later) == any(conflict(mine, later) for mine in met)
