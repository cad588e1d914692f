"""The one place of the models that catches the limits of a search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pgasrob.robustness.reasons import OutOfMemory, Reason
from pgasrob.robustness.watch import LimitReached


@dataclass
class Stopped:
    """``reason``: the limit that has ended the search, None for a search that has come to its end."""

    reason: Reason | None = None


@contextmanager
def until_limit(*, memory: bool = False) -> Iterator[Stopped]:
    """A search that ends at a limit of its watch, with what it has found by then; ``memory``: also where memory ends,
    which only who keeps nothing of the search may catch."""
    stopped = Stopped()
    try:
        yield stopped
    except LimitReached as limit:
        stopped.reason = limit.reason
    except MemoryError:
        if not memory:
            raise
        stopped.reason = OutOfMemory()
