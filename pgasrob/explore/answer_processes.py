"""Processes (`bounded`) that answer the requests, a few at a time; what takes too long or too much is given up."""

from __future__ import annotations

import anyio

from pgasrob import bounded
from pgasrob.explore.answers import Answer, answer
from pgasrob.explore.asked_run import AskedRun, Refused
from pgasrob.explore.request_bounds import MOST_AT_ONCE, MOST_MEMORY, MOST_WAITING, SECONDS


class Workers:
    """Processes for at most `MOST_AT_ONCE` requests at a time; they stay until the server ends."""

    def __init__(self) -> None:
        self._at_once = anyio.CapacityLimiter(MOST_AT_ONCE)
        self._running: set[anyio.CancelScope] = set()

    async def answer(self, what: str, asked: AskedRun) -> Answer:
        """What :data:`~pgasrob.explore.answers.ANSWERS` has under ``what``. Raises :class:`Refused` when too many wait,
        or it takes too much."""
        if self._at_once.statistics().tasks_waiting >= MOST_WAITING:
            raise Refused(503, "too many requests at a time; wait for the answers to the others")
        async with self._at_once:
            with anyio.CancelScope() as scope:
                self._running.add(scope)
                try:
                    return await bounded.run(SECONDS[what], MOST_MEMORY, answer, what, asked)
                except bounded.TooLarge:
                    raise Refused(503, "this took too much memory and was given up; try a smaller program") from None
                except bounded.TooLong:
                    message = f"this took longer than {SECONDS[what]:g} s and was given up"
                    raise Refused(503, f"{message}; try a smaller program or fewer nodes") from None
                finally:
                    self._running.discard(scope)
        raise Refused(503, "the server ends")

    async def warm_up(self) -> None:
        """Start a process, so that the first request does not wait for it."""
        async with self._at_once:
            await bounded.run(float("inf"), MOST_MEMORY, _nothing)

    def end(self) -> None:
        """Give up all answers that are being found."""
        for scope in list(self._running):
            scope.cancel()


def _nothing() -> None:
    """Imports this module in a process, which is all that a first request waits for."""
