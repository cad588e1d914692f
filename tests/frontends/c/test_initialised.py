"""What has been set of an object, against sets of bytes."""

from __future__ import annotations

import random
from itertools import pairwise

from pgasrob.frontends.c.initialised import ALL, EVERYTHING, MOST_RANGES, NOTHING, Initialised, added, removed
from pgasrob.program.expressions import Me, Register
from tests.support import examples

BYTES = 24


def bytes_of(ranges: tuple[tuple[int, int], ...]) -> set[int]:
    assert all(first < last for first, last in ranges)
    assert all(one[1] < other[0] for one, other in pairwise(ranges))
    return {byte for first, last in ranges for byte in range(first, min(last, BYTES))}


def test_it_is_what_sets_say() -> None:
    rng = random.Random(7)
    for _ in range(examples(300, nightly=20_000)):
        now = rng.choice((NOTHING, ALL))
        certainly = set() if now is NOTHING else set(range(BYTES))
        perhaps = set(certainly)
        for _ in range(rng.randrange(12)):
            start, end = sorted(rng.sample(range(BYTES + 1), 2))
            match rng.randrange(3):
                case 0:
                    now = now.set(start, end)
                    certainly |= set(range(start, end))
                    perhaps |= certainly
                case 1:
                    now = now.set(start, end, certainly=False)
                    perhaps |= set(range(start, end))
                case _:
                    now = now.unset(start, end)
                    certainly -= set(range(start, end))
                    perhaps -= set(range(start, end))
            assert (bytes_of(now.certainly), bytes_of(now.perhaps)) == (certainly, perhaps)
            start, end = sorted(rng.sample(range(BYTES + 1), 2))
            asked = set(range(start, end))
            expected = True if asked <= certainly else None if asked & perhaps else False
            assert now.holds(start, end) is expected
    assert added(EVERYTHING, 3, 5) == EVERYTHING and removed((), 3, 5) == ()


def test_elements_at_an_index() -> None:
    one = NOTHING.set_at(Me(), 4, 16)
    assert (one.holds_at(Me(), 4, 16), one.holds(0, 4), NOTHING.holds_at(Me(), 4, 16)) == (True, None, False)
    # What a register holds is another thing later.
    assert NOTHING.set_at(Register("r", 0), 4, 16).holds_at(Register("r", 0), 4, 16) is None
    assert one.unset(0, 4).holds_at(Me(), 4, 16) is None


def test_many_pieces_are_not_told_apart() -> None:
    now: Initialised = NOTHING
    for place in range(MOST_RANGES):
        now = now.set(4 * place, 4 * place + 1)
    assert (now.holds(0, 1), now.holds(1, 2)) == (True, False)
    now = now.set(4 * MOST_RANGES, 4 * MOST_RANGES + 1)
    assert (now.holds(0, 1), now.holds(1, 2)) == (None, None)
