"""What conditions ask of the unknown values in cells, and the values that stand there for all of one answer.

An unknown value that is stored decides nothing by itself: 0 lies in the cell instead, and whoever loads it gets a value
that nothing ties to this one. Where a condition looks at what has been loaded from the cell, and at nothing else that
is unknown, the cell is *asked* this condition. Whoever stores an unknown value there goes on in two ways then, one for
each answer, and stores a number that has the same answers to all that the cell is asked; and who loads that number
branches by it (`proofs/c-front-end.md`, section 1). So all ranks that get one value take the same branches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain

from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.nondeterminism import Leaf, uncast
from pgasrob.frontends.c.roots import breaks
from pgasrob.frontends.c.values import ObjectId
from pgasrob.program.expressions import (
    NEGATED,
    RELATIONS,
    Binary,
    Const,
    Expr,
    Fault,
    Register,
    Unary,
    evaluator,
    float_bits,
    float_value,
    parts,
    registers_of,
    rewritten,
)
from pgasrob.stop_points import stop_point

CELL = Register("cell", 0)
"""The number in the cell, in a condition that cells are asked; it is alone there."""
MOST_WAYS = 512
"""So often a rank may go two ways by an answer in one pass, before less is asked."""
MOST_PASSED_ON = 64
"""So many conditions a cell is asked for others; of more the answers are lost: what is added to in each round, say, is
asked another condition in each."""
MOST_AROUND = 32
"""So far from the numbers in conditions one is looked for that has any remainder."""
LARGEST_ASKED = 48
"""Parts of such a condition."""
Scalar = tuple[ObjectId, int | None]
Asked = tuple[Expr, ...]


def about(condition: Expr, value: Expr) -> Expr:
    """The ``condition`` that a cell is asked, of a ``value``."""
    return _with_single_casts(rewritten(condition, lambda part: value if part == CELL else None))


def _with_single_casts(expr: Expr) -> Expr:
    """``expr`` where what is cast is no cast itself to as many bits or more: else a condition on what goes round
    between cells would be another one in each round."""

    def single(part: Expr) -> Expr | None:
        match part:
            case Unary("cast", Unary("cast", operand, inner), type) if type.bits <= inner.bits:
                return _with_single_casts(Unary("cast", operand, type))
        return None

    return rewritten(expr, single)


def as_asked(condition: Expr) -> Expr:
    """``condition``, or its negation, as one that is 0 or 1; opposite conditions are the same."""
    match condition:
        case Unary("!", operand):
            return as_asked(operand)
        case Binary(symbol, left, right, type) if symbol in RELATIONS:
            return Binary(NEGATED[symbol] if symbol in (">", ">=", "!=") else symbol, uncast(left), uncast(right), type)
        case Binary(symbol) if symbol.rstrip(".") in RELATIONS or symbol in ("&&", "||"):
            return condition
    return Binary("==", condition, Const(0))


class Questions:
    """What the cells of a program are asked, all of which is in ``facts``."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def of(self, cells: Sequence[Scalar]) -> Asked:
        """What any of ``cells`` is asked; nothing where the answers of one of them are lost."""
        if not self.facts.asked or any(self.facts.lost.has(*each) for each in cells):
            return ()
        found = chain.from_iterable(self._of(*each) for each in cells)
        return tuple(dict.fromkeys(found))

    def _of(self, id: ObjectId, offset: int | None) -> Iterator[Expr]:
        asked = self.facts.asked.get(id, {})
        for place, conditions in asked.items():
            if offset is None or place is None or place == offset:
                yield from conditions

    def ask(self, value: Leaf, condition: Expr) -> None:
        """Ask the cells that ``value`` has been loaded from a ``condition`` on which a rank branches, unless they are
        asked too much already."""
        cells = value.cells
        parted = list(parts(condition))
        if self.facts.asks and len(parted) <= LARGEST_ASKED and registers_of(condition):
            known = self.of(cells)
            if condition in known or len(known) < self.facts.asks:
                self.pass_on(cells, (condition,))
                if value.site not in self.facts.sites:
                    self.facts.sites.add(value.site)
                    self.facts.changed()

    def can_ask(self, value: Leaf, condition: Expr) -> bool:
        """Whether there is a number for each answer to ``condition`` and to what the cells of ``value`` are asked."""
        known = self.of(value.cells)
        return condition in known or (len(known) < self.facts.asks and bool(numbers_for((*known, condition))))

    def pass_on(self, cells: Sequence[Scalar], conditions: Asked) -> None:
        """Ask ``cells`` all of ``conditions``, since what is there comes to cells that are asked them."""
        for id, offset in cells:
            asked = self.facts.asked.setdefault(id, {}).setdefault(offset, {})
            new = [each for each in conditions if each not in asked]
            if len(asked) + len(new) > MOST_PASSED_ON:
                self.lose([(id, offset)])
            elif new:
                asked.update(dict.fromkeys(new))
                self.facts.changed()

    def lose(self, cells: Sequence[Scalar]) -> None:
        """What is in ``cells`` is no longer what was stored for its answers: what is loaded there is like any other
        unknown value."""
        for each in cells:
            if self.of([each]) and self.facts.lost.add(*each):
                self.facts.changed()


