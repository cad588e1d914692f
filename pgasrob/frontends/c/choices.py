"""Terms of unknown values for which values have been chosen, while what they are computed of is still known.

Where `t[k & 3]` stands, a register gets one of the values of `k & 3`. As long as `k` may be looked at again, the state
keeps the term with its register: the same term is this register wherever it is computed, and so are its bits and
remainders. What else is said of `k` has to go together with what has been chosen: which values of the registers it
goes with is a condition of the way that says it (`proofs/c-front-end.md`, section 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

from pgasrob.frontends.c.nondeterminism import (
    ANY,
    Assumed,
    Bounds,
    Leaf,
    is_applied,
    leaves,
    literal,
    narrowed,
    only_leaves,
    replaced,
    values_of,
)
from pgasrob.frontends.c.together import is_truth, normal
from pgasrob.frontends.c.witnesses import Claims, has_values, related
from pgasrob.program.certain import both, either
from pgasrob.program.expressions import (
    Binary,
    Const,
    Evaluator,
    Expr,
    Fault,
    Register,
    Unary,
    evaluator,
    folded,
    names_me_or_nodes,
    parts,
    rewritten,
)

ALWAYS = Const(1)
MOST_TOGETHER = 64
"""So many values of terms are looked at together; of more it is not known which go together."""
MOST_VALUES = 1024
"""So many values of what all claims are about are tried."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The ``register`` that holds the value of a term, and the ``values`` from which that has been chosen."""

    register: Register
    values: tuple[int, ...]


Choices = Mapping[Expr, Choice]
Known = Mapping[Expr, Register | Const]


@dataclass(frozen=True, slots=True)
class Way:
    """One part of a way that says something of unknown values: with the chosen values for which ``condition`` holds.
    ``vain``: no values are known for which all is true."""

    condition: Expr
    vain: bool


def with_known(expr: Expr, known: Known) -> Expr:
    """``expr`` with what is ``known`` of terms, registers or numbers, for these and what follows from them."""
    return rewritten(expr, lambda part: _following(part, known)) if known and leaves(expr) else expr


def _following(part: Expr, known: Known) -> Expr | None:
    found = known.get(part)
    if found is not None:
        return found
    match part:
        case Binary("&" | "%", inner, right, type):
            of, by = _remainder(part)
            for term, found in known.items():
                match term:
                    case Binary("&", left, Const(mask)) if part.operator == "&" and left == inner:
                        if isinstance(right, Const) and mask & right.value == right.value and term.type == type:
                            return folded(Binary("&", found, right, type))
                    case Binary("&" | "%") if by and term.type == type:
                        same, multiple = _remainder(term)
                        if same == of and multiple and multiple % by == 0:
                            return folded(Binary("%", found, Const(by), type))
        case Binary() if is_truth(part):
            asked, holds = normal(part)
            for term, found in known.items():
                if isinstance(term, Binary) and is_truth(term) and normal(term) == (asked, not holds):
                    return folded(Unary("!", found))
    return None


def _remainder(expr: Expr) -> tuple[Expr, int]:
    """Of what ``expr`` is the remainder when that is divided by a number, and by which; 0 where it is none. What is
    masked is one if it is not negative, and a remainder of one may be one of the same."""
    match expr:
        case Binary("&" | "%" as symbol, inner, Const(value)):
            by = value if symbol == "%" else value + 1 if value & (value + 1) == 0 and _is_natural(inner) else 0
            if by > 0:
                of, multiple = _remainder(inner)
                return (of, by) if multiple and multiple % by == 0 else (inner, by)
    return expr, 0


def _is_natural(expr: Expr) -> bool:
    found = values_of(expr, {})
    return found is not None and found.low >= 0


def near(choices: Choices, assumed: Assumed, to: Expr) -> dict[Expr, Choice]:
    """Those of ``choices`` that say something of what the term ``to`` is about, or of what is tied to it."""
    known = related({**assumed, **dict.fromkeys(choices, Bounds(0, 0))}, to)
    return {term: choice for term, choice in choices.items() if term in known}


