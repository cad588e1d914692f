"""Reasons are data: each kind has a code of its own, and a sentence that its fields complete."""

from __future__ import annotations

import pickle
from string import Formatter

import pytest

import pgasrob.recording.recorded_answers  # noqa: F401  # which has some of its own
from pgasrob.robustness.reasons import (
    CountLeft,
    FaultPossible,
    LeftUndone,
    MemoryLimit,
    Reason,
    RunsLeftOut,
    StateLimit,
    TimeLimit,
)


def test_each_has_a_code_and_a_sentence() -> None:
    found = Reason.__subclasses__()
    assert len(found) == len({each.code for each in found}) > 20
    for each in found:
        assert set(each.fields) == {name for _, name, _, _ in Formatter().parse(each.sentence) if name}, each


@pytest.mark.parametrize(
    ("reason", "sentence", "option"),
    [
        (StateLimit(1_000), "the limit of 1,000 states was reached", "max-states"),
        (TimeLimit(2.0), "the time limit of 2 s was reached", "timeout"),
        (MemoryLimit(5_000_000, "at it"), "the memory limit of 5 MB was reached at it", "memory-limit"),
        (RunsLeftOut(("one", "two")), "not all runs were looked at: one; two", None),
        (CountLeft(3, because=StateLimit(7)), "on 3 nodes: the limit of 7 states was reached", "max-states"),
    ],
)
def test_what_it_says(reason: Reason, sentence: str, option: str | None) -> None:
    assert (str(reason), reason.option) == (sentence, option)


def test_reasons_are_equal_when_they_say_the_same() -> None:
    one = LeftUndone("the run", FaultPossible(StateLimit(5)))
    assert one == pickle.loads(pickle.dumps(one)) and hash(one) == hash(pickle.loads(pickle.dumps(one)))
    assert one != LeftUndone("the run", FaultPossible(StateLimit(6))) and StateLimit(5) != MemoryLimit(5)
    assert repr(StateLimit(5)) == "StateLimit(states=5)"
