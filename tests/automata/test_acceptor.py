"""Acceptors: finite automata of automata-lib that ignore the letters they do not care about."""

from __future__ import annotations

from itertools import product

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import given
from hypothesis import strategies as st

from pgasrob.automata.acceptor import Acceptor
from tests.automata.strategies import acceptors, accepts, read_ab, words

# An even number of a; b is a symbol that changes nothing.
EVEN = DFA(
    states={"even", "odd"},
    input_symbols={"a", "b"},
    transitions={"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}},
    initial_state="even",
    final_states={"even"},
)
# Partial: a, then b, and nothing else ever.
A_THEN_B = DFA(
    states={0, 1, 2},
    input_symbols={"a", "b"},
    transitions={0: {"a": 1}, 1: {"b": 2}, 2: {}},
    initial_state=0,
    final_states={2},
    allow_partial=True,
)
# Nondeterministic: some a has exactly one letter after it.
LAST_BUT_ONE = NFA(
    states={0, 1, 2},
    input_symbols={"a", "b"},
    transitions={0: {"a": {0, 1}, "b": {0}}, 1: {"a": {2}, "b": {2}}},
    initial_state=0,
    final_states={2},
)


def accepted(acceptor: Acceptor[str], letters: str, length: int) -> set[str]:
    words = ("".join(word) for size in range(length + 1) for word in product(letters, repeat=size))
    return {word for word in words if accepts(acceptor, tuple(word))}


@pytest.mark.parametrize("automaton", [EVEN, A_THEN_B, LAST_BUT_ONE])
def test_an_acceptor_accepts_what_its_automaton_accepts(automaton: DFA | NFA) -> None:
    acceptor = Acceptor.of(automaton, read_ab)
    words = ["".join(word) for size in range(6) for word in product("ab", repeat=size)]
    assert accepted(acceptor, "ab", 5) == {word for word in words if automaton.accepts_input(word)}


def test_ignored_letters_change_nothing() -> None:
    acceptor = Acceptor.of(A_THEN_B, read_ab)
    assert accepted(acceptor, "abc", 4) == {
        word for size in range(5) for word in map("".join, product("abc", repeat=size)) if word.replace("c", "") == "ab"
    }


def test_a_symbol_without_an_entry_blocks() -> None:
    assert not accepts(Acceptor.of(A_THEN_B, read_ab), ("b", "a", "b"))
    assert not accepts(Acceptor.of(A_THEN_B, lambda letter: "unheard of"), ("a", "b"))


def test_read_renames_letters() -> None:
    acceptor = Acceptor.of(A_THEN_B, lambda letter: "ab"[letter] if letter < 2 else None)
    assert accepts(acceptor, (0, 7, 1))


def test_of_keeps_every_state_with_its_moves() -> None:
    acceptor = Acceptor.of(LAST_BUT_ONE, read_ab)
    assert acceptor.initial == 0 and acceptor.finals == {2}
    assert acceptor.delta == {
        0: {"a": frozenset((0, 1)), "b": frozenset((0,))},
        1: {"a": frozenset((2,)), "b": frozenset((2,))},
        2: {},
    }


def test_step_is_the_transition_function() -> None:
    acceptor = Acceptor.of(LAST_BUT_ONE, read_ab)
    assert acceptor.step(0, "a") == {0, 1}
    assert acceptor.step(2, "a") == frozenset()
    assert acceptor.step("no state", "a") == frozenset()


def test_reaches_and_hopeful() -> None:
    acceptor = Acceptor.of(A_THEN_B, read_ab)
    assert acceptor.reaches == {0: {0, 1, 2}, 1: {1, 2}, 2: {2}}
    assert acceptor.hopeful == {0, 1, 2}


def test_states_that_lead_nowhere_are_not_hopeful() -> None:
    trap = NFA(
        states={0, 1, 2},
        input_symbols={"a", "b"},
        transitions={0: {"a": {1}, "b": {2}}, 2: {"a": {2}}},
        initial_state=0,
        final_states={1},
    )
    assert Acceptor.of(trap, read_ab).hopeful == {0, 1}


def test_an_acceptor_without_a_final_state_has_no_hope() -> None:
    empty = NFA(states={0}, input_symbols={"a"}, transitions={0: {"a": {0}}}, initial_state=0, final_states=set())
    acceptor = Acceptor.of(empty, read_ab)
    assert acceptor.hopeful == frozenset()
    assert accepted(acceptor, "a", 3) == set()


def test_silent_edges_are_refused() -> None:
    silent = NFA(
        states={0, 1}, input_symbols={"a"}, transitions={0: {"": {1}}, 1: {}}, initial_state=0, final_states={1}
    )
    with pytest.raises(ValueError, match="silent"):
        Acceptor.of(silent, read_ab)
    assert accepts(Acceptor.of(silent.eliminate_lambda(), read_ab), ())


@given(acceptors(), st.lists(words(), max_size=8))
def test_accepts_agrees_with_automata_lib(pair: tuple[DFA | NFA, Acceptor[str]], tried: list[tuple[str, ...]]) -> None:
    automaton, acceptor = pair
    for word in tried:
        heard = [letter for letter in word if acceptor.read(letter)]
        assert accepts(acceptor, word) == automaton.accepts_input(heard)


@given(acceptors())
def test_hopeful_states_are_those_from_which_some_word_is_accepted(pair: tuple[DFA | NFA, Acceptor[str]]) -> None:
    automaton, acceptor = pair
    for state in automaton.states:
        from_here = Acceptor(state, acceptor.finals, acceptor.delta, read_ab)
        assert (state in acceptor.hopeful) == bool(accepted(from_here, "ab", len(automaton.states)))
