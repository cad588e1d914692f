"""Numbers on every number of nodes: linear forms a x + b N + c, of a rank x and the number of nodes N."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pgasrob.program.expressions import (
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    evaluator,
)


class Linear(NamedTuple):
    x: int
    n: int
    c: int

    def plus(self, other: Linear, times: int) -> Linear:
        return Linear(self.x + times * other.x, self.n + times * other.n, self.c + times * other.c)


Value = int | Linear | None
"""One that is the same for all ranks x and all N, or a form, or not known."""
RANK, NODES = Linear(1, 0, 0), Linear(0, 1, 0)


def linear(value: int | Linear) -> Linear:
    return Linear(0, 0, value) if isinstance(value, int) else Linear(*value)


def plain(found: Linear) -> int | Linear:
    return found if found.x or found.n else found.c


class Domain(NamedTuple):
    """The pairs of x and N with ``least`` <= N <= ``most`` and ``low`` <= x <= N - 1 - ``high``."""

    least: int
    most: int
    low: int = 0
    high: int = 0

    def range(self, of: int | Linear) -> tuple[int, int]:
        """Between which numbers a form lies: its extremes are at the corners."""
        x, n, c = linear(of)
        found = [x * at + n * count + c for count in self[:2] for at in (self.low, count - 1 - self.high)]
        return min(found), max(found)

    def value(self, expr: Expr, file: Sequence[Value], me: Value) -> Value:
        """The value of ``expr`` of rank ``me``. Raises ``Fault`` when it never has one; when it is known it always has
        one."""
        match expr:
            case Const(number) | Symbol(_, number):
                return number
            case Register(_, index):
                return file[index]
            case Me():
                return me
            case Nodes():
                return NODES
            case Binary("&&", left, right):
                return self.value(Conditional(left, Unary("!", Unary("!", right)), Const(0)), file, me)
            case Binary("||", left, right):
                return self.value(Conditional(left, Const(1), Unary("!", Unary("!", right))), file, me)
            case Conditional(condition, then, otherwise):
                test = self.value(condition, file, me)
                return self.value(then if test else otherwise, file, me) if isinstance(test, int) else None
            case Unary(_, operand):
                inner = self.value(operand, file, me)
                return evaluator(replace(expr, operand=Const(inner)))(()) if isinstance(inner, int) else None
            case Binary(symbol, left, right, type):
                one, other = self.value(left, file, me), self.value(right, file, me)
                if isinstance(one, int) and isinstance(other, int):
                    return evaluator(replace(expr, left=Const(one), right=Const(other)))(())
                found = None if one is None or other is None else self._binary(symbol, linear(one), linear(other))
                low, high = self.range(found or 0)
                return found if type.range[0] <= low and high <= type.range[1] else None
        raise AssertionError(f"{expr} is no expression")

    def _binary(self, symbol: str, one: Linear, other: Linear) -> Value:
        """The value of an operation that does not wrap around, on forms of which one at least is no number."""
        low, high = self.range(one.plus(other, -1))
        if symbol in RELATIONS:
            signs = [-1] * (low < 0) + [0] * (low <= 0 <= high) + [1] * (high > 0)
            found = {int(RELATIONS[symbol](sign, 0)) for sign in signs}
            return found.pop() if len(found) == 1 else None
        match symbol:
            case "+" | "-":
                return plain(one.plus(other, 1 if symbol == "+" else -1))
            case "*" if other[:2] == (0, 0):
                return plain(Linear(0, 0, 0).plus(one, other.c))
            case "%":
                for rest in (one, one.plus(other, -1)):
                    if self.range(rest)[0] >= 0 and self.range(other.plus(rest, -1))[0] > 0:
                        return plain(rest)
        return None
