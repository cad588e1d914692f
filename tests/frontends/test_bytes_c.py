"""What C programs do to memory that they access in several sizes is what they do to bytes (`bytes_c`)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.frontends.bytes_c import SIZE, Access, Memory, Programs, compare
from tests.support import examples

BATCHES = 10
"""Seeds are dealt out to so many tests."""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_memory_is_bytes(batch: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(batch, examples(10, 2_000), BATCHES):
        compare(Programs(seed).program(), found)


def test_the_programs_are_worth_comparing() -> None:
    """Each kind of access is drawn, and there are programs with a race and without."""
    drawn = [(draw := Programs(seed), draw.program()) for seed in range(200)]
    used = sum((draw.used for draw, _ in drawn), Counter[str]())
    assert len(used) == len([each for each in dir(Programs) if each.startswith("do_")]) and min(used.values()) > 10
    assert 20 < sum(program.races for _, program in drawn) < 100


def test_accesses_meet_in_a_common_byte() -> None:
    first = Access(0, "shared", 0, 4, True)
    assert first.meets(Access(0, "shared", 3, 5, False)) and not first.meets(Access(0, "shared", 4, 8, True))
    assert not first.meets(Access(1, "shared", 0, 4, True)) and not first.meets(Access(0, "own", 0, 4, True))
    assert not Access(0, "shared", 0, 4, True, "int").meets(Access(0, "shared", 0, 4, True, "int"))
    memory = Memory()
    memory.write(1, "own", SIZE - 2, b"ab")
    assert memory.read(1, "own", SIZE - 3, 3) == bytes([122, 97, 98]) and len(memory.accesses) == 2
