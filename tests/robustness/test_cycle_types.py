"""Cycle types and the automata Z (the paper, section 5.3): which marked events are joined, and how."""

from __future__ import annotations

from itertools import permutations
from math import comb, factorial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.automata.multiheaded import comp
from pgasrob.program.instance import Instance
from pgasrob.robustness.cycle_types import (
    CycleTypeAutomata,
    conflict_automaton,
    cycle_types,
    possible_cycle_types,
    some_conflict,
)
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, UNMARKED, Marked
from pgasrob.robustness.normal_form import Letter, NormalForm
from pgasrob.semantics.accesses import access_of
from tests.automata.strategies import accepts
from tests.support import FURTHER, drawn_programs, examples, instance, one_to_one, tiny_instances

WRITES = {"store", "popb", "popc", "fetch_add", "swap", "compare_swap", "fetch_update", "await_add"}

# Cycle types


def rotations(cycle: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {cycle[turn:] + cycle[:turn] for turn in range(len(cycle))}


@pytest.mark.parametrize("nodes", range(1, 7))
def test_there_is_one_cycle_type_for_every_set_of_rotations(nodes: int) -> None:
    found = list(cycle_types(nodes))
    everything = {ranks for size in range(1, nodes + 1) for ranks in permutations(range(nodes), size)}
    assert set().union(*map(rotations, found)) == everything
    assert sum(len(rotations(cycle)) for cycle in found) == len(everything)
    assert len(found) == sum(comb(nodes, size) * factorial(size - 1) for size in range(1, nodes + 1))


def test_cycle_types_come_shortest_first_and_begin_with_their_smallest_rank() -> None:
    assert list(cycle_types(3)) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 2, 1)]


@given(st.integers(1, 5), st.sets(st.frozensets(st.integers(0, 4), min_size=1, max_size=2)))
def test_possible_cycle_types_are_those_whose_neighbours_are_joined(nodes: int, edges: set[frozenset[int]]) -> None:
    """Shortest first, and nothing lost by walking the graph."""

    def joined(source: int, target: int) -> bool:
        return frozenset((source, target)) in edges

    found = [cycle for cycle in possible_cycle_types(nodes, joined) if cycle is not None]
    pairs = lambda cycle: zip(cycle, cycle[1:] + cycle[:1], strict=True)  # noqa: E731
    assert found == sorted(found, key=len)
    assert sorted(found) == sorted(cycle for cycle in cycle_types(nodes) if all(joined(*pair) for pair in pairs(cycle)))


def test_impossible_cycle_types_cost_next_to_nothing() -> None:
    """Twelve ranks, of which two share a cell: 108 million cycle types, looked for in a few thousand steps."""
    joined = {(0, 0), (0, 1), (1, 0)}
    looked = list(possible_cycle_types(12, lambda source, target: (source, target) in joined))
    assert [cycle for cycle in looked if cycle is not None] == [(0,), (0, 1)]
    assert len(looked) < 5000


def test_the_numbers_of_cycle_types() -> None:
    assert [sum(1 for _ in cycle_types(nodes)) for nodes in range(1, 8)] == [1, 3, 8, 24, 89, 415, 2372]


# One pair of ranks


def edge(word: list[Marked], source: int, target: int) -> bool:
    """Whether a conflict or barrier identity leads from the `leave` event of ``source`` to the `enter` event of
    ``target``. Writes between are not looked at, as in the paper: the conflict is then one of several edges."""
    leaves = [place for place, (event, marks) in enumerate(word) if event.rank == source and LEAVE in marks]
    enters = [place for place, (event, marks) in enumerate(word) if event.rank == target and ENTER in marks]
    if len(leaves) != 1 or len(enters) != 1:
        return False
    first, second = word[leaves[0]].event, word[enters[0]].event
    if first.kind == second.kind == "barrier":
        return source != target and barrier_of(word, leaves[0]) == barrier_of(word, enters[0])
    commute = bool(first.commutes) and first.commutes == second.commutes
    same = first.cell is not None and first.cell == second.cell and not commute
    return same and bool({first.kind, second.kind} & WRITES) and leaves[0] < enters[0]


def barrier_of(word: list[Marked], place: int) -> int:
    """Which barrier of the word the event at ``place`` belongs to: the rank has passed so many before."""
    rank = word[place].event.rank
    return sum(event.kind == "barrier" and event.rank == rank for event, _ in word[:place])


