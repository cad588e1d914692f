"""The cells of objects that are accessed in several sizes."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.frontends.c.pieces import NUMBERS, Pieces, number_of
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.scalars_named import Accesses
from pgasrob.frontends.c.types import INT
from tests.support import examples


def pieces(most: int = 1, accesses: Accesses | None = None) -> Pieces:
    return Pieces("x", {}, {}, set(), accesses or Accesses(), most)


def test_borders_are_where_accesses_begin_and_end() -> None:
    x = pieces()
    assert x.move(0, 100) and not x.move(0, 100) and x.shared == {0: 100}
    assert x.cut(30) and not x.cut(30) and x.shared == {0: 30, 30: 70}
    assert x.load_or_store(50, 2) and x.shared == {0: 30, 30: 20, 50: 2, 52: 48}


def test_what_loads_and_stores_have_is_numbers() -> None:
    x = pieces()
    x.load_or_store(0, 8)
    assert x.shared == {0: 8}
    x.move(3, 5)
    assert x.shared == {0: 2, 2: 1, 3: 1, 4: 4} and set(x.shared.values()) <= set(NUMBERS)


def test_several_parts_of_a_long_run_stand_for_all() -> None:
    x = pieces(3)
    x.move(0, 100)
    assert x.shared == {0: 8, 8: 8, 16: 84}
    x.move(200, 20)
    assert x.shared[200] == 8 and x.shared[208] == 8 and x.shared[216] == 4


def test_what_calls_need_at_once_is_one_cell() -> None:
    x = pieces()
    x.load_or_store(0, 4)
    x.move(6, 4)
    assert x.keep_whole(0, 8) and x.shared == {0: 8, 8: 2} and x.whole_within(0, 8) == [(0, 8)]
    for offset, size in ((0, 4), (4, 8), (2, 2)):
        with pytest.raises(Problem, match="need it whole as 8 bytes at offset 0"):
            x.keep_whole(offset, size)


def test_accesses_that_there_have_been_have_borders_at_once() -> None:
    known = Accesses()
    for offset in (0, 4, 8):
        known.note(offset, INT)
    x = pieces(1, known)
    x.move(0, 16)
    assert x.shared == {0: 4, 4: 4, 8: 4, 12: 4}


def test_what_may_change_stays_so_in_other_pieces() -> None:
    x = Pieces("x", {0: 8}, dict.fromkeys(range(8), 0), {0}, Accesses(), 1)
    assert not x.shared and not x.covered and not x.restless
    x.move(4, 8)
    x.restless.add(4)
    x.cut(8)
    assert x.shared == {4: 4, 8: 4} and 8 in x.restless


def test_short_contents_are_numbers_and_long_ones_have_one() -> None:
    assert number_of(b"\1\2\3") == 0x030201 and number_of(b"\xff" * 8) == -1
    assert number_of(bytes(100)) == 0 and number_of(b"a" * 100) == 97 and number_of(b"\xff" * 9) == -1
    assert abs(number_of(b"a" * 99 + b"b")) > 255 and number_of(b"a" * 99 + b"b") != number_of(b"b" + b"a" * 99)


def test_pieces_found_one_after_the_other_are_those_of_all_that_is_known() -> None:
    for seed in range(examples(200, 20_000)):
        draw = Random(seed)
        x = pieces(draw.choice((1, 2, 3)))
        for _ in range(draw.randint(1, 8)):
            place, size = draw.randrange(30), draw.choice((1, 2, 4, 8))
            try:
                match draw.randrange(5):
                    case 0:
                        x.load_or_store(place, size)
                    case 1 | 2:
                        x.move(place, draw.randint(1, 20))
                    case 3:
                        x.cut(place)
                    case _:
                        x.keep_whole(place, size)
            except Problem:
                continue
            assert x.covered == {at: begin for begin, size in x.shared.items() for at in range(begin, begin + size)}
            assert x.covered.keys() == x.inside and x.shared == dict(x._found(0, 64))
