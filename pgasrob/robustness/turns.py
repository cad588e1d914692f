"""Searches that take turns, each with a budget of its own, so that together they are never weaker than one of them.

In each of its turns a search may spend as much as in all turns before, and nothing of these is lost. So where one of
them needs n, none of the others has spent more than 2 n by then. Budgets count what is looked at, never time: the
answer depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

FIRST = 2_000
"""States that a search may look at in its first turn: some milliseconds."""


class Counted(Protocol):
    """A search that says how many states it has looked at."""

    @property
    def states(self) -> int: ...


class Part:
    """One of several searches, which goes on when the next of ``pieces`` is asked for.

    ``most``: how many states ``search`` may look at in all, None: any number. ``spent``: what it has cost so far, in
    states of a search whose states cost about the same; where that is None they are its own.
    """

    def __init__(self, search: Counted, pieces: Iterator[None], spent: Callable[[], float] | None = None) -> None:
        self._search, self._pieces, self._spent = search, pieces, spent
        self.most: int | None = None
        self.ended = False

    @property
    def states(self) -> int:
        return self._search.states

    @property
    def over(self) -> bool:
        """Whether it has come to its end, or to its limit."""
        return self.ended or (self.most is not None and self.states > self.most)

    def search_until(self, budget: int) -> Iterator[None]:
        """Search until so much has been spent in all turns, or it is over; yields after every piece but the last."""
        while not self.over and (self.states if self._spent is None else self._spent()) < budget:
            if next(self._pieces, self) is self:
                self.ended = True
            elif not self.over:
                yield


def budgets() -> Iterator[int]:
    """What a search may have spent after each of its turns."""
    budget = FIRST
    while True:
        yield budget
        budget *= 2
