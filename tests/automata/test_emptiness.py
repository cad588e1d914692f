"""Lemma 11: emptiness as a search, and the word that shows a language is not empty."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.automata.automaton import PIECE, Automaton, Letter, Reached, State
from pgasrob.automata.emptiness import EmptinessSearch
from pgasrob.automata.intersection import Intersection
from pgasrob.automata.multiheaded import comp
from tests.automata.strategies import acceptors, accepts, multiheaded
from tests.support import Explicit, examples, headed

# 0 -> 1 -> 2 -> 3 with 3 final, and a longer way 0 -> 4 -> 5 -> 6 -> 3 that comes first at every turn.
LINE = Explicit(
    ((0, ("x",), 4), (4, ("x",), 5), (5, ("x",), 6), (6, ("x",), 3), (0, ("a",), 1), (1, (), 2), (2, ("b", "c"), 3)),
    frozenset((3,)),
)


class Naturals:
    """0 -> 1 -> 2 -> ..., one of them final, or none."""

    initial = 0

    def __init__(self, final: int | None) -> None:
        self.final = final

    def successors(self, state: int) -> list[tuple[tuple[str], int]]:
        return [(("s",), state + 1)]

    def is_final(self, state: int) -> bool:
        return state == self.final


def find_word(automaton: Automaton[State, Letter]) -> list[tuple[Letter, ...]] | None:
    """The words along a shortest path to a final state of a finite ``automaton``; None when its language is empty."""
    search: EmptinessSearch[State, Letter] = EmptinessSearch(automaton)
    while not search.advance(1 << 16):
        pass
    return search.path


def test_the_word_is_that_of_a_shortest_path() -> None:
    assert find_word(LINE) == [("a",), (), ("b", "c")]


def test_a_final_initial_state_gives_the_empty_word() -> None:
    search = EmptinessSearch(Explicit((), frozenset((0,))))
    assert search.advance(1)
    assert (search.path, search.empty) == ([], False)
    assert find_word(Explicit((), frozenset((0,)))) == []


def test_a_language_without_a_reachable_final_state_is_empty() -> None:
    automaton = Explicit(((0, ("a",), 1), (1, ("a",), 0), (2, ("a",), 3)), frozenset((3,)))
    assert find_word(automaton) is None
    search = EmptinessSearch(automaton)
    assert not search.empty
    assert search.advance(10)
    assert (search.empty, search.path, search.states, search.transitions) == (True, None, 2, 2)


def test_the_joined_word_is_in_the_language() -> None:
    """Theorem 16 needs the word, not the path: head 2 comes after head 1."""
    automaton = Explicit(((0, headed("2b 1a"), 1),), frozenset((1,)))
    path = find_word(automaton)
    assert path is not None
    assert comp([letter for word in path for letter in word], 2) == ("a", "b")


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_advance_looks_at_so_many_states_and_no_more(piece: int) -> None:
    search = EmptinessSearch(Naturals(None))
    for turn in range(1, 5):
        assert not search.advance(piece)
        # A state that has been looked at is expanded when the next one has its turn.
        assert search.states == turn * piece + 1
        assert (search.empty, search.path) == (False, None)


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_a_search_in_pieces_finds_the_same_word(piece: int) -> None:
    search = EmptinessSearch(Naturals(20))
    turns = 1
    while not search.advance(piece):
        turns += 1
    assert search.path == [("s",)] * 20
    assert turns == -(-21 // piece)


def test_a_search_that_is_over_stays_so() -> None:
    search = EmptinessSearch(LINE)
    assert search.advance(100) and search.advance(1)
    assert search.path == [("a",), (), ("b", "c")]
    counts = search.states, search.transitions
    search.advance(100)
    assert (search.states, search.transitions) == counts


def test_find_word_goes_on_for_longer_than_one_piece() -> None:
    path = find_word(Naturals((1 << 16) + 5))
    assert path is not None and len(path) == (1 << 16) + 5


def test_advance_comes_back_from_the_midst_of_a_state_with_many_transitions() -> None:
    edges = ((0, ("x",), target) for target in range(1, 3 * PIECE + 1))
    search = EmptinessSearch(Explicit(tuple(edges), frozenset((3 * PIECE,))))
    for piece in range(1, 4):
        assert not search.advance(10_000)
        assert search.transitions == piece * PIECE
    assert search.advance(10_000)
    assert search.path == [("x",)]


# Against brute force


@st.composite
def problems(draw: st.DrawFn) -> tuple[Explicit, list[Any], int]:
    heads = draw(st.integers(1, 4))
    left = draw(multiheaded(heads))
    return left, [acceptor for _, acceptor in draw(st.lists(acceptors(), min_size=1, max_size=2))], heads


def shortest_by_enumeration(left: Explicit, chosen: list[Any], heads: int, turns: int) -> int | None:
    """The least number of transitions of ``left`` on a path to a common word, up to ``turns``, by trying all paths."""
    paths = {(left.initial, ((),) * heads)}
    for turn in range(turns + 1):
        for state, tapes in paths:
            if left.is_final(state) and all(accepts(acceptor, sum(tapes, ())) for acceptor in chosen):
                return turn
        paths = {
            (target, tuple(tape + tuple(x for h, x in word if h == head) for head, tape in enumerate(tapes, 1)))
            for state, tapes in paths
            for word, target in left.successors(state)
        }
    return None


@given(problems())
@settings(max_examples=examples(120))
def test_emptiness_and_the_shortest_path_agree_with_enumeration(problem: Any) -> None:
    left, chosen, heads = problem
    path = find_word(Intersection(left, chosen, heads))
    shortest = shortest_by_enumeration(left, chosen, heads, 5)
    if shortest is not None:
        assert path is not None and len(path) == shortest
    else:
        assert path is None or len(path) > 5


@given(problems())
@settings(max_examples=examples(120))
def test_the_witness_is_in_both_languages(problem: Any) -> None:
    left, chosen, heads = problem
    path = find_word(Intersection(left, chosen, heads))
    if path is None:
        return
    word = comp([letter for part in path for letter in part], heads)
    assert all(accepts(acceptor, word) for acceptor in chosen)
    here = {left.initial}
    for part in path:
        here = {target for state in here for label, target in left.successors(state) if label == part}
    assert any(left.is_final(state) for state in here)


@given(problems())
@settings(max_examples=examples(60))
def test_the_search_stops_at_the_first_final_state(problem: Any) -> None:
    """Its states are those of the whole automaton when it is empty, and never more."""
    left, chosen, heads = problem
    automaton = Intersection(left, chosen, heads)
    search = EmptinessSearch(automaton)
    assert search.advance(1 << 20)
    reached = Reached(automaton)
    finals = [state for state in reached.expand() if automaton.is_final(state)]
    assert search.empty == (not finals)
    assert search.states <= len(reached)
    if search.empty:
        assert (search.states, search.transitions) == (len(reached), reached.transitions)
