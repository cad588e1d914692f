"""Ranks and numbers of nodes, which are numbers or the symbols `me` and `nodes`.

With symbols one machine does what every rank does. Whatever needs a number then raises :class:`NumberNeeded`. So the
program that is made holds for every rank on every number of nodes, or none is made (`proofs/every-n.md`, section 7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, TypeVar

from pgasrob.frontends.c.problem import Problem
from pgasrob.program.expressions import (
    MOST_NODES,
    Binary,
    Conditional,
    Const,
    ConstByRank,
    Expr,
    Me,
    Nodes,
    Unary,
    alike,
    parts,
)
from pgasrob.program.statements import Span

T = TypeVar("T")


class NumberNeeded(Problem):
    """What a program does here is only known for a given number of nodes."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__("PG146", message, "check the program with the numbers of nodes that matter", span)


SOME = -1
"""The rank that has published a fact, where one machine does what every rank does."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank that a machine executes the program for: a number, or the symbol `me`, for any rank; or several ranks,
    as long as they do the same."""

    expr: Const | Me

    @property
    def is_symbol(self) -> bool:
        return isinstance(self.expr, Me)

    @property
    def number(self) -> int:
        """Raises :class:`NumberNeeded` for the symbol."""
        if isinstance(self.expr, Me):
            raise NumberNeeded("what is done here differs between ranks")
        return self.expr.value

    @property
    def numbers(self) -> tuple[int, ...]:
        """All ranks that are executed, where they have numbers."""
        if isinstance(self.expr, Me):
            raise NumberNeeded("what is done here differs between ranks")
        return self.expr.numbers if isinstance(self.expr, ConstByRank) else (self.expr.value,)

    @property
    def publishers(self) -> tuple[int, ...]:
        """As which ranks it publishes facts."""
        return (SOME,) if isinstance(self.expr, Me) else self.numbers

    def each(self, compute: Callable[[int], T]) -> T:
        """What is computed for every rank, which go apart where it differs."""
        return alike([compute(rank) for rank in self.numbers])

    def __str__(self) -> str:
        return "one rank" if isinstance(self.expr, Me) else f"rank {self.expr.value}"


class Extent(NamedTuple):
    """A number of bytes: ``each`` for every node, and ``more`` beside these."""

    each: int
    more: int = 0

    def on(self, nodes: int) -> int:
        """How many these are on so many ``nodes``."""
        return self.each * nodes + self.more

    def __str__(self) -> str:
        return f"{self.each:,} bytes for each node" + (f" and {self.more:,} more" if self.more else "")


Path = tuple[tuple[Expr, bool], ...]
"""The conditions on the number of nodes on which a program has branched so far, each with whether it holds."""


def is_of_count(condition: Expr) -> bool:
    """Whether ``condition`` depends on the number of nodes alone."""
    return all(isinstance(each, Const | Nodes | Unary | Binary | Conditional) for each in parts(condition))


MOST_EACH = 1 << 12
"""Bytes for every node, so that no address is beyond those of the next object."""


def extent_of(expr: Expr) -> Extent | None:
    """``expr`` where it is linear in the number of nodes and wraps around on none; None where that is not known."""
    match expr:
        case Const(value):
            found = Extent(0, value)
        case Nodes():
            found = Extent(1)
        case Unary("cast", operand, type) if (inner := extent_of(operand)) is not None:
            found = inner
        case Binary("+" | "-" | "*" as symbol, left, right, type):
            one, other = extent_of(left), extent_of(right)
            if one is None or other is None or (symbol == "*" and one.each and other.each):
                return None
            if symbol == "*":
                found = Extent(one.each * other.more + one.more * other.each, one.more * other.more)
            else:
                sign = 1 if symbol == "+" else -1
                found = Extent(one.each + sign * other.each, one.more + sign * other.more)
        case _:
            return None
    if isinstance(expr, Unary | Binary):
        low, high = type.range
        if not all(low <= found.on(nodes) <= high for nodes in (1, MOST_NODES)):
            return None
    return found


class _Everyone(tuple[int, ...]):
    """All ranks, where their number is a symbol: equal to itself alone; all else raises :class:`NumberNeeded`."""

    __slots__ = ()

    def _refused(self, *_: object) -> NoReturn:
        raise NumberNeeded("what is done here differs between numbers of nodes")

    __iter__ = __len__ = __getitem__ = __contains__ = __add__ = __mul__ = __rmul__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = index = count = _refused

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple) and other is not self:
            self._refused()
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash("everyone")

    def __repr__(self) -> str:
        return "everyone"


EVERYONE = _Everyone()