def standing_for(asked: Asked, answers: Sequence[bool]) -> int | None:
    """A number with these ``answers`` to all that a cell is ``asked``; None where none is found."""
    tests = [evaluator(each) for each in asked]
    for number in _near(asked):
        with suppress(Fault, OverflowError, ValueError):
            if all(bool(test((number,))) == answer for test, answer in zip(tests, answers, strict=True)):
                return number
    return None


@lru_cache(maxsize=1 << 12)
def numbers_for(asked: Asked) -> list[int]:
    """A number for all answers that there may be to what a cell is ``asked``; none where one is not found."""
    found: list[int] = []
    open: list[tuple[bool, ...]] = [()]
    while open:
        stop_point()
        known = open.pop()
        answers, undecided = answered(asked, dict(zip(asked, known, strict=False)).get)
        if undecided is not None:
            open += [(*answers, True), (*answers, False)]
        elif (number := standing_for(asked, answers)) is not None:
            found.append(number)
        else:
            return []
    return found


def _near(asked: Asked) -> Iterator[int]:
    """Numbers of which at least one has any answers that there are, if each condition relates the cell to a
    number, or one of them its remainder or its whole part."""
    yield from (0, 1, -1, 2)
    for each in asked:
        yield from breaks(each, CELL) or ()
    everything = dict.fromkeys(chain.from_iterable(map(parts, asked)))
    around = 1
    for part in everything:
        match part:
            case Binary("%", _, Const(modulus)) if modulus <= MOST_AROUND:
                around = max(around, modulus)
    for part in everything:
        if isinstance(part, Const):
            yield part.value
            for distance in range(1, around + 1):
                yield from (part.value + distance, part.value - distance)
            value = float_value(part.value)
            yield from (float_bits(math.nextafter(value, to)) for to in (math.inf, -math.inf))
            yield from map(float_bits, (value + 1, value - 1))  # another whole part
    yield from map(float_bits, (1.0, -1.0, math.inf, -math.inf, math.nan))


def answered(asked: Asked, decided: Callable[[Expr], bool | None]) -> tuple[list[bool], Expr | None]:
    """The answers to the first of what a cell is ``asked``, as far as they are ``decided`` or follow from others; and
    the first condition without one."""
    answers: list[bool] = []
    for number, condition in enumerate(asked):
        answer = decided(condition)
        if answer is None and all(_is_plain(each) or breaks(each, CELL) is not None for each in asked[: number + 1]):
            ways = [each for each in (True, False) if standing_for(asked[: number + 1], (*answers, each)) is not None]
            answer = ways[0] if len(ways) == 1 else None
        if answer is None:
            return answers, condition
        answers.append(answer)
    return answers, None


def _is_plain(condition: Expr) -> bool:
    """Whether ``condition`` relates the cell to a number, so that `standing_for` finds a number for all answers."""
    match condition:
        case Binary(symbol, left, right) if symbol.rstrip(".") in RELATIONS:
            return (left == CELL and isinstance(right, Const)) or (right == CELL and isinstance(left, Const))
    return False
