"""Looking at the limits and at the clock while a search goes on, and telling a display."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pgasrob.robustness.limits import Limits, resident_memory
from pgasrob.robustness.reasons import MemoryLimit, Reason, StateLimit, TimeLimit

LOOK_AROUND = 0.05
"""Seconds between two looks at the limits."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot of a running search for a display: which phase, states so far, seconds, what the phase is at."""

    phase: str
    states: int
    seconds: float
    doing: str


class LimitReached(Exception):
    """A limit ended the search early: ``reason`` says which."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Watch:
    """The ``limits`` of a search that ``started`` then (`time.monotonic`); ``progress`` is called a few times a second.

    Memory counts from the time when the watch is made.
    """

    def __init__(self, limits: Limits, progress: Callable[[Progress], None] | None, started: float) -> None:
        self._limits, self._progress, self._started = limits, progress, started
        self._looked = started
        self._resident = resident_memory()

    def look_around(self, phase: str, states: int, doing: str = "") -> None:
        """Look at the limits, and report the progress, if it is time to. Raises :class:`LimitReached`."""
        limits = self._limits
        if limits.max_states is not None and states > limits.max_states:
            raise LimitReached(StateLimit(limits.max_states))
        now = time.monotonic()
        if now - self._looked < LOOK_AROUND:
            return
        self._looked = now
        elapsed = now - self._started
        if limits.timeout is not None and elapsed > limits.timeout:
            raise LimitReached(TimeLimit(limits.timeout))
        if limits.memory is not None and resident_memory() - self._resident > limits.memory:
            raise LimitReached(MemoryLimit(limits.memory))
        if self._progress:
            self._progress(Progress(phase, states, elapsed, doing))
