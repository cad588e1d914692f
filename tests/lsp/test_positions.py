"""Places as editors count them, in UTF-16 code units from 0, and as reports do, in characters from 1."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position, Range

from pgasrob.lsp.positions import Places

PLACES = Places("one\n\U0001f600 two\n")
"""The second line begins with a character of two code units."""


@pytest.mark.parametrize(
    ("line", "column", "position"),
    [
        (1, 1, Position(0, 0)),
        (1, 4, Position(0, 3)),
        (2, 1, Position(1, 0)),
        (2, 2, Position(1, 2)),
        (2, 3, Position(1, 3)),
    ],
)
def test_places_go_both_ways(line: int, column: int, position: Position) -> None:
    assert PLACES.position(line, column) == position
    assert PLACES.column(position) == (line, column)


def test_what_lies_behind_the_end_keeps_its_distance() -> None:
    assert PLACES.position(1, 6) == Position(0, 5)
    assert PLACES.position(9, 3) == Position(8, 2) and PLACES.column(Position(8, 2)) == (9, 1)


def test_a_place_within_a_character_is_its_beginning() -> None:
    assert PLACES.column(Position(1, 1)) == (2, 1)


def test_the_word_at_a_place() -> None:
    assert PLACES.word(Position(0, 0)) == Range(Position(0, 0), Position(0, 3))
    assert PLACES.word(Position(1, 3)) == Range(Position(1, 3), Position(1, 6))
    assert PLACES.word(Position(1, 0)) == Range(Position(1, 0), Position(1, 2)), "no letter: the character alone"
    assert PLACES.word(Position(0, 3)) == Range(Position(0, 3), Position(0, 3)), "nothing is there"
