"""Values as sets of up to so many numbers, as intervals beyond.

Where an interval has only bounds, a set keeps what lies between them apart: a rank, or 99 for nobody. Registers of an
expression are gone through one value after the other, so that conditions take away what does not satisfy them, and what
two operands have in common is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from pgasrob.analysis.intervals import Interval, may_be_related, related_to
from pgasrob.program.expressions import RELATIONS

Values = frozenset[int] | Interval
"""A set of numbers, or both ends of an interval that may have more than :data:`MOST_VALUES`."""
MOST_VALUES = 64
MOST_WAYS = 1_024
"""Combinations of values that are gone through one by one."""
NONE: Values = frozenset()


def hull(values: Values) -> Interval:
    """The least interval that contains ``values``, of which there must be some."""
    return (min(values), max(values)) if isinstance(values, frozenset) else values


def within(values: Values, low: int, high: int) -> Values:
    """Those of ``values`` that lie between two bounds."""
    if isinstance(values, frozenset):
        if not values or (low <= min(values) and max(values) <= high):
            return values
        return frozenset(value for value in values if low <= value <= high)
    return between(max(low, values[0]), min(high, values[1]))


@lru_cache(1_024)
def between(low: int, high: int) -> Values:
    """All numbers between two bounds."""
    return frozenset(range(low, high + 1)) if high - low < MOST_VALUES else (low, high)


def united(one: Values, other: Values) -> Values:
    """All values of both, or more; ``one`` itself when that is all."""
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        if other <= one:
            return one
        both = one | other
        return both if len(both) <= MOST_VALUES else hull(both)
    if not one or not other:
        return one or other
    (low, high), (least, greatest) = hull(one), hull(other)
    if not isinstance(one, frozenset) and low <= least and greatest <= high:
        return one
    return min(low, least), max(high, greatest)


def common(one: Values, other: Values) -> Values:
    """The values that are in both."""
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return one & other
    return within(other, *one) if not isinstance(one, frozenset) else within(one, *hull(other)) if other else NONE


def related(symbol: str, one: Values, other: Values) -> Values:
    """Those of ``one`` that are related to some value of ``other``."""
    if isinstance(one, frozenset) and isinstance(other, frozenset) and len(one) * len(other) <= MOST_WAYS:
        holds = RELATIONS[symbol]
        return frozenset(value for value in one if any(holds(value, each) for each in other))
    if not one or not other or not may_be_related(symbol, hull(one), hull(other)):
        return NONE
    return within(one, *related_to(symbol, hull(one), hull(other)))


def ways(sets: Sequence[Values]) -> Iterator[tuple[int, ...]] | None:
    """Every combination of a value of each of ``sets``; None where there are too many."""
    if not all(isinstance(values, frozenset) for values in sets):
        return None
    return product(*sets) if prod(map(len, sets)) <= MOST_WAYS else None
