"""Which of some updates of one kind have to be there for a cell to hold what somebody waits for.

Updates that do the same to the cell can stand for each other, so what counts is how many there are of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import comb, prod

from pgasrob.program import core
from pgasrob.semantics.mazurkiewicz_trace import Entry, value_after

MOST_VALUES = 1 << 12
"""Values of a cell, by subsets of its updates, up to which subsets are tried."""
MOST_SETS = 1 << 10
"""Sets of updates that are tried at most."""

Passes = Callable[[int], bool]


class TooMany(Exception):
    """There are more subsets or values than anybody wants to look at."""


class Updates:
    """Updates of one kind of a cell that held ``before``, numbered as they are given."""

    def __init__(self, before: int, updates: Sequence[core.Update[int]]) -> None:
        alike: dict[core.Update[int], list[int]] = {}
        for number, update in enumerate(updates):
            alike.setdefault(update, []).append(number)
        self._before = before
        self._alike = list(alike.items())

    def any(self, passes: Passes) -> bool:
        """Whether there is a set of them after which the cell holds what ``passes``. Raises :class:`TooMany`."""
        return bool(self._good(passes)[0])

    def passing(self, passes: Passes) -> list[frozenset[int]]:
        """These sets. Raises :class:`TooMany`."""
        return self._expanded(self._counts(passes))

    def greatest(self, passes: Passes) -> list[frozenset[int]]:
        """Those of them, the set of all left out, that are in no other one."""
        all_of_them = tuple(len(numbers) for _, numbers in self._alike)
        found: list[tuple[int, ...]] = []
        for counts in self._counts(passes):
            if counts != all_of_them and not any(_covers(other, counts) for other in found):
                found = [other for other in found if not _covers(counts, other)] + [counts]
        return self._expanded(found)

    def _good(self, passes: Passes) -> list[set[int]]:
        """By how many kinds of updates have been decided, the values from which the cell can still come to pass."""
        reached = [{self._before}]
        for update, numbers in self._alike:
            reached.append({value for start in reached[-1] for value in _in_turn(start, update, len(numbers))})
            if len(reached[-1]) > MOST_VALUES:
                raise TooMany
        good = [{value for value in reached[-1] if passes(value)}]
        for (update, numbers), values in zip(reversed(self._alike), reversed(reached[:-1]), strict=True):
            good.append({each for each in values if not good[-1].isdisjoint(_in_turn(each, update, len(numbers)))})
        good.reverse()
        return good

    def _counts(self, passes: Passes) -> list[tuple[int, ...]]:
        """How many there are of each in the sets that pass, greater numbers first."""
        good = self._good(passes)
        found: list[tuple[int, ...]] = []
        waiting: list[tuple[int, tuple[int, ...]]] = [(self._before, ())] if good[0] else []
        while waiting:
            value, counts = waiting.pop()
            if len(counts) == len(self._alike):
                if len(found) == MOST_SETS:
                    raise TooMany
                found.append(counts)
                continue
            update, numbers = self._alike[len(counts)]
            for count, after in enumerate(_in_turn(value, update, len(numbers))):
                if after in good[len(counts) + 1]:
                    waiting.append((after, (*counts, count)))
        return found

    def _expanded(self, all_counts: Sequence[tuple[int, ...]]) -> list[frozenset[int]]:
        sizes = [len(numbers) for _, numbers in self._alike]
        if sum(prod(map(comb, sizes, counts)) for counts in all_counts) > MOST_SETS:
            raise TooMany
        found = []
        for counts in all_counts:
            choices = (combinations(numbers, count) for (_, numbers), count in zip(self._alike, counts, strict=True))
            found += [frozenset(number for numbers in chosen for number in numbers) for chosen in product(*choices)]
        return found


def _in_turn(value: int, update: core.Update[int], times: int) -> Iterator[int]:
    """What the cell holds after none, one ... ``times`` of ``update``."""
    yield value
    for _ in range(times):
        value = value_after(value, [update])
        yield value


def _covers(counts: tuple[int, ...], others: tuple[int, ...]) -> bool:
    return all(count >= other for count, other in zip(counts, others, strict=True))


def greatest_kept(before: int, entries: Sequence[Entry], passes: Passes) -> list[list[Entry]]:
    """The greatest parts of ``entries``, updates of a cell that held ``before``, after which it ``passes``; not all of
    them, and none without those that it comes after. Raises :class:`TooMany`."""
    found: list[list[Entry]] = []
    waiting = [list(entries)]
    for some in waiting:
        updates = [entry.made.update for entry in some if entry.made.update]
        for numbers in Updates(before, updates).greatest(passes):
            left = [entry.event for number, entry in enumerate(some) if number not in numbers]
            # A part in which nothing is missing that something comes after is a part of this one:
            kept = [entry for entry in some if not any(event.is_in(entry.event.clock) for event in left)]
            own = (entry.made.update for entry in kept if entry.made.update)
            into = found if len(kept) == len(numbers) or passes(value_after(before, own)) else waiting
            if kept not in into:
                into.append(kept)
        if len(waiting) > MOST_SETS:
            raise TooMany
    return [
        kept
        for kept in found
        if not any(len(kept) < len(other) and all(each in other for each in kept) for other in found)
    ]
