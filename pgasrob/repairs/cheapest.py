"""Finds the cheapest set of things that meets demands of two kinds: one of these, or not all of those."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from threading import Timer
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Cheapest(Generic[T]):
    """Enumerates the sets of things that meet all demands made so far, cheapest first, by MaxSAT (RC2, in PySAT).

    With its heuristics for cores that overlap: without, many barriers of one cost take it exponential time.

    ``things``: those that a set may have, in the order in which they were added.
    """

    def __init__(self) -> None:
        from pysat.examples.rc2 import RC2  # type: ignore[import-untyped]
        from pysat.formula import WCNF  # type: ignore[import-untyped]

        self._solver = RC2(WCNF(), solver="g4", adapt=True, exhaust=True, minz=True)
        self._numbers: dict[T, int] = {}
        self.things: list[T] = []

    def add(self, thing: T, cost: int) -> None:
        """From now on ``thing`` may be in the set, at this ``cost``, 1 or more."""
        if thing not in self._numbers:
            self.things.append(thing)
            self._numbers[thing] = number = len(self.things)
            self._solver.add_clause([-number], weight=cost)

    def demand(self, one_of: Iterable[T], unless_without: Iterable[T] = ()) -> None:
        """Demand one of ``one_of`` in every set that has all of ``unless_without``. All things must have been added."""
        clause = [self._numbers[each] for each in one_of]
        self._solver.add_clause(clause + [-self._numbers[each] for each in unless_without])

    def forbid(self, together: Collection[T]) -> None:
        """Demand that no set has all of these."""
        self.demand((), together)

    def next(self, seconds: float | None = None) -> list[T] | None:
        """The cheapest set, in the order in which its things were added; None when there is none. Raises TimeoutError
        when it has not been found after so many ``seconds``."""
        timer = None if seconds is None else Timer(max(seconds, 0), self._solver.interrupt)
        if timer is not None:
            timer.start()
        try:
            model = self._solver.compute(expect_interrupt=timer is not None)
        finally:
            if timer is not None:
                timer.cancel()
        if model is None:
            if self._solver.interrupted:
                raise TimeoutError
            return None
        chosen = {number for number in model if 0 < number <= len(self.things)}
        return [thing for number, thing in enumerate(self.things, 1) if number in chosen]
