"""Numbers that depend on how many nodes there are: linear forms a x + b N + c, and intervals between two of them.

N is the number of nodes and x a rank: the one that a name stands for, or the source's. A :class:`Domain` says what
pairs (x, N) there are. They are the corners of a quadrilateral and what lies between, so a linear form has its
extremes at the corners, and whether one is less than another is known from their difference. Where remainders are
known quotients are forms too, with fractions for a, b and c: of ranks that leave 1, (x - 1) / 3 is a whole number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import NamedTuple

from pgasrob.program.expressions import INT32, MOST_NODES, IntType

Number = int | Fraction


class Linear(NamedTuple):
    """``x`` times the rank plus ``n`` times the number of nodes plus ``c``."""

    x: Number = 0
    n: Number = 0
    c: Number = 0

    def plus(self, other: Linear, times: Number = 1) -> Linear:
        return Linear(self.x + times * other.x, self.n + times * other.n, self.c + times * other.c)

    def minus(self, other: Linear) -> Linear:
        return self.plus(other, -1)

    def shifted(self, by: Number) -> Linear:
        return self._replace(c=self.c + by)

    def times(self, factor: Number) -> Linear:
        return Linear(*(_plain(part * factor) for part in self))

    def over(self, divisor: Number) -> Linear:
        """The form divided by ``divisor``."""
        return self.times(Fraction(1) / divisor)


def _plain(value: Number) -> Number:
    """``value``, as an integer if it is one."""
    return int(value) if value.denominator == 1 else value


NODES = Linear(n=1)
RANK = Linear(x=1)


def number(value: Number) -> Linear:
    return Linear(c=value)


Value = tuple[Linear, Linear]
"""An interval, both ends included; a single number for all that is known of N and x when both ends are the same."""


def exactly(form: Linear) -> Value:
    return form, form


def between(low: int, high: int) -> Value:
    return number(low), number(high)


def any_of(type: IntType) -> Value:
    return between(*type.range)


ANYTHING: Value = between(-(1 << 63), (1 << 64) - 1)
"""What any register or cell holds."""
FALSE, TRUE, EITHER = between(0, 0), between(1, 1), between(0, 1)


@dataclass(frozen=True)
class Domain:
    """The pairs of x and N with ``least`` <= N <= ``most`` and ``low`` <= x <= N - 1 - ``high``.

    Divided by ``modulus`` they leave the remainders ``x`` and ``n``. The bounds that are given may be further away
    than need be: with remainders they move to the nearest ones that are reached.
    """

    least: int
    low: int = 0
    high: int = 0
    modulus: int = 1
    x: int = 0
    n: int = 0
    most: int = MOST_NODES

    def __post_init__(self) -> None:
        least, low, high, modulus = self.least, self.low, self.high, self.modulus
        low += (self.x - low) % modulus
        high += (self.n - 1 - high - self.x) % modulus
        least = max(least, low + high + 1)  # there is no such x on fewer
        bounds = {
            "low": low,
            "high": high,
            "least": least + (self.n - least) % modulus,
            "most": self.most - (self.most - self.n) % modulus,
        }
        for name, bound in bounds.items():
            object.__setattr__(self, name, bound)
        assert self.least <= self.most, "there has to be such an x"

    @cached_property
    def corners(self) -> Sequence[tuple[int, int]]:
        """As pairs (x, N)."""
        counts = (self.least, self.most)
        return [(x, count) for count in counts for x in (self.low, count - 1 - self.high)]

    def range(self, form: Linear) -> tuple[int, int]:
        """The least and the greatest value of ``form``, or bounds below and above them."""
        if form.x == form.n == 0:
            return floor(form.c), ceil(form.c)
        values = [form.x * x + form.n * count + form.c for x, count in self.corners]
        return floor(min(values)), ceil(max(values))

    def remainder(self, form: Linear, divisor: int) -> Number | None:
        """The remainder of ``form`` by ``divisor``, if it is always the same; no integer if ``form`` never is one."""
        if form.x * self.modulus % divisor or form.n * self.modulus % divisor:
            return None
        return _plain((form.x * self.x + form.n * self.n + form.c) % divisor)

    def span(self, value: Value) -> tuple[int, int]:
        """Two numbers between which ``value`` lies."""
        return self.range(value[0])[0], self.range(value[1])[1]

    def always(self, low: Linear, high: Linear) -> bool:
        """Whether ``low`` is never greater than ``high``."""
        x, n, c = high.x - low.x, high.n - low.n, high.c - low.c
        return c >= 0 if x == n == 0 else all(x * rank + n * count + c >= 0 for rank, count in self.corners)

    def differ(self, one: Linear, other: Linear) -> bool:
        """Whether the two are never equal."""
        difference = one.minus(other)
        low, high = self.range(difference)
        return low > 0 or high < 0 or self.remainder(difference, self.modulus) not in (0, None)

    def joined(self, one: Value, other: Value) -> Value:
        """An interval that contains both."""
        return self._lower(one[0], other[0]), self._upper(one[1], other[1])

    def _lower(self, one: Linear, other: Linear) -> Linear:
        if self.always(one, other):
            return one
        if self.always(other, one):
            return other
        return number(min(self.range(one)[0], self.range(other)[0]))

    def _upper(self, one: Linear, other: Linear) -> Linear:
        if self.always(one, other):
            return other
        if self.always(other, one):
            return one
        most = max(self.range(one)[1], self.range(other)[1])
        if most < self.least:
            return number(most)
        return NODES.shifted(max(self.range(each.minus(NODES))[1] for each in (one, other)))

    def without_rank(self, value: Value) -> Value:
        """``value`` with bounds that do not depend on x."""
        (low, high), first, last = value, number(self.low), Linear(n=1, c=-1 - self.high)
        return (
            low._replace(x=0).plus(first if low.x > 0 else last, low.x),
            high._replace(x=0).plus(last if high.x > 0 else first, high.x),
        )

    def fitting(self, value: Value, type: IntType = INT32) -> Value:
        """``value`` as an operation in ``type`` yields it, which may wrap around."""
        low, high = self.span(value)
        times = (low - type.range[0]) >> type.bits
        if times != (high - type.range[0]) >> type.bits:
            return any_of(type)
        return value[0].shifted(-times << type.bits), value[1].shifted(-times << type.bits)
