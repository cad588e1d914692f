"""What ends a search early is caught, and nothing else."""

from __future__ import annotations

import pytest

from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import OutOfMemory, StateLimit, TimeLimit
from pgasrob.robustness.stopping import Stopped, until_limit, within_limits
from pgasrob.robustness.watch import LimitReached


def test_limits_are_caught_and_memory_only_where_it_is_wanted() -> None:
    with until_limit() as stopped:
        raise LimitReached(StateLimit(5))
    assert stopped.reason == StateLimit(5)
    with until_limit(memory=True) as stopped:
        raise MemoryError
    assert stopped.reason == OutOfMemory()
    with pytest.raises(MemoryError), until_limit():
        raise MemoryError
    with pytest.raises(ValueError, match="else"), until_limit(memory=True):
        raise ValueError("else")
    with until_limit(memory=True) as stopped:
        pass
    assert stopped.reason is None


def test_work_within_limits_gives_its_result_or_the_limit() -> None:
    few = Limits(max_states=5, memory=None)
    assert within_limits(few, "at work", lambda watch: watch.limits) is few
    assert within_limits(few, "at work", lambda watch: watch.look_around("at work", 6)) == Stopped(StateLimit(5))
    assert within_limits(few, "at work", lambda watch: watch.look_around("at work", 5)) is None
    late = within_limits(Limits(timeout=1e-9), "at work", lambda watch: "never")
    assert late == Stopped(TimeLimit(1e-9, "at work"))