@st.composite
def marked_words(draw: st.DrawFn, program: Instance, cycle: tuple[int, ...], heads: int) -> list[Marked]:
    """A random normal-form computation; every rank of ``cycle`` has a `leave` mark somewhere and the next rank an
    `enter` mark, mostly on events that could be joined."""
    automaton = NormalForm(program, heads)
    state, path = automaton.initial, []
    for _ in range(draw(st.integers(4, 14))):
        edges = list(automaton.successors(state))
        if not edges:
            break
        word, state = edges[draw(st.integers(0, len(edges) - 1))]
        path += word
    events = comp(path, heads)
    marks: list[set[str]] = [set() for _ in events]
    for source, target in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        pairs = [(leave, enter) for leave in places(events, source) for enter in places(events, target)]
        alike = [
            (leave, enter) for leave, enter in pairs if leave != enter and might_join(events[leave], events[enter])
        ]
        if pairs:
            leave, enter = draw(st.sampled_from(alike if alike and draw(st.integers(0, 3)) else pairs))
            marks[leave].add(LEAVE)
            marks[enter].add(ENTER)
    return [Marked(event, frozenset(mark)) for event, mark in zip(events, marks, strict=True)]


def might_join(first: Letter, second: Letter) -> bool:
    return first.cell == second.cell and (first.kind == "barrier" or bool({first.kind, second.kind} & WRITES))


def places(events: tuple[Letter, ...], rank: int) -> list[int]:
    """Where events of ``rank`` can be marked."""
    return [
        place
        for place, event in enumerate(events)
        if event.rank == rank and (event.cell is not None or event.kind == "barrier")
    ]


SHARING = (
    "r <- swap(0, x, 1);", "mem[x] <- 1;", "r <- mem[x];", "write(x, (me + 1) % nodes, x, q);",
    "read(x, (me + 1) % nodes, x, q);", "barrier;", "barrier;",
)  # fmt: skip


@st.composite
def sharing_programs(draw: st.DrawFn) -> Instance:
    """Every rank runs the same few commands on the cells x: most pairs of events could be joined."""
    commands = draw(st.lists(st.sampled_from(SHARING), min_size=2, max_size=6))
    return instance(" ".join(commands), nodes=draw(st.integers(2, 3)))


PROGRAMS = sharing_programs() | drawn_programs().map(lambda drawn: drawn.instance) | tiny_instances(6, FURTHER)


@given(PROGRAMS, st.data())
@settings(max_examples=examples(40))
def test_z_accepts_the_marked_words_with_an_edge_between_the_marked_events(
    program: Instance, data: st.DataObject
) -> None:
    source, target = (data.draw(st.integers(0, program.nodes - 1)) for _ in range(2))
    cycle = (source,) if source == target else (source, target)
    word = data.draw(marked_words(program, cycle, data.draw(st.sampled_from([2, 4]))))
    pair = CycleTypeAutomata(program).pair(source, target)
    both = any(event.rank == source == target and marks == {ENTER, LEAVE} for event, marks in word)
    assert accepts(pair.acceptor(), tuple(word)) == (edge(word, source, target) and not both)


BARRIERS = instance("mem[x] <- 1; barrier; barrier; r <- mem[x];", nodes=3)
E, L, EL = frozenset((ENTER,)), frozenset((LEAVE,)), frozenset((ENTER, LEAVE))


def barrier(*marks: frozenset[str]) -> list[Marked]:
    return [Marked(Letter("barrier", rank, None, 0), mark) for rank, mark in enumerate(marks)]


def event(kind: str, rank: int, cell: int, marks: frozenset[str] = UNMARKED) -> Marked:
    return Marked(Letter(kind, rank, cell, 0), marks)


def z(word: list[Marked], source: int, target: int, program: Instance = BARRIERS) -> bool:
    return accepts(CycleTypeAutomata(program).pair(source, target).acceptor(), tuple(word))


N = UNMARKED


