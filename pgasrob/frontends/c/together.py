"""What ranks branch by together: conditions on values that collectives have brought to all members of a group.

Where cells cannot be asked (`asked.py`), for no number in one cell has the answers, the answer itself is brought: a
condition on values that collectives of one group have brought, the latest of them last, is a *question* to that one.
From the next pass on, who gives the values there draws the answer, and the members get it beside the values. What a
rank has of each value it finds by the number of the collective in the group (`proofs/c-front-end.md`, section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.frontends.c.nondeterminism import Leaf, leaves, only_leaves, replaced
from pgasrob.program.expressions import (
    NEGATED,
    RELATIONS,
    Binary,
    Const,
    Expr,
    Register,
    Unary,
    operands_of,
    parts,
    rewritten,
)

COUNTED, REPEATED = 12, 2
"""So many collectives of a group have a number of their own, or fewer, where one is made so often at one place; the
later ones are numbered by how many have come after them."""
LATEST = -1
"""The number of the latest collective that has none of its own; -2 is the one before."""
MOST_AGO = -3
LARGEST = 64
"""Parts of a question, with what its values have been computed of."""


class Brought(NamedTuple):
    """One of the values that a collective of a group has brought to its members: its place among them, and the number
    of the collective."""

    group: str
    number: int
    place: int


@dataclass(frozen=True, slots=True)
class Bringing:
    """What a collective of a ``group`` brings: its ``values`` on a rank that gives them, else they are what the call
    stores; and the ``answers`` to what it is asked."""

    group: str
    answers: tuple[tuple[Expr, Expr], ...]
    values: tuple[Expr, ...] = ()


Instances = Mapping[Brought, Expr]
"""What a rank has of the values that it knows."""


def normal(condition: Expr) -> tuple[Expr, bool]:
    """``condition`` as one that is 0 or 1, the same for opposite conditions, and whether it is not the opposite."""
    match condition:
        case Unary("!", operand):
            inner, holds = normal(operand)
            return inner, not holds
        case Binary("==" | "!=" as symbol, Binary() as operand, Const(0)) if is_truth(operand):
            inner, holds = normal(operand)
            return inner, holds == (symbol == "!=")
        case Binary(">" | ">=" | "!=" as symbol, left, right, type):
            return Binary(NEGATED[symbol], left, right, type), False
        case Binary() if is_truth(condition):
            return condition, True
    return Binary("==", condition, Const(0)), False


def is_truth(expr: Binary) -> bool:
    """Whether ``expr`` is 0 or 1."""
    return expr.operator.rstrip(".") in RELATIONS or expr.operator in ("&&", "||")


def weight(expr: Expr) -> int:
    """The parts of ``expr``, with what its unknown values have been computed of."""
    own = 1 + (weight(expr.made) if isinstance(expr, Leaf) and expr.made is not None else 0)
    return own + sum(map(weight, operands_of(expr)))


def expanded(expr: Expr) -> Expr:
    """``expr`` with what its unknown values have been computed of by functions."""
    return rewritten(expr, lambda part: expanded(part.made) if isinstance(part, Leaf) and part.made else None)


def question(condition: Expr, known: Instances) -> tuple[Brought, Expr] | None:
    """``condition`` said of values that have been brought, and the latest of these; None where it looks at others."""
    asked, named = condition, dict[Expr, Brought]()
    for brought, expr in known.items():
        place = Register(f"{brought.number} {brought.place}", len(named))
        found = replaced(asked, expr, place)
        if found != asked:
            asked, named[place] = found, brought
    if not named or leaves(asked) or len({each.group for each in named.values()}) > 1:
        return None
    if any(isinstance(each, Register) and each not in named for each in parts(asked)):
        return None
    latest = max(named.values(), key=lambda each: (each.number < 0, each.number))
    since = min(latest.number - LATEST, 0)
    then: dict[Expr, Brought] = {
        place: each._replace(number=each.number - since) if each.number < 0 else each for place, each in named.items()
    }
    return then[next(place for place, each in named.items() if each == latest)], rewritten(
        asked, lambda part: _symbol(then[part]) if part in then else None
    )


def _symbol(brought: Brought) -> Register:
    return Register(f"{brought.group} {brought.number} {brought.place}", 0)


def answered_by(asked: Expr, known: Instances) -> Expr | None:
    """The condition that a question ``asked`` is, of what a rank has; None where it does not have all."""
    symbols: dict[Expr, Expr] = {_symbol(brought): expr for brought, expr in known.items()}
    condition = rewritten(asked, symbols.get)
    missing = (part for part in parts(condition) if isinstance(part, Register) and not isinstance(part, Leaf))
    return None if any(missing) else condition


def later(known: Instances, group: str, number: int, exprs: Sequence[Expr | None]) -> dict[Brought, Expr]:
    """``known`` after a collective of ``group`` has brought ``exprs``, as its ``number`` says."""
    new: dict[Brought, Expr] = {}
    for each, expr in known.items():
        if each.group == group and each.number < 0 and number < 0:
            each = each._replace(number=each.number - 1)
        if each.number >= MOST_AGO:
            new[each] = expr
    for place, value in enumerate(exprs):
        if value is not None and leaves(value) and only_leaves(value):
            new[Brought(group, number, place)] = value
    return new
