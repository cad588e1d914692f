"""Searches that take turns: what each may spend, and that the default engine is never weaker than its parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pgasrob.robustness.turns import Part, budgets


class Counting:
    """A search that looks at so many states for each piece, and has so many pieces."""

    def __init__(self, pieces: int, states: int = 1) -> None:
        self.states = 0
        self._pieces, self._each = pieces, states

    def run(self) -> Iterator[None]:
        for _ in range(self._pieces):
            self.states += self._each
            yield


def part(pieces: int, states: int = 1) -> Part:
    search = Counting(pieces, states)
    return Part(search, search.run())


def test_what_a_search_may_spend_doubles_in_every_turn() -> None:
    assert list(islice(budgets(), 4)) == [2_000, 4_000, 8_000, 16_000]


def test_a_search_goes_on_where_it_has_stopped_and_says_when_it_has_ended() -> None:
    one = part(10)
    assert sum(1 for _ in one.search_until(4)) == 4 == one.states and not one.over
    assert sum(1 for _ in one.search_until(4)) == 0
    assert sum(1 for _ in one.search_until(8)) == 4 and one.states == 8
    assert sum(1 for _ in one.search_until(99)) == 2 and one.ended and one.over
    assert sum(1 for _ in one.search_until(999)) == 0 and one.states == 10


def test_a_search_stops_when_it_has_passed_its_limit_and_may_be_given_more() -> None:
    """Its caller, which looks at the limit itself, never sees more states than that."""
    one = part(10, 3)
    one.most = 7
    assert [one.states for _ in one.search_until(99)] == [3, 6]
    assert one.states == 9 and one.over and not one.ended
    one.most = None
    assert not one.over
    assert sum(1 for _ in one.search_until(99)) == 7 and one.ended and one.states == 30


def test_what_states_cost_may_be_another_number() -> None:
    search = Counting(100)
    one = Part(search, search.run(), lambda: 5 * search.states)
    assert sum(1 for _ in one.search_until(20)) == 4 == search.states
