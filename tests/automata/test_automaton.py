"""The generic parts of every automaton: numbered states (`Interned`) and breadth-first search (`Reached`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgasrob.automata.automaton import PIECE, Interned, Reached, number_of
from tests.support import Explicit

# 0 -a-> 1 -b-> 3, 0 -c-> 2 -c-> 3, 3 -()-> 0, and 4, which nothing reaches.
DIAMOND = Explicit(
    ((0, ("a",), 1), (0, ("c",), 2), (1, ("b",), 3), (2, ("c",), 3), (3, (), 0), (4, ("a",), 4)), frozenset((3,))
)


class Counting:
    """The diamond, counting how often the transitions of each state are asked for."""

    initial = 0

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()

    def successors(self, state: int) -> Iterator[Any]:
        self.asked[state] += 1
        return DIAMOND.successors(state)

    def is_final(self, state: int) -> bool:
        return DIAMOND.is_final(state)


class Naturals:
    """0 -> 1 -> 2 -> ...: infinitely many states."""

    initial = 0

    def successors(self, state: int) -> list[tuple[tuple[str], int]]:
        return [(("s",), state + 1)]

    def is_final(self, state: int) -> bool:
        return False


class Fan:
    """0 -> 1, 0 -> 2, ...: a state with ``degree`` transitions, infinitely many when it is None."""

    initial = 0

    def __init__(self, degree: int | None = None) -> None:
        self.degree = degree

    def successors(self, state: int) -> Iterator[tuple[tuple[str], int]]:
        return ((("f",), target) for target in islice(count(1), 0 if state else self.degree))

    def is_final(self, state: int) -> bool:
        return False


@st.composite
def graphs(draw: st.DrawFn) -> Explicit:
    states = st.integers(0, 5)
    edges = draw(st.lists(st.tuples(states, st.sampled_from(["", "a", "b", "ab"]).map(tuple), states), max_size=12))
    return Explicit(tuple(edges), draw(st.frozensets(states)))


def test_number_of_gives_a_new_number_to_a_new_item_only() -> None:
    numbers: dict[str, int] = {}
    items: list[str] = []
    assert [number_of(item, numbers, items) for item in "abcab"] == [0, 1, 2, 0, 1]
    assert items == ["a", "b", "c"]


# Interned


def test_interned_states_are_numbered_in_the_order_of_discovery() -> None:
    interned = Interned(DIAMOND)
    assert [interned.edges(number) for number in range(4)] == [[(0, 1), (1, 2)], [(2, 3)], [(1, 3)], [(3, 0)]]
    assert [interned.state(number) for number in range(4)] == [0, 1, 2, 3]


def test_interned_knows_only_the_states_met_so_far() -> None:
    interned = Interned(DIAMOND)
    assert len(interned) == 1
    interned.edges(0)
    assert len(interned) == 3


def test_interned_words_are_shared_and_numbered() -> None:
    interned = Interned(DIAMOND)
    for number in range(4):
        interned.edges(number)
    assert interned.words == [("a",), ("c",), ("b",), ()]


def test_interned_asks_for_the_transitions_of_a_state_once() -> None:
    automaton = Counting()
    interned = Interned(automaton)
    for _ in range(3):
        for number in range(4):
            interned.edges(number)
            list(interned.successors(number))
    assert automaton.asked == {0: 1, 1: 1, 2: 1, 3: 1}


def test_interned_takes_a_state_of_infinitely_many_transitions_in_pieces() -> None:
    interned = Interned(Fan())
    first, second = iter(interned.edges(0)), iter(interned.edges(0))
    assert len(interned) == PIECE + 1
    assert [target for _, target in islice(first, PIECE + 1)] == [*range(1, PIECE + 2)]
    assert len(interned) == 2 * PIECE + 1
    # Another product of the same automaton sees the same transitions, those learnt by others included.
    assert [target for _, target in islice(second, 3 * PIECE)] == [*range(1, 3 * PIECE + 1)]
    assert [target for _, target in islice(first, 2 * PIECE)] == [*range(PIECE + 2, 3 * PIECE + 2)]
    assert len(interned.words) == 1


@pytest.mark.parametrize("degree", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_interned_has_all_transitions_of_a_state_however_many(degree: int) -> None:
    interned = Interned(Fan(degree))
    for _ in range(2):
        assert [target for _, target in interned.edges(0)] == [*range(1, degree + 1)]
    assert len(interned) == degree + 1


@given(graphs())
def test_interned_is_the_same_automaton(automaton: Explicit) -> None:
    interned = Interned(automaton)
    stack, seen = [interned.initial], {interned.initial}
    assert interned.state(interned.initial) == automaton.initial
    while stack:
        number = stack.pop()
        state = interned.state(number)
        back = [(word, interned.state(target)) for word, target in interned.successors(number)]
        assert back == list(automaton.successors(state))
        assert interned.is_final(number) == automaton.is_final(state)
        fresh = {target for _, target in interned.successors(number)} - seen
        seen |= fresh
        stack += fresh
    assert len({interned.state(number) for number in seen}) == len(seen) == len(interned)


# Reached


def test_reached_finds_the_states_in_breadth_first_order() -> None:
    reached = Reached(DIAMOND)
    assert list(reached.expand()) == [0, 1, 2, 3]
    assert (len(reached), reached.transitions, reached.complete) == (4, 5, True)


def test_reached_gives_a_shortest_path() -> None:
    reached = Reached(DIAMOND)
    list(reached.expand())
    assert reached.path(0) == []
    assert reached.path(3) == [("a",), ("b",)]


def test_reached_does_not_know_what_it_has_not_reached() -> None:
    reached = Reached(DIAMOND)
    list(reached.expand())
    with pytest.raises(KeyError):
        reached.path(4)


def test_a_paused_search_yields_its_last_state_again() -> None:
    reached = Reached(DIAMOND)
    assert list(islice(reached.expand(), 2)) == [0, 1]
    assert not reached.complete
    assert list(reached.expand()) == [1, 2, 3]


def test_a_state_counts_as_found_before_its_turn() -> None:
    reached = Reached(DIAMOND)
    next(iter(reached.expand()))
    assert (len(reached), reached.transitions) == (1, 0)
    list(islice(reached.expand(), 2))
    assert (len(reached), reached.transitions) == (3, 2)


def test_an_infinite_automaton_can_be_searched_a_piece_at_a_time() -> None:
    reached = Reached(Naturals())
    for piece in range(1, 6):
        assert list(islice(reached.expand(), 11)) == list(range(10 * (piece - 1), 10 * piece + 1))
    assert not reached.complete
    assert len(reached.path(50)) == 50


def test_a_state_of_infinitely_many_transitions_does_not_hold_its_caller_up() -> None:
    reached = Reached(Fan())
    for pieces, state in enumerate(islice(reached.expand(), 3)):
        assert (state, reached.midway, reached.transitions) == (0, pieces > 0, pieces * PIECE)
    for pieces, _ in enumerate(islice(reached.expand(), 2), start=3):  # paused and resumed: no piece comes twice
        assert (reached.midway, reached.transitions, len(reached)) == (True, pieces * PIECE, pieces * PIECE + 1)
    assert reached.path(2 * PIECE) == [("f",)]


@pytest.mark.parametrize("degree", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_a_state_of_many_transitions_is_expanded_once(degree: int) -> None:
    reached = Reached(Fan(degree))
    found = list(dict.fromkeys(reached.expand()))
    assert found == [*range(degree + 1)]
    assert (reached.transitions, reached.midway, reached.complete) == (degree, False, True)


def distances(automaton: Explicit) -> dict[int, int]:
    """States and their distance from the initial one in transitions, by relaxation."""
    found = {automaton.initial: 0}
    for _ in automaton.edges:
        for source, _, target in automaton.edges:
            if source in found:
                found[target] = min(found.get(target, len(automaton.edges)), found[source] + 1)
    return found


@given(graphs())
def test_reached_finds_every_reachable_state_by_a_shortest_path(automaton: Explicit) -> None:
    reached = Reached(automaton)
    order = list(reached.expand())
    expected = distances(automaton)
    assert {state: len(reached.path(state)) for state in order} == expected
    assert [expected[state] for state in order] == sorted(expected.values())
    assert reached.transitions == sum(source in expected for source, _, _ in automaton.edges)
    for state in order:
        assert leads_to(automaton, reached.path(state), state)


def leads_to(automaton: Explicit, path: list[tuple[Any, ...]], state: int) -> bool:
    here = {automaton.initial}
    for word in path:
        here = {target for source in here for label, target in automaton.successors(source) if label == word}
    return state in here


@given(graphs(), st.lists(st.integers(1, 3), min_size=40, max_size=40))
def test_a_search_paused_anywhere_ends_like_one_that_is_not(automaton: Explicit, pieces: list[int]) -> None:
    straight, paused = Reached(automaton), Reached(automaton)
    order = list(straight.expand())
    found: list[int] = []
    for piece in pieces:
        for state in islice(paused.expand(), piece):
            if state not in found:
                found.append(state)
        if paused.complete:
            break
    found += [state for state in paused.expand() if state not in found]
    assert found == order
    assert (len(paused), paused.transitions) == (len(straight), straight.transitions)
    assert all(paused.path(state) == straight.path(state) for state in order)
