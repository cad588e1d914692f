"""Random small multiheaded automata and acceptors, apart from anything PGAS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import strategies as st

from pgasrob.automata.acceptor import Acceptor
from tests.support import Explicit

LETTERS = "abc"


def read_ab(letter: str) -> str | None:
    """Hear a and b, ignore the rest."""
    return letter if letter in "ab" else None


def words(max_size: int = 6) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(LETTERS), max_size=max_size).map(tuple)


@st.composite
def acceptors(draw: st.DrawFn, max_states: int = 3) -> tuple[DFA | NFA, Acceptor[str]]:
    """A partial DFA or an NFA over a and b, and the acceptor made of it, which may be deaf to one of the letters."""
    states = range(draw(st.integers(1, max_states)))
    finals = draw(st.sets(st.sampled_from(states)))
    automaton = draw(nondeterministic(states, finals) | deterministic(states, finals))
    heard = draw(st.sampled_from(["ab", "ab", "a", "b"]))
    return automaton, Acceptor.of(automaton, lambda letter: letter if letter in heard else None)


@st.composite
def nondeterministic(draw: st.DrawFn, states: range, finals: set[int]) -> NFA:
    targets = st.sets(st.sampled_from(states), max_size=2)
    return NFA(
        states=set(states),
        input_symbols={"a", "b"},
        transitions={state: {symbol: draw(targets) for symbol in "ab"} for state in states},
        initial_state=0,
        final_states=finals,
    )


@st.composite
def deterministic(draw: st.DrawFn, states: range, finals: set[int]) -> DFA:
    moves = st.dictionaries(st.sampled_from("ab"), st.sampled_from(states))
    return DFA(
        states=set(states),
        input_symbols={"a", "b"},
        transitions={state: draw(moves) for state in states},
        initial_state=0,
        final_states=finals,
        allow_partial=True,
    )


@st.composite
def multiheaded(draw: st.DrawFn, heads: int, max_states: int = 4, max_edges: int = 7) -> Explicit:
    """An automaton with words of up to three letters on its edges, silent edges among them."""
    states = st.integers(0, draw(st.integers(0, max_states - 1)))
    word = st.lists(st.tuples(st.integers(1, heads), st.sampled_from(LETTERS)), max_size=3).map(tuple)
    edges = draw(st.lists(st.tuples(states, word, states), max_size=max_edges))
    return Explicit(tuple(edges), draw(st.frozensets(states, min_size=1)))


def accepts(acceptor: Acceptor[Any], word: Sequence[Any]) -> bool:
    """Whether ``word`` is in the language of ``acceptor``, by the definition."""
    current = {acceptor.initial}
    for letter in word:
        symbol = acceptor.read(letter)
        if symbol is not None:
            current = {target for state in current for target in acceptor.step(state, symbol)}
    return not acceptor.finals.isdisjoint(current)