@pytest.mark.parametrize("order", list(permutations(range(3), 2)))
def test_ranks_are_joined_by_one_barrier_and_not_by_two(order: tuple[int, int]) -> None:
    """Whichever of the two events comes first in the word."""
    source, target = order
    leave = [L if rank == source else N for rank in range(3)]
    enter = [E if rank == target else N for rank in range(3)]
    both = [mark | other for mark, other in zip(leave, enter, strict=True)]
    none = [N, N, N]
    assert z(barrier(*both), source, target)
    assert z(barrier(*none) + barrier(*both) + barrier(*none), source, target)
    assert not z(barrier(*leave) + barrier(*enter), source, target)
    assert not z(barrier(*enter) + barrier(*leave), source, target)
    assert not z(barrier(*leave) + barrier(*none) + barrier(*enter), source, target)
    assert not z(barrier(*leave), source, target)
    assert not z(barrier(*enter), source, target)


def test_other_marks_on_a_barrier_do_not_matter() -> None:
    assert z(barrier(EL, EL, N), 0, 1) and z(barrier(EL, EL, N), 1, 0)
    assert z(barrier(L, E, EL), 0, 1) and z(barrier(E, EL, EL), 2, 0)


def test_a_barrier_and_an_access_are_not_joined() -> None:
    assert not z([*barrier(L, N, N), event("load", 1, 4, E)], 0, 1)
    assert not z([event("store", 0, 0, L), *barrier(N, E, N)], 0, 1)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("popa", "popa", False),
        ("popa", "popb", True),
        ("store", "popa", True),
        ("popb", "popb", True),
        ("swap", "popa", True),
        ("load", "popa", False),
        ("load", "popb", True),
        ("compare_swap", "compare_swap", True),
    ],
)
def test_a_conflict_needs_a_write(first: str, second: str, joined: bool) -> None:
    """Every rank can do everything to every cell, as far as the program text tells."""
    everything = instance(
        "choose { mem[r] <- 1; } or { r <- swap(r, r, 1); } or { read(r, r, r, q); } or { write(r, r, r, q); }", nodes=2
    )
    word = [event(first, 0, 0, L), event(second, 1, 0, E)]
    assert z(word, 0, 1, everything) == joined
    assert not z(word[::-1], 0, 1, everything)


def test_conflicts_are_on_one_cell() -> None:
    program = instance("r <- swap(0, x, 1); r <- swap(0, y, 1);", nodes=2)
    assert z([event("swap", 0, 0, L), event("swap", 1, 0, E)], 0, 1, program)
    assert not z([event("swap", 0, 0, L), event("swap", 1, 1, E)], 0, 1, program)


def test_a_rank_is_joined_to_itself_by_a_conflict_alone() -> None:
    program = instance("mem[x] <- 1; barrier; r <- mem[x];")
    assert z([event("store", 0, 0, L), event("load", 0, 0, E)], 0, 0, program)
    assert not z([*barrier(L), *barrier(E)], 0, 0, program)
    assert not z(barrier(EL), 0, 0, program)


def test_unmarked_events_and_other_ranks_are_ignored() -> None:
    program = instance("r <- swap(0, x, 1);", nodes=3)
    word = [event("swap", 0, 0, L), event("swap", 2, 0, EL), event("swap", 0, 0), event("swap", 1, 0, E)]
    assert z(word, 0, 1, program)


def test_a_pair_without_a_common_cell_or_barrier_has_no_hope() -> None:
    automata = CycleTypeAutomata(instance("mem[x] <- 1;", nodes=2))
    assert not automata.pair(0, 1).pairs and not automata.pair(0, 1).identity
    assert not automata.joined(0, 1)
    assert automata.joined(0, 0)


def test_a_rank_without_barriers_rules_out_all_barriers() -> None:
    automata = CycleTypeAutomata(instance("barrier;", "barrier;", "mem[x] <- 1;"))
    assert not automata.pair(0, 1).identity


# All pairs of a cycle


def test_neighbours_close_up() -> None:
    automata = CycleTypeAutomata(one_to_one(nodes=3))
    assert automata.neighbours((0, 2, 1)) == [(0, 2), (2, 1), (1, 0)]
    assert automata.neighbours((1,)) == [(1, 1)]


def test_a_cycle_of_barriers_alone_is_not_accepted() -> None:
    """Design, section 2: (CYC) read literally would take a barrier entered on one rank and left on another for a
    cycle."""
    acceptors = CycleTypeAutomata(BARRIERS).acceptors((0, 1))
    assert acceptors is not None
    word = tuple(barrier(EL, EL, N))
    assert [accepts(acceptor, word) for acceptor in acceptors] == [True, True, False]


