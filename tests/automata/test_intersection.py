"""Lemma 10: the intersection of a multiheaded automaton with finite automata accepts exactly the common words."""

from __future__ import annotations

from typing import Any

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.automata.acceptor import Acceptor
from pgasrob.automata.automaton import Interned, Reached
from pgasrob.automata.intersection import Boundaries, Intersection
from tests.automata.strategies import acceptors, accepts, multiheaded
from tests.support import Explicit, Word, examples, headed, language

ANBNCN = Explicit(((0, headed("1a 2b 3c"), 0),), frozenset((0,)))
WW = Explicit(((0, headed("1a 2a"), 0), (0, headed("1b 2b"), 0)), frozenset((0,)))


def hear(letters: str) -> Any:
    return lambda letter: letter if letter in letters else None


def even(letter: str) -> Acceptor[str]:
    """An even number of ``letter``, all others ignored."""
    automaton = DFA(
        states={0, 1},
        input_symbols={letter},
        transitions={0: {letter: 1}, 1: {letter: 0}},
        initial_state=0,
        final_states={0},
    )
    return Acceptor.of(automaton, hear(letter))


def expression(regex: str, letters: str = "ab") -> Acceptor[str]:
    return Acceptor.of(NFA.from_regex(regex, input_symbols=set(letters)).eliminate_lambda(), hear(letters))


def common(left: Explicit, acceptors: list[Acceptor[str]], heads: int, length: int) -> set[Word]:
    """The intersection by its definition: the words of ``left`` that every acceptor accepts."""
    words = language(left, heads, length)
    return {word for word in words if all(accepts(acceptor, word) for acceptor in acceptors)}


def reachable(automaton: Any) -> tuple[int, int]:
    reached = Reached(automaton)
    for _ in reached.expand():
        pass
    return len(reached), reached.transitions


# Languages of their own


def test_an_even_number_of_b_in_a_n_b_n_c_n() -> None:
    words = language(Intersection(ANBNCN, [even("b")], 3), 3, 12)
    assert words == {tuple("a" * n + "b" * n + "c" * n) for n in (0, 2, 4)}


def test_letters_that_lie_apart_in_the_word_are_read_in_the_order_of_the_word() -> None:
    """Head 3 reads its first c before head 1 its second a; the acceptor must see all a first."""
    words = language(Intersection(ANBNCN, [expression("aa*bb*cc*", "abc")], 3), 3, 9)
    assert words == {tuple("a" * n + "b" * n + "c" * n) for n in (1, 2, 3)}
    assert language(Intersection(ANBNCN, [expression("(abc)(abc)*", "abc")], 3), 3, 9) == {tuple("abc")}


def test_squares_of_two_blocks() -> None:
    """ww and a*b*a*b*: the boundary state after the first w must be guessed."""
    words = language(Intersection(WW, [expression("a*b*a*b*")], 2), 2, 8)
    halves = {tuple("a" * first + "b" * second) for first in range(5) for second in range(5 - first)}
    assert words == {half + half for half in halves}


def test_several_acceptors_all_have_a_say() -> None:
    words = language(Intersection(WW, [expression("a*b*a*b*"), even("b"), expression("a(a|b)*")], 2), 2, 6)
    assert words == {tuple(word) for word in ("aa", "aaaa", "abab", "aaaaaa", "aabaab", "abbabb")}


def test_no_acceptor_leaves_the_language_as_it_is() -> None:
    assert language(Intersection(WW, [], 2), 2, 6) == language(WW, 2, 6)


def test_a_head_that_reads_nothing_passes_its_boundary_on() -> None:
    """Heads 2 and 3 stay silent between heads 1 and 4."""
    left = Explicit(((0, headed("4b"), 1), (1, headed("1a"), 2)), frozenset((2,)))
    assert language(Intersection(left, [expression("ab")], 4), 4, 4) == {("a", "b")}
    assert language(Intersection(left, [expression("ba")], 4), 4, 4) == set()


def test_a_final_state_of_the_acceptor_alone_is_not_final() -> None:
    left = Explicit(((0, headed("1a"), 1), (1, headed("1a"), 0)), frozenset((1,)))
    assert language(Intersection(left, [expression("a*")], 1), 1, 5) == {("a",) * n for n in (1, 3, 5)}
    assert language(Intersection(left, [even("a")], 1), 1, 5) == set()


def test_an_interned_automaton_can_be_shared() -> None:
    shared = Interned(WW)
    for acceptor in (even("b"), expression("a*b*a*b*")):
        assert language(Intersection(shared, [acceptor], 2), 2, 6) == common(WW, [acceptor], 2, 6)


# Guessing and pruning


def test_a_letter_without_meaning_needs_no_guess() -> None:
    boundaries = Boundaries(even("b"), 3)
    assert boundaries.read(0, 2, "a") == [0]


def test_the_first_head_begins_in_the_initial_state() -> None:
    boundaries = Boundaries(even("b"), 3)
    assert len(boundaries.read(0, 1, "b")) == 1
    assert len(boundaries.read(0, 2, "b")) == 2


def test_a_guess_is_made_once() -> None:
    boundaries = Boundaries(even("b"), 3)
    for guessed in boundaries.read(0, 2, "b"):
        assert len(boundaries.read(guessed, 2, "b")) == 1


def test_the_runs_fit_together_only_when_the_guess_was_right() -> None:
    boundaries = Boundaries(expression("ab"), 2)
    after_b = boundaries.read(0, 2, "b")
    after_both = [after for guessed in after_b for after in boundaries.read(guessed, 1, "a")]
    assert [boundaries.is_final(number) for number in after_b] == [False] * len(after_b)
    assert sum(boundaries.is_final(number) for number in after_both) == 1


