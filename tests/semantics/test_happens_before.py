"""Happens-before and its cycles (the paper, section 3) against a naive reading of the definitions.

The naive relation here is between all events, closed transitively; the code under test works with commands.
"""

from __future__ import annotations

import time
from itertools import combinations, product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.semantics import happens_before
from pgasrob.semantics.computation import POPS, Computation, Event
from pgasrob.semantics.happens_before import Edge, HappensBefore
from pgasrob.semantics.state_space import computation_of
from tests.support import Drawn, computations, drawn_programs, examples, instance, one_to_one, walks

WRITES = {"store", "popb", "fetch_add", "swap", "compare_swap"}


def event(text: str) -> Event:
    """``"popb 0.1 x"``: kind, rank and operation, cell."""
    kind, number, *cell = text.split()
    rank, operation = number.split(".")
    return Event(kind, int(rank), int(operation), "xyz".index(cell[0]) if cell else None, 0)


def events(text: str) -> Computation:
    return tuple(event(part) for part in text.strip().replace("\n", ",").split(","))


# Naive definitions


def identical(computation: Computation) -> list[list[bool]]:
    """The identity relation: events of one command, and matching events of one barrier."""
    passed: dict[int, int] = {}
    names: list[object] = []
    for event in computation:
        passed[event.rank] = passed.get(event.rank, 0) + (event.kind == "barrier")
        names.append(passed[event.rank] if event.kind == "barrier" else (event.rank, event.operation))
    return [[first == second for second in names] for first in names]


def naive_conflicts(computation: Computation) -> set[tuple[int, int]]:
    """tau = alpha e1 beta e2 gamma: same address, one writes, no write to it in beta."""
    found = set()
    for i, j in combinations(range(len(computation)), 2):
        first, second = computation[i], computation[j]
        if first.cell is None or first.cell != second.cell or not {first.kind, second.kind} & WRITES:
            continue
        if not any(between.cell == first.cell and between.kind in WRITES for between in computation[i + 1 : j]):
            found.add((i, j))
    return found


def naive_program_order(computation: Computation) -> set[tuple[int, int]]:
    """All pairs of issued events of one rank, in order."""
    issued = [place for place, event in enumerate(computation) if event.kind not in POPS]
    return {(i, j) for i, j in combinations(issued, 2) if computation[i].rank == computation[j].rank}


def shortest_cycle(computation: Computation) -> float:
    """The least number of commands on a cycle of two or more of them, inf when there is none."""
    same = identical(computation)
    links = {
        (first, second)
        for i, j in naive_conflicts(computation) | naive_program_order(computation)
        for first, second in product(range(len(computation)), repeat=2)
        if same[i][first] and same[j][second] and not same[i][j]
    }
    places = range(len(computation))
    distance = {pair: 1.0 if pair in links else inf for pair in product(places, places)}
    for middle, first, second in product(places, places, places):
        distance[first, second] = min(distance[first, second], distance[first, middle] + distance[middle, second])
    return min((distance[place, place] for place in places), default=inf)


# The relations


def test_program_order_joins_neighbouring_issued_events_of_a_rank() -> None:
    relation = HappensBefore(events("write 0.0, load 1.0 x, popa 0.0 x, load 0.1 x, popb 0.0 y, assign 0.2"))
    assert relation.program_order == (Edge(0, 3, "po"), Edge(3, 5, "po"))


@pytest.mark.parametrize(
    ("computation", "conflicts"),
    [
        ("load 0.0 x, load 1.0 x", []),
        ("load 0.0 x, store 1.0 x", [(0, 1)]),
        ("store 0.0 x, load 1.0 x", [(0, 1)]),
        ("store 0.0 x, store 1.0 x", [(0, 1)]),
        ("store 0.0 x, store 1.0 y", []),
        ("store 0.0 x, store 1.0 x, store 0.1 x", [(0, 1), (1, 2)]),
        ("load 0.0 x, load 1.0 x, store 0.1 x, load 1.1 x", [(0, 2), (1, 2), (2, 3)]),
        ("load 0.0 x, swap 1.0 x, load 0.1 x", [(0, 1), (1, 2)]),
        ("compare_swap 0.0 x, compare_swap 1.0 x, load 0.1 x", [(0, 1), (1, 2)]),
        ("await 0.0 x, store 1.0 x", [(0, 1)]),
        ("write 0.0, popa 0.0 x, store 1.0 x, popb 0.0 y, load 1.1 y", [(1, 2), (3, 4)]),
        ("write 0.0, popa 0.0 x, popb 0.0 x", [(1, 2)]),
    ],
)
def test_conflicts(computation: str, conflicts: list[tuple[int, int]]) -> None:
    relation = HappensBefore(events(computation))
    assert {(edge.source, edge.target) for edge in relation.conflicts} == set(conflicts)
    assert naive_conflicts(events(computation)) == set(conflicts)