@pytest.mark.parametrize(
    ("letter", "symbol"),
    [
        (event("load", 0, 0, E), "conflict"),
        (event("store", 1, 0, EL), "conflict"),
        (event("load", 0, 0), None),
        (barrier(EL)[0], None),
        (barrier(N)[0], None),
    ],
)
def test_a_marked_access_is_a_conflict(letter: Marked, symbol: str | None) -> None:
    assert some_conflict(letter) == symbol


def test_the_conflict_automaton_wants_one_at_least() -> None:
    assert [conflict_automaton().accepts_input(["conflict"] * size) for size in range(3)] == [False, True, True]


def test_without_barriers_every_edge_is_a_conflict_anyway() -> None:
    program = instance("r <- swap(0, x, 1); r <- swap(0, y, 1);", nodes=2)
    assert len(CycleTypeAutomata(program).acceptors((0, 1)) or ()) == 2
    assert len(CycleTypeAutomata(BARRIERS).acceptors((0, 1)) or ()) == 3


@given(PROGRAMS, st.data())
@settings(max_examples=examples(30))
def test_z_of_a_cycle_type_is_the_intersection_of_its_pairs(program: Instance, data: st.DataObject) -> None:
    """As one automata-lib DFA, and as the acceptors that the engine uses."""
    cycle = data.draw(st.sampled_from(list(cycle_types(program.nodes))))
    word = data.draw(marked_words(program, cycle, 2))
    automata = CycleTypeAutomata(program)
    acceptors = automata.acceptors(cycle)
    accepted = acceptors is not None and all(accepts(acceptor, tuple(word)) for acceptor in acceptors)
    conflicts = len(cycle) == 1 or any(some_conflict(letter) for letter in word)
    both = len(cycle) == 1 and any(marks == {ENTER, LEAVE} for _, marks in word)
    naive = all(edge(word, *pair) for pair in automata.neighbours(cycle)) and conflicts and not both
    assert accepted == naive
    names = {sort(letter): name for name, letter in automata.letters(cycle).items()}
    heard = [names[sort(letter)] for letter in word if sort(letter) in names]
    assert automata.automaton(cycle).accepts_input(heard) == naive


def sort(letter: Marked) -> Any:
    """What Z can tell apart."""
    made = access_of(letter.event)
    return letter.event.rank, letter.marks, made if made else letter.event.kind == "barrier"


# Pinned counts


def test_the_automata_of_one_to_one() -> None:
    """Z^{0,1}: rank 0 leaves by reading x or y at home, or by writing y of rank 1; rank 1 reads both at home and
    writes y of rank 0. So y at either place can join them, and a barrier."""
    pair = CycleTypeAutomata(one_to_one()).pair(0, 1)
    assert [(pair.name(leaving.cell), leaving.writes, entering.writes) for leaving, entering in pair.pairs] == [
        ("y@0", False, True),
        ("y@1", True, False),
    ]
    assert (len(pair.automaton().states), len(pair.automaton().input_symbols)) == (5, 7)


@pytest.mark.parametrize(("nodes", "possible"), [(1, 1), (2, 3), (3, 8), (4, 4 + 4 + 2), (5, 5 + 5 + 2)])
def test_how_many_cycle_types_of_a_ring_are_possible(nodes: int, possible: int) -> None:
    """Each rank writes to its right neighbour: single ranks, neighbours, and the ring both ways round."""
    automata = CycleTypeAutomata(instance("write(x, (me + 1) % nodes, y, q); r <- mem[y];", nodes=nodes))
    assert sum(cycle is not None for cycle in possible_cycle_types(nodes, automata.joined)) == possible


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_with_a_barrier_every_cycle_type_is_possible(nodes: int) -> None:
    automata = CycleTypeAutomata(one_to_one(nodes=nodes))
    found = {cycle for cycle in possible_cycle_types(nodes, automata.joined) if cycle is not None}
    assert found == set(cycle_types(nodes))


def test_pairs_of_ranks_are_made_once() -> None:
    automata = CycleTypeAutomata(BARRIERS)
    first, second = automata.acceptors((0, 1)), automata.acceptors((0, 1))
    assert first is not None and second is not None
    assert first[0] is second[0] and first[1] is second[1]