def ways(choices: Choices, assumed: Assumed, term: Expr, bounds: Bounds) -> list[Way]:
    """How a rank that has made ``choices`` and assumes what is ``assumed`` comes to ``term`` within ``bounds``; on no
    way where no values can be so."""
    made = near(choices, assumed, term)
    about = {leaf for each in (term, *made) for leaf in leaves(each)}
    if any(about.intersection(leaves(each)) for each in choices if each not in made):
        return [Way(ALWAYS, True)]  # it is not known how that is computed
    if prod(len(each.values) for each in made.values()) > MOST_TOGETHER:
        return [Way(ALWAYS, True)]
    known: dict[bool, list[Sequence[tuple[Register, int]]]] = {True: [], False: []}
    left_out = False
    for values in product(*(each.values for each in made.values())):
        chosen = {each: Bounds(value, value) for each, value in zip(made, values, strict=True)}
        claims = {**related({**assumed, **chosen}, term), term: chosen.get(term, bounds)}
        if claims[term].low not in bounds or _is_impossible(claims, assumed):
            left_out = True
            continue
        registers = [each.register for each in made.values()]
        known[has_values(claims)].append(list(zip(registers, values, strict=True)))
    if len(list(filter(None, known.values()))) == 1 and not left_out:
        return [Way(ALWAYS, not known[True])]
    return [Way(_one_of(each), not found) for found, each in known.items() if each]


def _one_of(values: Sequence[Sequence[tuple[Register, int]]]) -> Expr:
    """The condition that registers have one of these ``values`` together."""
    conditions: list[list[Expr]] = [
        [Binary("==", register, Const(value)) for register, value in together] for together in values
    ]
    return reduce(either, (reduce(both, each) for each in conditions))


def _is_impossible(claims: Claims, assumed: Assumed) -> bool:
    """Whether it is certain that not all ``claims`` are true: by what follows from one of them, by intervals, or since
    all are about one term with few values."""
    known = {term: Const(bounds.low) for term, bounds in claims.items() if bounds.low == bounds.high}
    for term, bounds in claims.items():
        follows = with_known(term, {other: number for other, number in known.items() if other != term})
        if isinstance(follows, Const) and follows.value not in bounds:
            return True
    narrow = {each: bounds for each, bounds in assumed.items() if each not in claims}
    for term, bounds in claims.items():
        if isinstance(term, Binary) and is_truth(term) and bounds.low == bounds.high:
            inner, relation, value = literal(term, bool(bounds.low))
            left = narrowed(values_of(inner, narrow) or Bounds(*ANY), relation, value)
            if left is None:
                return True
            narrow[inner] = left
    for term, bounds in claims.items():
        found = values_of(term, narrow)
        if found is not None and (found.high < bounds.low or bounds.high < found.low):
            return True
    if not all(map(only_leaves, claims)):
        return False
    first = next(iter(claims))
    for part in sorted(_about(first), key=lambda each: len(list(parts(each)))):
        alone = {replaced(term, part, Register("", 0)): bounds for term, bounds in claims.items()}
        if any(leaves(each) or names_me_or_nodes(each) or any(map(is_applied, parts(each))) for each in alone):
            continue
        within = values_of(part, {each: bounds for each, bounds in narrow.items() if isinstance(each, Leaf)})
        if within is None or within.count > MOST_VALUES:
            continue
        tests = [(evaluator(term), bounds) for term, bounds in alone.items()]
        return not any(all(_holds(test, value, bounds) for test, bounds in tests) for value in within.values)
    return False


def _about(term: Expr) -> Iterator[Expr]:
    """The parts of ``term`` in which all its unknown values are."""
    found = set(leaves(term))
    return (part for part in parts(term) if only_leaves(part) and set(leaves(part)) == found)


def _holds(test: Evaluator, value: int, bounds: Bounds) -> bool:
    with suppress(Fault):
        return test((value,)) in bounds
    return True
