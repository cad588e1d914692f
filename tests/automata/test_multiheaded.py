"""Projection and composition of headed words (the paper, section 5.1)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pgasrob.automata.multiheaded import comp, project
from tests.support import Explicit, headed, language

WORDS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from("abc")), max_size=12)


def copies(heads: int) -> Explicit:
    """All heads read the same word over a and b: ww for two heads, www for three."""
    edges = ((0, tuple((head, letter) for head in range(1, heads + 1)), 0) for letter in "ab")
    return Explicit(tuple(edges), frozenset((0,)))


# One letter on each head per turn: a^n b^n c^n.
ABC = Explicit(((0, headed("1a 2b 3c"), 0),), frozenset((0,)))


def test_the_example_of_the_paper() -> None:
    """Section 5.1: ((1,a) . (2,b) . (1,c)) projected to 1 is a . c."""
    assert project(headed("1a 2b 1c"), 1) == ("a", "c")
    assert project(headed("1a 2b 1c"), 2) == ("b",)
    assert comp(headed("1a 2b 1c"), 2) == ("a", "c", "b")


def test_heads_that_read_nothing_add_nothing() -> None:
    assert project(headed("1a 3b"), 2) == ()
    assert comp(headed("3b 1a"), 4) == ("a", "b")
    assert comp((), 4) == ()


def test_letters_of_heads_beyond_the_count_are_cut_away() -> None:
    """comp is over heads 1..n (the paper: sigma down 1 ... sigma down n)."""
    assert comp(headed("1a 2b 3c"), 2) == ("a", "b")


@given(WORDS)
def test_comp_sorts_stably_by_head(word: list[tuple[int, str]]) -> None:
    assert comp(word, 4) == tuple(letter for _, letter in sorted(word, key=lambda pair: pair[0]))


@given(WORDS)
def test_one_head_reads_like_a_finite_automaton(word: list[tuple[int, str]]) -> None:
    letters = tuple(letter for _, letter in word)
    assert comp([(1, letter) for letter in letters], 1) == letters


@given(WORDS, WORDS)
def test_projection_is_a_homomorphism(first: list[Any], second: list[Any]) -> None:
    for head in range(1, 5):
        assert project([*first, *second], head) == project(first, head) + project(second, head)


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_letters_can_be_any_values(word: list[str]) -> None:
    pairs = [(1, (letter, None)) for letter in word]
    assert project(pairs, 1) == tuple((letter, None) for letter in word)


def test_three_heads_accept_a_language_that_is_not_context_free() -> None:
    """The introduction of the paper: languages such as a^n b^n c^n."""
    assert language(ABC, 3, 9) == {tuple("a" * n + "b" * n + "c" * n) for n in range(4)}


def test_two_heads_accept_the_copy_language() -> None:
    words = language(copies(2), 2, 6)
    assert words == {word + word for word in language(copies(1), 1, 3)}
    assert len(words) == 1 + 2 + 4 + 8