def test_identity_joins_the_events_of_a_command() -> None:
    relation = HappensBefore(events("write 0.0, write 0.1, popa 0.1 x, popa 0.0 x, popb 0.0 y, popb 0.1 y"))
    assert {(edge.source, edge.target) for edge in relation.identities} == {(0, 3), (3, 4), (1, 2), (2, 5)}
    assert relation.commands == (0, 1, 1, 0, 0, 1)


def test_a_barrier_is_one_command_of_all_ranks() -> None:
    relation = HappensBefore(events("load 0.0 x, barrier 0.1, barrier 1.0, barrier 0.2, barrier 1.1"))
    assert relation.commands == (0, 1, 1, 2, 2)
    assert [(edge.source, edge.target) for edge in relation.identities] == [(1, 2), (3, 4)]


def test_the_edges_are_those_of_the_three_relations() -> None:
    relation = HappensBefore(events("write 0.0, popa 0.0 x, store 0.1 x, popb 0.0 y"))
    assert set(relation.edges) == {Edge(0, 2, "po"), Edge(1, 2, "cf"), Edge(0, 1, "id"), Edge(1, 3, "id")}


# Cycles by hand


def test_an_edge_from_a_command_to_itself_is_no_violation() -> None:
    """Design, section 2: a write whose source and destination are the same cell. (The paper's wording counts it.)"""
    assert HappensBefore(events("write 0.0, popa 0.0 x, popb 0.0 x")).cycle is None


def test_two_overlapping_self_copies_are_a_violation() -> None:
    text = "write 0.0, write 0.1, popa 0.0 x, popa 0.1 x, popb 0.0 x, popb 0.1 x"
    assert HappensBefore(events(text)).cycle is not None


def test_barriers_alone_are_no_cycle() -> None:
    assert HappensBefore(events("barrier 0.0, barrier 1.0, barrier 0.1, barrier 1.1")).cycle is None


def test_a_cycle_through_a_barrier_is_found() -> None:
    """The barrier is entered at one rank and left at another."""
    text = "write 0.0, popa 0.0 x, barrier 0.1, barrier 1.0, load 1.1 y, popb 0.0 y"
    cycle = HappensBefore(events(text)).cycle
    assert cycle is not None
    assert [(edge.source, edge.target, edge.relation) for edge in rotated(cycle)] == [
        (0, 2, "po"),
        (2, 3, "id"),
        (3, 4, "po"),
        (4, 5, "cf"),
        (5, 0, "id"),
    ]


