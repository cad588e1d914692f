"""Widens growing intervals so that fixpoints over them end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from pgasrob.analysis.intervals import File, Interval
from pgasrob.program import core
from pgasrob.program.core import Form
from pgasrob.program.expressions import Binary, IntType, Unary, constant, parts

LEAST_GROWTHS, EXACT_GROWTHS = 4, 32
"""The least and greatest number of times that an interval grows before it is widened to constants of the program; twice
as many times before it is widened to the range of a type."""
GROWTHS_OF_ALL = 16_000
"""That number times the number of commands, between the two bounds: each growth may take a look at most commands."""
_DOUBLE = IntType(64, True)
"""What doubles are kept as."""


class Widening:
    """Grows intervals in finitely many steps: first as far as asked, then to constants of the program, then to the
    bounds of types."""

    def __init__(self, forms: Iterable[Form]) -> None:
        values, types = {0, 1}, {IntType(32, True)}
        count = 0
        for count, form in enumerate(forms, 1):  # noqa: B007
            update = form.update if isinstance(form, core.Immediate | core.Transfer) else None
            if update is not None:
                types.add(_DOUBLE if update.operation.endswith(".") else update.type)
            for _, expr in core.expressions(form):
                for part in parts(expr):
                    if isinstance(part, Unary | Binary):
                        of_doubles = part.operator.endswith(".") or part.operator in ("float", "float32", "of_bits32")
                        types.add(_DOUBLE if of_doubles else part.type)
                    elif (value := constant(part)) is not None:
                        values |= {value - 1, value, value + 1}
        # All values fit the widest type, so the last step always contains them.
        widest = max(type.bits for type in types)
        ends = {bound for type in types for bound in type.range}
        ends |= {*IntType(widest, True).range, *IntType(widest, False).range}
        self._ends = sorted({0, *ends, min(values), max(values)})
        self._constants = sorted(values | ends)
        self._exact = min(EXACT_GROWTHS, max(LEAST_GROWTHS, GROWTHS_OF_ALL // max(1, count)))

    def grown(self, old: Interval, new: Interval, times: int) -> Interval:
        """``new``, which contains ``old``, or more; ``times`` is how often it has grown before."""
        if times < self._exact:
            return new
        steps = self._constants if times < 2 * self._exact else self._ends
        low, high = new
        if low < old[0]:
            low = steps[max(bisect_right(steps, low) - 1, 0)] if low >= steps[0] else low
        if high > old[1]:
            high = steps[bisect_left(steps, high)] if high <= steps[-1] else high
        return low, high

    def grown_file(self, old: File, new: File, times: int) -> File:
        if times < self._exact:
            return new
        return tuple(
            two if one is two or one == two else self.grown(one, two, times) for one, two in zip(old, new, strict=True)
        )
