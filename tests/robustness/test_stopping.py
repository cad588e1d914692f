"""What ends a search early is caught, and nothing else."""

from __future__ import annotations

import pytest

from pgasrob.robustness.reasons import OutOfMemory, StateLimit
from pgasrob.robustness.stopping import until_limit
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
