"""The one place that catches the limits of a search, and gives the limit as a reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import MemoryLimit, OutOfMemory, Reason
from pgasrob.robustness.watch import LimitReached, Progress, Watch

T = TypeVar("T")


@dataclass
class Stopped:
    """``reason``: the limit that has ended the search, None for a search that has come to its end."""

    reason: Reason | None = None


@contextmanager
def until_limit(watch: Watch | None = None, *, memory: bool = False) -> Iterator[Stopped]:
    """A search that ends at a limit, with what it has found by then.

    ``memory``: also where memory ends, which only who keeps nothing of the search may catch; that is the limit of the
    ``watch`` where the kernel says so.
    """
    stopped = Stopped()
    try:
        yield stopped
    except LimitReached as limit:
        stopped.reason = limit.reason
    except MemoryError as error:
        if not memory:
            raise
        stopped.reason = OutOfMemory()
        if watch is not None and watch.limits.memory is not None and "limit" in str(error):
            stopped.reason = MemoryLimit(watch.limits.memory, watch.latest)


def within_limits(
    limits: Limits,
    phase: str,
    work: Callable[[Watch], T],
    progress: Callable[[Progress], None] | None = None,
    *,
    looks: bool = False,
) -> T | Stopped:
    """What ``work`` gives, or the limit that has ended it. It gets the watch, which looks at the ``limits`` by itself
    and by which it can look at them and report ``progress``; ``phase`` and ``looks`` are as of :meth:`Watch.within`."""
    watch = Watch(limits, progress, time.monotonic())
    with until_limit() as stopped:
        return watch.within(phase, lambda: work(watch), looks=looks)
    return stopped
