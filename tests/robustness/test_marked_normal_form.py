"""Y^M(P, N): normal-form computations with entry and exit events marked (the paper, section 5.3).

A marked word is right when every rank of the cycle has one `enter` and one `leave` mark with enter <->* b ->*po c <->*
leave, and no other rank has any. Y^M must mark every normal-form computation in all these ways and in no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.automata.automaton import Interned
from pgasrob.program.instance import Instance
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, Marked, MarkedNormalForm
from pgasrob.robustness.normal_form import Letter, NormalForm
from tests.support import FURTHER, TooMany, examples, instance, one_to_one, sizes, tiny_instances

Headed = tuple[tuple[int, Any], ...]


def headed_words(automaton: Any, most: int = 20_000) -> set[Headed]:
    """What the heads generate along the paths to final states, letter by letter; each letter ends with the number of
    its command, since two commands may look the same."""
    start = (automaton.initial, ())
    seen, stack, found = {start}, [start], set()
    while stack:
        state, word = stack.pop()
        if automaton.is_final(state):
            found.add(word)
        for letters, target in automaton.successors(state):
            number = word[-1][1][1] + 1 if word else 0
            node = (target, word + tuple((head, (letter, number)) for head, letter in letters))
            if node not in seen:
                seen.add(node)
                stack.append(node)
        if len(seen) > most:
            raise TooMany
    return found


def markings(word: Headed, ranks: list[int]) -> Iterator[Headed]:
    """Every right way to mark ``word``, by the definition."""
    choices = []
    for rank in ranks:
        places = [
            (place, number)
            for place, (_, (letter, number)) in enumerate(word)
            if letter.rank == rank and (letter.cell is not None or letter.kind == "barrier")
        ]
        # In program order, and within one rank two different commands (the design, section 2: no self-loops).
        choices.append(
            [
                (entry, exit)
                for (entry, first), (exit, second) in product(places, places)
                if (first < second if len(ranks) == 1 else first <= second)
            ]
        )
    for combination in product(*choices):
        marks: dict[int, set[str]] = {}
        for entry, exit in combination:
            marks.setdefault(entry, set()).add(ENTER)
            marks.setdefault(exit, set()).add(LEAVE)
        yield tuple(
            (head, (Marked(letter, frozenset(marks.get(place, ()))), number))
            for place, (head, (letter, number)) in enumerate(word)
        )


def marked(program: Instance, ranks: list[int], heads: int) -> MarkedNormalForm[Any]:
    return MarkedNormalForm(Interned(NormalForm(program, heads)), ranks)


@given(tiny_instances(4) | tiny_instances(3, FURTHER), st.sampled_from([2, 2, 4]), st.data())
@settings(max_examples=examples(23))
def test_y_m_marks_every_normal_form_computation_in_every_right_way_and_no_other(
    program: Instance, heads: int, data: st.DataObject
) -> None:
    ranks = data.draw(st.lists(st.sampled_from(range(program.nodes)), min_size=1, unique=True).map(sorted))
    try:
        words = headed_words(NormalForm(program, heads))
        found = headed_words(marked(program, ranks, heads))
    except TooMany:
        return
    assert found == {each for word in words for each in markings(word, ranks)}


def words(block: str, ranks: list[int], nodes: int = 1) -> set[tuple[tuple[str, int, str], ...]]:
    """The marked events of the accepted words: kind, rank, marks."""
    automaton = marked(instance(block, nodes=nodes), ranks, 1)
    return {
        tuple(
            (letter.event.kind, letter.event.rank, "+".join(sorted(letter.marks)))
            for _, (letter, _) in word
            if letter.marks
        )
        for word in headed_words(automaton)
    }


def test_a_single_rank_is_entered_and_left_by_different_commands() -> None:
    assert words("mem[x] <- 1; r <- mem[y];", [0]) == {(("store", 0, "enter"), ("load", 0, "leave"))}
    assert words("write(x, 0, y, q);", [0]) == set()


def test_one_command_or_event_can_be_both_entry_and_exit_of_a_longer_cycle() -> None:
    found = words("choose { mem[x] <- 1; } or { write(x, me, y, q); }", [0, 1], 2)
    both = ("store", 0, "enter+leave")
    assert (both, ("store", 1, "enter+leave")) in found
    assert (both, ("popa", 1, "enter"), ("popb", 1, "leave")) in found
    assert (both, ("popa", 1, "leave"), ("popb", 1, "enter")) in found


def test_events_without_a_cell_are_not_marked_except_barriers() -> None:
    found = words("r <- 1; assume(r); wait(q); fence(q); barrier; r <- mem[x];", [0])
    assert found == {(("barrier", 0, "enter"), ("load", 0, "leave"))}


def test_ranks_outside_the_cycle_are_not_marked() -> None:
    found = words("mem[x] <- 1; r <- mem[x];", [1], 3)
    assert {rank for word in found for _, rank, _ in word} == {1}


def test_a_barrier_can_be_marked_at_several_ranks() -> None:
    assert words("barrier;", [0, 1], 2) == {(("barrier", 0, "enter+leave"), ("barrier", 1, "enter+leave"))}


def test_a_rank_without_its_marks_is_not_accepted() -> None:
    program = instance("mem[x] <- 1; r <- mem[x];", "r <- 1;")
    assert headed_words(marked(program, [0, 1], 2)) == set()
    assert headed_words(marked(program, [0], 2)) != set()


def test_the_marks_of_a_shortest_word_come_late() -> None:
    """The first successors carry no marks, so that a breadth-first search marks the latest event it can (the paper's
    Example 15 marks the second event of the barrier)."""
    automaton = marked(one_to_one(), [0, 1], 2)
    first, *_ = automaton.successors(automaton.initial)
    assert not any(letter.marks for _, letter in first[0])


def test_a_letter_is_an_event_with_marks() -> None:
    automaton = marked(instance("mem[x] <- 1;"), [0], 2)
    assert [word for word, _ in automaton.successors(automaton.initial)] == [
        ((1, Marked(Letter("store", 0, 0, 0), frozenset())),),
        ((1, Marked(Letter("store", 0, 0, 0), frozenset((ENTER,)))),),
    ]


@pytest.mark.parametrize(
    ("program", "ranks", "two", "four"),
    [
        (one_to_one(), [0], (136, 237), (1431, 2540)),
        (one_to_one(), [0, 1], (424, 1392), (4561, 15140)),
        (one_to_one("wait(q);"), [0, 1], (205, 732), (1192, 5072)),
        (one_to_one("wait(q);", nodes=3), [0, 2], (917, 4012), (13944, 72500)),
    ],
)
def test_states_and_transitions(
    program: Instance, ranks: list[int], two: tuple[int, int], four: tuple[int, int]
) -> None:
    assert (sizes(marked(program, ranks, 2)), sizes(marked(program, ranks, 4))) == (two, four)