def rotated(cycle: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """The same cycle from its smallest source on."""
    first = min(range(len(cycle)), key=lambda place: cycle[place].source)
    return cycle[first:] + cycle[:first]


def test_po_edges_of_a_cycle_may_skip_commands() -> None:
    text = "write 0.0, assign 0.1, assign 0.2, load 0.3 y, popa 0.0 x, popb 0.0 y"
    cycle = HappensBefore(events(text)).cycle
    assert cycle is not None
    assert [(edge.source, edge.target, edge.relation) for edge in rotated(cycle)] == [
        (0, 3, "po"),
        (3, 5, "cf"),
        (5, 0, "id"),
    ]


def test_a_shortest_cycle_is_chosen() -> None:
    """There is one over four commands of two ranks (store buffering) and, in the end, one of two commands."""
    long = "write 0.0,write 1.0,popa 0.0 z,popa 1.0 z,load 0.1 x,load 1.1 y,popb 0.0 y,popb 1.0 x"
    both = events(f"{long},write 0.2,load 0.3 z,popa 0.2 x,popb 0.2 z")
    assert commands_of(events(long)) == 4
    assert commands_of(both) == 2


def commands_of(computation: Computation) -> int:
    cycle = HappensBefore(computation).cycle
    assert cycle is not None
    return sum(edge.relation != "id" for edge in cycle)


def test_how_many_computations_of_1to1_are_violating() -> None:
    """Pinned; the naive definition gives the same."""
    found = computations(one_to_one())
    violating = {computation for computation in found if HappensBefore(computation).cycle}
    assert (len(found), len(violating)) == (1737, 1088)


# Against the naive definitions


@st.composite
def random_events(draw: st.DrawFn) -> Computation:
    """Sequences of events that need be no computation of any program; steps come after their issue."""
    found: list[Event] = []
    open_steps: list[tuple[str, int, int]] = []
    issued = [0, 0, 0]
    for _ in range(draw(st.integers(0, 12))):
        kinds = ["load", "store", "swap", "write", "assign", "barrier"] + ["step"] * 3 * bool(open_steps)
        kind = draw(st.sampled_from(kinds))
        rank, cell = draw(st.integers(0, 2)), draw(st.integers(0, 1))
        if kind == "barrier":
            for other in range(3):
                found.append(Event("barrier", other, issued[other], None, 0))
                issued[other] += 1
        elif kind == "step":
            name, rank, operation = open_steps.pop(draw(st.integers(0, len(open_steps) - 1)))
            found.append(Event(name, rank, operation, cell, 0))
            if name == "popa":
                open_steps.append(("popb", rank, operation))
        else:
            found.append(Event(kind, rank, issued[rank], None if kind in ("write", "assign") else cell, 0))
            if kind == "write":
                open_steps.append(("popa", rank, issued[rank]))
            issued[rank] += 1
    return tuple(found)


def check_cycle(computation: Computation) -> None:
    cycle = HappensBefore(computation).cycle
    expected = shortest_cycle(computation)
    assert (cycle is None) == (expected == inf)
    if cycle is None:
        return
    same = identical(computation)
    po, cf = naive_program_order(computation), naive_conflicts(computation)
    for edge, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert edge.target == following.source
        pair = (edge.source, edge.target)
        if edge.relation == "id":
            assert same[edge.source][edge.target] and edge.source != edge.target
        else:
            assert pair in (po if edge.relation == "po" else cf)
            assert not same[edge.source][edge.target]
    assert sum(edge.relation != "id" for edge in cycle) == expected >= 2
    assert any(edge.relation == "cf" for edge in cycle)


@given(random_events())
@settings(max_examples=examples(180))
def test_relations_agree_with_their_definitions(computation: Computation) -> None:
    relation = HappensBefore(computation)
    same = identical(computation)
    places = range(len(computation))
    assert {edge[:2] for edge in relation.conflicts} == naive_conflicts(computation)
    assert [[a == b for b in relation.commands] for a in relation.commands] == same
    assert closed({edge[:2] for edge in relation.program_order}, len(places)) == naive_program_order(computation)
    identities = {edge[:2] for edge in relation.identities}
    both_ways = closed(identities | {(j, i) for i, j in identities}, len(places))
    assert {(i, j) for i, j in both_ways if i != j} == {(i, j) for i in places for j in places if same[i][j] and i != j}


def closed(pairs: set[tuple[int, int]], size: int) -> set[tuple[int, int]]:
    """The transitive closure."""
    found = set(pairs)
    for middle, first, second in product(range(size), repeat=3):
        if (first, middle) in found and (middle, second) in found:
            found.add((first, second))
    return found


@given(random_events())
@settings(max_examples=examples(180))
def test_the_cycle_is_a_shortest_one_and_closes_up(computation: Computation) -> None:
    check_cycle(computation)


@given(st.data(), drawn_programs(loops=True))
@settings(max_examples=examples(60))
def test_the_cycle_of_a_computation_is_a_shortest_one_and_closes_up(data: st.DataObject, drawn: Drawn) -> None:
    check_cycle(computation_of(data.draw(walks(drawn.instance, 10))))


def test_a_rank_number_does_not_matter_for_a_single_rank_cycle() -> None:
    program = instance("write(x, 0, y, q); r <- mem[y];")
    assert sum(HappensBefore(computation).cycle is not None for computation in computations(program)) == 2


@given(random_events(), st.sampled_from([1, 2, 3]))
@settings(max_examples=examples(120))
def test_the_cycle_does_not_depend_on_how_many_commands_are_looked_at_together(
    computation: Computation, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        expected = HappensBefore(computation).cycle
        patch.setattr(happens_before, "BLOCK", block)
        assert HappensBefore(computation).cycle == expected


def long_run(rounds: int, last: str) -> Computation:
    """A rank that stores ``rounds`` times, then ``last``; another one that does the same with a cell of its own."""
    commands = [(kind, rank) for _ in range(rounds) for rank in (0, 1) for kind in ("store", "assign")]
    issued = [0, 0]
    found = []
    for kind, rank in commands:
        found.append(Event(kind, rank, issued[rank], 2 + rank if kind == "store" else None, 0))
        issued[rank] += 1
    return tuple(found) + tuple(each._replace(operation=each.operation + issued[each.rank]) for each in events(last))


def test_a_long_run_is_no_trouble() -> None:
    """10,000 events and more take a fraction of a second; looking through all pairs would take an hour."""
    runs = {
        "write 0.0, load 0.1 y, popa 0.0 x, popb 0.0 y": 2,
        "write 0.0, write 1.0, load 0.1 x, load 1.1 y, popa 0.0 z, popb 0.0 y, popa 1.0 z, popb 1.0 x": 4,
        "write 0.0, popa 0.0 x, popb 0.0 y, load 0.1 y": None,
    }
    began = time.process_time()
    for last, expected in runs.items():
        cycle = HappensBefore(long_run(2_500, last)).cycle
        assert (cycle and sum(edge.relation != "id" for edge in cycle)) == expected
    assert time.process_time() - began < 10
