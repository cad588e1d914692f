"""Processes (`bounded`) that answer the requests, a few at a time; what takes too long or too much is given up."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import anyio
from anyio.to_process import current_default_process_limiter

from pgasrob import bounded
from pgasrob.explore.answers import Answer, answer
from pgasrob.explore.asked_run import AskedRun, Refused
from pgasrob.explore.no_files import from_now_on
from pgasrob.explore.request_bounds import COSTS, SECONDS
from pgasrob.explore.service import Service
from pgasrob.render.english import count as counted
from pgasrob.robustness.limits import size_text

SHARE = 2
"""An engine gives up by itself after such a part of the time and memory: it can say then what it knows."""
WAIT = 5
"""Seconds after which a client that finds the queue full may ask again."""


@dataclass(frozen=True, order=True)
class Turn:
    """A request's place in the queue: ``comes`` when a process is free for it.

    Addresses take turns: the one of which there are fewest requests (``ahead``, of such that cost no more) goes first,
    then what costs little.
    """

    ahead: int
    cost: int
    number: int
    what: str = field(compare=False)
    who: str = field(compare=False)
    comes: anyio.Event = field(compare=False)


class Workers:
    """Processes for a few requests at a time; they stay until the server ends."""

    def __init__(self, service: Service) -> None:
        self._service, self._free = service, service.at_once
        self._numbers = count()
        self._waiting: list[Turn] = []
        self._given_way: set[Turn] = set()
        """Those that waited last when there were too many, until they know it."""
        self._asked: Counter[tuple[str, int]] = Counter()
        """How many requests of an address are waiting or worked on, by what they cost."""
        self._running: set[anyio.CancelScope] = set()

    def turn(self, what: str, who: str = "") -> Turn:
        """A turn for a request of the address ``who``; it begins to wait with :meth:`answer`. Raises :class:`Refused`
        when too many wait that go first; else the last one of those that wait has to give way."""
        cost = COSTS.get(what, 1)
        ahead = sum(number for (other, costs), number in self._asked.items() if other == who and costs <= cost)
        turn = Turn(ahead, cost, next(self._numbers), what, who, anyio.Event())
        if len(self._waiting) >= self._service.waiting:
            if turn > self._waiting[-1]:
                raise self._full()
            last = self._waiting.pop()
            self._given_way.add(last)
            last.comes.set()
        return turn

    def _full(self) -> Refused:
        waiting = counted(self._service.waiting, "request")
        return Refused(503, f"{waiting} are waiting already; ask again in {WAIT} seconds", WAIT)

    def before(self, turn: Turn) -> int | None:
        """How many requests are before this one in the queue; None when it is worked on."""
        return self._waiting.index(turn) if turn in self._waiting else None

    async def answer(self, turn: Turn, asked: AskedRun) -> Answer:
        """What :data:`~pgasrob.explore.answers.ANSWERS` has for the request, once its turn has come. Raises
        :class:`Refused` when it takes too much."""
        seconds, memory = SECONDS[turn.what], self._service.memory
        async with self._process(turn):
            with anyio.CancelScope() as scope:
                self._running.add(scope)
                try:
                    parts = seconds / SHARE, memory // SHARE
                    return await bounded.run(seconds, memory, answer, turn.what, asked, *parts)
                except bounded.TooLarge:
                    most = f"took more memory than the {size_text(memory)} that it may"
                    raise Refused(503, f"this {most} and was given up; try a smaller program") from None
                except bounded.TooLong:
                    message = f"this took longer than {seconds:g} s and was given up"
                    raise Refused(503, f"{message}; try a smaller program or fewer nodes") from None
                finally:
                    self._running.discard(scope)
        raise Refused(503, "the server ends")

    @asynccontextmanager
    async def _process(self, turn: Turn) -> AsyncIterator[None]:
        """Wait for a free process; it is free again at the end."""
        self._asked[turn.who, turn.cost] += 1
        try:
            async with self._turn_of(turn):
                yield
        finally:
            self._asked[turn.who, turn.cost] -= 1
            self._asked += Counter()  # forgets addresses that ask nothing

    @asynccontextmanager
    async def _turn_of(self, turn: Turn) -> AsyncIterator[None]:
        if self._free:
            self._free -= 1
        else:
            insort(self._waiting, turn)
            try:
                await turn.comes.wait()
            except BaseException:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                elif turn not in self._given_way:
                    self._hand_on()
                self._given_way.discard(turn)
                raise
            if turn in self._given_way:
                self._given_way.remove(turn)
                raise self._full()
        try:
            yield
        finally:
            self._hand_on()

    def _hand_on(self) -> None:
        if self._waiting:
            self._waiting.pop(0).comes.set()
        else:
            self._free += 1

    async def warm_up(self) -> None:
        """Start the processes, so that the first requests do not wait for them."""
        current_default_process_limiter().total_tokens = self._service.at_once
        async with anyio.create_task_group() as tasks:
            for _ in range(self._service.at_once):
                tasks.start_soon(self._started)

    async def _started(self) -> None:
        async with self._process(self.turn("position")):
            await bounded.run(float("inf"), self._service.memory, _nothing, not self._service.token)

    def end(self) -> None:
        """Give up all answers that are being found."""
        for scope in list(self._running):
            scope.cancel()


def _nothing(alone: bool) -> None:
    """Imports this module in a process, which is all that a first request waits for."""
    if alone:
        from_now_on()
