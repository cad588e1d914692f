"""Searches that end at a limit keep what they have found, and say which limit it was."""

from __future__ import annotations

import pytest

from pgasrob.models.stopping import until_limit
from pgasrob.robustness.reasons import OutOfMemory, StateLimit
from pgasrob.robustness.watch import LimitReached


def test_a_search_that_comes_to_its_end_has_no_reason() -> None:
    found = []
    with until_limit() as stopped:
        found.append(1)
    assert (found, stopped.reason) == ([1], None)


def test_a_limit_ends_the_search() -> None:
    found = []
    with until_limit() as stopped:
        for number in range(5):
            if number == 3:
                raise LimitReached(StateLimit(3))
            found.append(number)
    assert (found, stopped.reason) == ([0, 1, 2], StateLimit(3))


def test_the_end_of_memory_is_caught_where_it_is_asked_for() -> None:
    with until_limit(memory=True) as stopped:
        raise MemoryError
    assert stopped.reason == OutOfMemory()
    with pytest.raises(MemoryError), until_limit():
        raise MemoryError


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), until_limit(memory=True):
        raise KeyError
