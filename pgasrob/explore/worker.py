"""Work in processes of their own, so that the server answers meanwhile and what takes too long can be ended."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

import anyio
import anyio.to_process

from pgasrob.explore import answers
from pgasrob.explore.answers import Answer
from pgasrob.explore.limits import MOST_AT_ONCE, MOST_MEMORY, MOST_WAITING, SECONDS
from pgasrob.explore.question import Question, Refused

ANSWERS: dict[str, Callable[[Question], Answer]] = {"position": answers.position, "violation": answers.violation}
"""What can be asked, by the last part of the address."""


class Workers:
    """At most so many processes as requests are worked on at a time; they are there until the server ends."""

    def __init__(self) -> None:
        self._at_once = anyio.CapacityLimiter(MOST_AT_ONCE)
        self._running: set[anyio.CancelScope] = set()
        self._ended = False

    async def answer(self, asked: str, question: Question) -> Answer:
        """Raises :class:`Refused` when there is too much to do, or it takes too long."""
        if self._at_once.statistics().tasks_waiting >= MOST_WAITING:
            raise Refused(503, "too many requests at a time; wait for the answers to the others")
        async with self._at_once:
            # Cancelled, the process is killed; there is a new one for the next request.
            with anyio.move_on_after(SECONDS[asked]) as scope:
                self._running.add(scope)
                try:
                    return await anyio.to_process.run_sync(_work, asked, question, cancellable=True)
                except (MemoryError, RecursionError, anyio.BrokenWorkerProcess):
                    raise Refused(503, "this took too much memory and was given up; try a smaller program") from None
                finally:
                    self._running.discard(scope)
        if self._ended:
            raise Refused(503, "the server ends")
        told = f"this took longer than {SECONDS[asked]:g} s and was given up; try a smaller program or fewer nodes"
        raise Refused(503, told)

    async def warm_up(self) -> None:
        """Start a process, so that the first request does not wait for it."""
        async with self._at_once:
            await anyio.to_process.run_sync(_prepare)

    def end(self) -> None:
        """Give up what is worked on."""
        self._ended = True
        for scope in list(self._running):
            scope.cancel()


def _work(asked: str, question: Question) -> Answer:
    _prepare()
    return ANSWERS[asked](question)


def _prepare() -> None:
    """Bound the memory of this process, which ends with the server and not by itself on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
