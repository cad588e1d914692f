"""Numbers and lists in English sentences."""

from __future__ import annotations

from pgasrob.render.english import count, listed
from pgasrob.render.explanation.blocks import steps


def test_counts_and_lists() -> None:
    assert [count(1, "event"), count(1_200, "event")] == ["1 event", "1,200 events"]
    assert [listed("a"), listed("ab"), listed("abc")] == ["a", "a and b", "a, b and c"]
    assert [steps([0]), steps([0, 2]), steps([3, 4, 5])] == ["step 1", "steps 1 and 3", "steps 4 to 6"]
