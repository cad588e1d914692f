"""Names for ranks, and linear forms for numbers, on every number of nodes (`proofs/every-n.md`, sections 1 and 2).

In each case the source's rank is the first name, ranks around it and at both ends have names, and all others are the
rest, the last names. With a modulus m > 1 ranks are m x + r and numbers of nodes m N + s, with a case for each pair of
remainders r, s. Numbers are linear forms a x + b N + c. The ranks of an instance are names, too, on its one number of
nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pgasrob.program import expressions as e
from pgasrob.program.declarations import Declared
from pgasrob.program.instance import Instance, automata_of_blocks
from pgasrob.program.reading import Reading


class Linear(NamedTuple):
    x: int
    n: int
    c: int

    def plus(self, other: Linear, times: int) -> Linear:
        return Linear(self.x + times * other.x, self.n + times * other.n, self.c + times * other.c)


Value = int | Linear | None
"""A number that is the same for all ranks x and all N, a linear form, or None: unknown."""
File = tuple[Value, ...]
"""A value for each register."""


def linear(value: int | Linear) -> Linear:
    return Linear(0, 0, value) if isinstance(value, int) else Linear(*value)


def plain(found: Linear) -> int | Linear:
    return found if found.x or found.n else found.c


class Domain(NamedTuple):
    """The pairs of x and N with ``least`` <= N <= ``most`` and ``low`` <= x <= N - 1 - ``high``; they stand for the
    rank ``modulus`` x + ``rank`` on ``modulus`` N + ``nodes`` nodes."""

    least: int
    most: int
    low: int = 0
    high: int = 0
    modulus: int = 1
    rank: int = 0
    nodes: int = 0

    def at(self, by: int) -> Linear:
        """The rank that is ``by`` above x."""
        return Linear(self.modulus, 0, self.rank + by)

    def last(self, place: int) -> Linear:
        """The rank with ``place`` ranks above it."""
        return Linear(0, self.modulus, self.nodes - 1 - place)

    def range(self, of: int | Linear) -> tuple[int, int]:
        """The least and greatest value of a form, which it takes at corners of the domain."""
        x, n, c = linear(of)
        found = [x * at + n * count + c for count in self[:2] for at in (self.low, count - 1 - self.high)]
        return min(found), max(found)

    def value(self, expr: e.Expr, file: Sequence[Value], me: Value) -> Value:
        """The value of ``expr`` of rank ``me``. Raises ``Fault`` when it faults for all x and N; a known value means
        that it faults for none."""
        match expr:
            case e.Register(_, index):
                return file[index]
            case e.Me():
                return me
            case e.Nodes():
                return self.last(-1)
        if branches := e.branches_of(expr):
            test = self.value(branches.condition, file, me)
            branch = branches.then if test else branches.otherwise
            return self.value(branch, file, me) if isinstance(test, int) else None
        inner = [self.value(each, file, me) for each in e.operands_of(expr)]
        numbers = [e.Const(each) for each in inner if isinstance(each, int)]
        if len(numbers) == len(inner):
            return e.evaluator(e.rewritten(expr, lambda part: None if part is expr else numbers.pop(0)))(())
        if None in inner or not (isinstance(expr, e.Binary) or (isinstance(expr, e.Unary) and expr.operator == "cast")):
            return None
        one, other = (linear(each or 0) for each in (*inner, 0)[:2])  # a cast that fits adds 0
        found = self._binary(expr.type, expr.operator if isinstance(expr, e.Binary) else "+", one, other)
        low, high = self.range(found or 0)
        return found if expr.type.range[0] <= low and high <= expr.type.range[1] else None

    def _binary(self, type: e.IntType, symbol: str, one: Linear, other: Linear) -> Value:
        """The value of an operation that does not wrap around, on forms of which one at least is no number."""
        low, high = self.range(one.plus(other, -1))
        mask, known = other.c if other[:2] == (0, 0) else 0, one.x | one.n
        power = 1 << max(mask, ~mask).bit_length() if symbol in ("&", "|", "^") else mask
        divisor = power if mask and not (one.x % power or one.n % power) else 0  # what it leaves is known
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
                return one.c % divisor if divisor > 0 and self.range(one)[0] >= 0 else None
            case "/" if divisor > 0 and self.range(one)[0] >= 0:
                return plain(Linear(*(each // divisor for each in one)))
            case "&" | "|" | "^" if divisor and (mask > 0 or symbol == "&"):
                last = e.evaluator(e.Binary(symbol, e.Const(one.c % divisor), e.Const(mask), type))(())
                return last if symbol == "&" and mask > 0 else plain(one._replace(c=one.c - one.c % divisor + last))
            case "&" if other == one._replace(c=one.c - 1) and one.c % (known & -known):
                return plain(one._replace(c=one.c - (one.c & -one.c)))
        return None


class Name(NamedTuple):
    """A rank, or a ``rest``: all unnamed ranks with one remainder; ``me`` is its number over ``domain``."""

    me: int | Linear
    domain: Domain
    rest: bool = False


class Case(NamedTuple):
    """The subject of evidence: ``names`` for the ranks of an instance; ``rest``: the case is one of every number of
    nodes, and has names that stand for many ranks."""

    instance: Instance
    names: list[Name]
    rest: bool = False

    def named(self, rank: int, value: Value) -> list[int]:
        """The names that the rank operand of a command may stand for."""
        of, every = self.names[rank], range(len(self.names))
        if value is None or value == of.me:
            return [rank] if value == of.me else list(every)
        to = linear(value)
        exact = [n for n in every if self.names[n][::2] == (value, False) and not (of.rest and to.x)]
        return exact or [n for n in every if self._may_be(of, to, self.names[n])]

    def _may_be(self, of: Name, to: Linear, name: Name) -> bool:
        """Whether ``to``, as ``of`` computes it, may be the rank ``name``."""
        modulus, apart, domain = of.domain.modulus, to.plus(linear(name.me), -1), self.names[0].domain
        if apart.x % modulus == apart.n % modulus == 0 != apart.c % modulus:
            return False
        if name.rest or not (of.rest and to.x):
            least, most = domain.range(apart)
            return name.rest or least <= 0 <= most
        found = linear(name.me).plus(to._replace(x=0), -1)  # so often to.x: which one it is depends on which one of is
        x, last = Linear(*(each // to.x for each in found)), Linear(0, 1, -1 - of.domain.high)
        origin = Linear(0, 0, of.domain.rank).plus(x, modulus)
        named = found.c % to.x or origin in (linear(each.me) for each in self.names if not each.rest)
        there = not named and domain.range(x)[1] >= of.domain.low and domain.range(x.plus(last, -1))[0] <= 0
        return there or bool(found.x % to.x or found.n % to.x)


def case_of(instance: Instance) -> Case:
    return Case(instance, [Name(rank, Domain(instance.nodes, instance.nodes)) for rank in range(instance.nodes)])


def cutoff(around: int, ends: int, modulus: int) -> int:
    """The number of nodes that the cases begin with, for so many names around the source's rank and at each of the
    ends, and with the ``modulus``."""
    return max(ends + 4 * around + max(ends, around) + modulus, 2 * (ends + around + modulus))


def cases(program: Declared, reading: Reading, around: int, ends: int, modulus: int) -> Iterator[Case]:
    """The cases of ``program``: the source's rank is near one end or the other, or far from both; refused
    (:class:`ValueError`) when a rank that is none of the ``ends`` first ones has a block of its own."""
    if min(around, ends, modulus - 1) < 0 or any(each >= ends for own in program.processes for each in own.ranks or ()):
        raise ValueError("the ranks with blocks of their own have no names, or nothing is left")
    blocks = automata_of_blocks(program, reading)
    near, least = ends + 2 * around, cutoff(around, ends, modulus)

    def domain(least: int, low: int, high: int, rank: int, nodes: int) -> Domain:
        """Of ranks and numbers that leave so much."""
        bounds = -((nodes - least) // modulus), (program.most_nodes - nodes) // modulus, -((rank - low) // modulus)
        return Domain(*bounds, -1 - (nodes - 1 - high - rank) // modulus, modulus, rank, nodes)

    def case(of: Domain, first: Iterable[int | Linear], low: int, high: int) -> Case:
        """With names for the ``first``, and so many at both ends."""
        named = dict.fromkeys([*first, *range(low), *map(of.last, range(high))])
        rests = [domain(least, low, high, rank, of.nodes) for rank in range(modulus)]
        names = [*(Name(me, of) for me in named), *(Name(each.at(0), each, rest=True) for each in rests)]
        automata = (blocks.get(name.me if isinstance(name.me, int) else None, blocks[None]) for name in names)
        return Case(Instance(program, len(names), tuple(automata), reading), names, True)

    for nodes in range(modulus):
        for place in range(near):
            of, sizes = domain(least, 0, 0, 0, nodes), (max(ends, place + around + 1), max(ends, around - place))
            yield case(of, [place], *sizes)
            yield case(of, [of.last(place)], *reversed(sizes))
        for rank in range(modulus):
            of = domain(max(least, 2 * near + 1), near, near, rank, nodes)
            yield case(of, map(of.at, sorted(range(-around, around + 1), key=abs)), ends, ends)