def test_a_guess_that_no_run_can_reach_is_pruned() -> None:
    """a then b: once head 1 has read b it cannot come to where head 2 began with a."""
    boundaries = Boundaries(expression("ab"), 2)
    (after_a,) = boundaries.read(0, 1, "a")
    (after_ab,) = boundaries.read(after_a, 2, "b")
    assert boundaries.is_final(after_ab)
    assert boundaries.read(after_ab, 2, "b") == []
    assert boundaries.read(after_a, 2, "a") == []


class Unpruned(Boundaries[str]):
    """Boundaries that give up no guess before the end."""

    def _is_hopeful(self, runs: tuple[Any, ...]) -> bool:
        return True


@pytest.fixture
def unpruned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.automata.intersection.Boundaries", Unpruned)


def partial(transitions: dict[Any, dict[str, Any]], finals: set[Any]) -> Acceptor[str]:
    """A DFA over abc; the first state is the initial one, what is missing blocks."""
    automaton = DFA(
        states=set(transitions),
        input_symbols=set("abc"),
        transitions=transitions,
        initial_state=next(iter(transitions)),
        final_states=finals,
        allow_partial=True,
    )
    return Acceptor.of(automaton, hear("abc"))


SORTED = partial({"a": {"a": "a", "b": "b", "c": "c"}, "b": {"b": "b", "c": "c"}, "c": {"c": "c"}}, {"a", "b", "c"})
ONCE = partial({0: {"a": 1}, 1: {"b": 2}, 2: {"c": 3}, 3: {}}, {3})
# States and transitions with and without pruning, worked out by hand but for the last.
COUNTS = [
    # Only head 2 hears letters: it begins in one of 2 states and goes round in 2.
    (ANBNCN, 3, [even("b")], (1 + 2 * 2, 2 + 4), (1 + 2 * 2, 2 + 4)),
    # Head 1 begins in a; head 2 reads b from a or b; head 3 reads c from b or c, which b reaches, but not from a.
    (ANBNCN, 3, [SORTED], (1 + 1 * 2 * 2, 4 + 4), (1 + 1 * 2 * 3, 6 + 6)),
    # One turn, and only one guess can read each letter.
    (ANBNCN, 3, [ONCE], (2, 1), (2, 1)),
    # aa, or bb with both heads in b: when head 1 is in b, head 2 cannot have begun in a.
    (WW, 2, [SORTED], (3, 4), (4, 7)),
    (WW, 2, [SORTED, even("a")], (6, 8), (11, 18)),
]


@pytest.mark.parametrize(("left", "heads", "chosen", "counts", "_"), COUNTS)
def test_states_and_transitions(left: Explicit, heads: int, chosen: Any, counts: Any, _: Any) -> None:
    assert reachable(Intersection(left, chosen, heads)) == counts


@pytest.mark.parametrize(("left", "heads", "chosen", "_", "counts"), COUNTS)
@pytest.mark.usefixtures("unpruned")
def test_states_and_transitions_without_pruning(left: Explicit, heads: int, chosen: Any, counts: Any, _: Any) -> None:
    assert reachable(Intersection(left, chosen, heads)) == counts


# Against brute force


@st.composite
def problems(draw: st.DrawFn) -> tuple[Explicit, list[tuple[DFA | NFA, Acceptor[str]]], int]:
    """An automaton with 1 to 4 heads and one to three finite automata, with the acceptors made of them."""
    heads = draw(st.integers(1, 4))
    return draw(multiheaded(heads)), draw(st.lists(acceptors(), min_size=1, max_size=3)), heads


@given(problems())
@settings(max_examples=examples(180))
def test_the_intersection_accepts_exactly_the_common_words(problem: Any) -> None:
    """Lemma 10, both inclusions, up to a length; what is a word of the finite automata is for automata-lib to say."""
    left, pairs, heads = problem
    found = language(Intersection(left, [acceptor for _, acceptor in pairs], heads), heads, 6)
    assert found == {
        word
        for word in language(left, heads, 6)
        if all(automaton.accepts_input(list(filter(acceptor.read, word))) for automaton, acceptor in pairs)
    }


@given(problems())
@settings(max_examples=examples(60))
def test_pruning_loses_no_word(problem: Any) -> None:
    left, pairs, heads = problem
    chosen = [acceptor for _, acceptor in pairs]
    pruned = Intersection(left, chosen, heads)
    full = Intersection(left, chosen, heads)
    full._boundaries = [Unpruned(acceptor, heads) for acceptor in chosen]
    assert language(pruned, heads, 6) == language(full, heads, 6)
    assert all(mine <= theirs for mine, theirs in zip(reachable(pruned), reachable(full), strict=True))


@given(multiheaded(1), acceptors())
@settings(max_examples=examples(40))
def test_one_head_is_the_product_of_finite_automata(left: Explicit, pair: Any) -> None:
    """With one head there is nothing to guess, so no more states than in the classical product."""
    automaton, acceptor = pair
    states, _ = reachable(Intersection(left, [acceptor], 1))
    assert states <= reachable(left)[0] * (len(automaton.states) + 1)


def test_an_acceptor_may_leave_states_without_moves_out_of_its_table() -> None:
    acceptor = Acceptor("start", frozenset(("end",)), {"start": {"a": frozenset(("end",))}}, hear("a"))
    left = Explicit(((0, headed("1a"), 1),), frozenset((1,)))
    assert accepts(acceptor, ("a",))
    assert language(Intersection(left, [acceptor], 1), 1, 2) == {("a",)}
