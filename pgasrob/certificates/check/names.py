"""Ranks and numbers on every number of nodes (`proofs/every-n.md`, sections 1 and 2).

In each case the source's rank is the first name, ranks around it and at both ends have names, and all others are the
rest, the last name. Numbers are linear forms a x + b N + c, of a rank x and the number of nodes N. The ranks of an
instance are names, too, on its one number of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pgasrob.program import expressions as e
from pgasrob.program.declarations import Declared
from pgasrob.program.instance import Instance, automata_of_blocks
from pgasrob.program.reading import Reading

MOST_NODES = 1 << 24


class Linear(NamedTuple):
    x: int
    n: int
    c: int

    def plus(self, other: Linear, times: int) -> Linear:
        return Linear(self.x + times * other.x, self.n + times * other.n, self.c + times * other.c)


Value = int | Linear | None
"""One that is the same for all ranks x and all N, or a form, or not known."""
File = tuple[Value, ...]
"""A value for each register."""
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

    def value(self, expr: e.Expr, file: Sequence[Value], me: Value) -> Value:
        """The value of ``expr`` of rank ``me``. Raises ``Fault`` when it never has one; when it is known it always has
        one."""
        match expr:
            case e.Register(_, index):
                return file[index]
            case e.Me():
                return me
            case e.Nodes():
                return NODES
            case e.Binary("&&", left, right):
                return self.value(e.Conditional(left, e.Unary("!", e.Unary("!", right)), e.Const(0)), file, me)
            case e.Binary("||", left, right):
                return self.value(e.Conditional(left, e.Const(1), e.Unary("!", e.Unary("!", right))), file, me)
            case e.Conditional(condition, then, otherwise):
                test = self.value(condition, file, me)
                return self.value(then if test else otherwise, file, me) if isinstance(test, int) else None
        inner = [self.value(each, file, me) for each in e.operands_of(expr)]
        numbers = [e.Const(each) for each in inner if isinstance(each, int)]
        if len(numbers) == len(inner):
            return e.evaluator(e.rewritten(expr, lambda part: None if part is expr else numbers.pop(0)))(())
        if not isinstance(expr, e.Binary) or None in inner:
            return None
        found = self._binary(expr.operator, *(linear(each) for each in inner if each is not None))
        low, high = self.range(found or 0)
        return found if expr.type.range[0] <= low and high <= expr.type.range[1] else None

    def _binary(self, symbol: str, one: Linear, other: Linear) -> Value:
        """The value of an operation that does not wrap around, on forms of which one at least is no number."""
        low, high = self.range(one.plus(other, -1))
        if symbol in e.RELATIONS:
            found = {int(e.RELATIONS[symbol](each, 0)) for each in (low, min(max(low, 0), high), high)}
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


class Name(NamedTuple):
    """A rank, or all that have no other name, the ``rest``; ``me`` is its number over ``domain``, of the rest x."""

    me: int | Linear
    domain: Domain
    rest: bool = False


class Case(NamedTuple):
    """What evidence is about: ``names`` for the ranks of an instance."""

    instance: Instance
    names: list[Name]

    @property
    def rest(self) -> bool:
        """Whether it is about every number of nodes."""
        return self.names[-1].rest

    def named(self, rank: int, value: Value) -> list[int]:
        """The names that a rank operand of a rank may be."""
        of, every = self.names[rank], range(len(self.names))
        if value is None or value == of.me:
            return [rank] if value == of.me else list(every)
        to, numbered = linear(value), [n for n in every if not self.names[n].rest]
        exact = [n for n in numbered if self.names[n].me == value and not (of.rest and to.x)]
        return exact or [n for n in every if n not in numbered or self._may_be(of, to, self.names[n])]

    def _may_be(self, of: Name, to: Linear, name: Name) -> bool:
        """Whether ``to``, as ``of`` computes it, may be the rank ``name``."""
        if of.rest and to.x:  # which one it is depends on which rank of the rest it is of
            origin = Linear(0, 0, 0).plus(linear(name.me).plus(to._replace(x=0), -1), to.x)
            lowest, highest = self._difference(origin, of.domain.low), self._difference(origin, _last(of.domain.high))
            named = any(linear(each.me) == origin for each in self.names[:-1])
            return to.x not in (1, -1) or (lowest[1] >= 0 >= highest[0] and not named)
        low, high = self._difference(to, name.me)
        return low <= 0 <= high

    def _difference(self, one: Linear, other: int | Linear) -> tuple[int, int]:
        return self.names[0].domain.range(one.plus(linear(other), -1))


def case_of(instance: Instance) -> Case:
    return Case(instance, [Name(rank, Domain(instance.nodes, instance.nodes)) for rank in range(instance.nodes)])


def _last(place: int) -> Linear:
    return NODES.plus(Linear(0, 0, -1 - place), 1)


Frame = tuple[int, int]
"""How many ranks have names around the source's, and at each of the ends."""


def cutoff(around: int, ends: int) -> int:
    """The number of nodes that the cases begin with."""
    near = ends + 2 * around
    return 1 + max(near + 2 * around + max(ends, around), 2 * around + 1 + 2 * ends)


def cases(program: Declared, reading: Reading, around: int, ends: int) -> Iterator[Case]:
    """The cases of ``program``: the source's rank is near one end or the other, or far from both; refused
    (:class:`ValueError`) when a rank that is none of the ``ends`` first ones has a block of its own."""
    if min(around, ends) < 0 or any(rank >= ends for process in program.processes for rank in process.ranks or ()):
        raise ValueError("the ranks with blocks of their own have no names")
    blocks = automata_of_blocks(program, reading)

    def case(domain: Domain, first: Iterable[int | Linear], low: int, high: int) -> Case:
        """With names for the ``first``, and so many at both ends."""
        named = dict.fromkeys([*first, *range(low), *(_last(place) for place in range(high))])
        names = [*(Name(me, domain) for me in named), Name(RANK, domain._replace(low=low, high=high), rest=True)]
        automata = (blocks.get(name.me if isinstance(name.me, int) else None, blocks[None]) for name in names)
        return Case(Instance(program, len(names), tuple(automata), reading), names)

    near, least = ends + 2 * around, cutoff(around, ends)
    for place in range(near):
        domain, sizes = Domain(least, MOST_NODES), (max(ends, place + around + 1), max(ends, around - place))
        yield case(domain, [place], *sizes)
        yield case(domain, [_last(place)], *reversed(sizes))
    domain = Domain(max(least, 2 * near + 1), MOST_NODES, near, near)
    yield case(domain, [RANK._replace(c=by) for by in sorted(range(-around, around + 1), key=abs)], ends, ends)
