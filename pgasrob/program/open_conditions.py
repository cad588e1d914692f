"""Conditions over registers of which it is chosen whether they hold: each choice of what is open is looked at by itself
(`proofs/polling.md`, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from pgasrob.program.certain import both, either, negated
from pgasrob.program.expressions import RELATIONS, Binary, Const, Expr, Register, Unary, constant

MOST_OPEN = 4
"""Conditions that are open up to which each choice is followed."""

Facts = Mapping[Expr, bool]
"""Which conditions hold, and which do not."""


def choices(conditions: Iterable[Expr], facts: Facts) -> Iterator[dict[Expr, bool]]:
    """``facts``, with each choice of those ``conditions`` that they leave open; none where these are too many."""
    open_ = [atom for atom in dict.fromkeys(conditions) if truth(atom, facts) is None]
    if len(open_) <= MOST_OPEN:
        for chosen in product((True, False), repeat=len(open_)):
            found = dict(facts)
            for atom, holds in zip(open_, chosen, strict=True):
                if truth(atom, found) is (not holds):
                    break  # both cannot be
                found[atom] = holds
            else:
                yield found


def bare(condition: Expr, wanted: bool = True) -> tuple[Expr, bool]:
    """``condition`` without its negations, and whether that has to hold."""
    match condition:
        case Unary("!", inner) | Binary("==", inner, Const(0)):
            return bare(inner, not wanted)
        case Binary("!=", inner, Const(0)):
            return bare(inner, wanted)
    return condition, wanted


def atoms(condition: Expr) -> Iterator[Expr]:
    """The conditions that ``condition`` is made of, without their negations."""
    inner, _ = bare(condition)
    if isinstance(inner, Binary) and inner.operator in ("&&", "||"):
        yield from atoms(inner.left)
        yield from atoms(inner.right)
    else:
        yield inner


def truth(condition: Expr, facts: Facts) -> bool | None:
    """Whether ``condition`` holds where ``facts`` are so; None where that is open."""
    inner, wanted = bare(condition)
    known = constant(inner)
    if known is not None:
        return bool(known) == wanted
    found = facts[inner] if inner in facts else _truth_of_comparison(inner, facts)
    if found is None and isinstance(inner, Binary) and inner.operator in ("&&", "||"):
        parts, decisive = [truth(each, facts) for each in (inner.left, inner.right)], inner.operator == "||"
        found = decisive if decisive in parts else None if None in parts else not decisive
    return None if found is None else found == wanted


def reduced(condition: Expr, facts: Facts) -> Expr:
    """What is left of ``condition`` where ``facts`` are so."""
    inner, wanted = bare(condition)
    known = truth(inner, facts)
    if known is not None:
        return Const(known == wanted)
    if isinstance(inner, Binary) and inner.operator in ("&&", "||"):
        join = both if inner.operator == "&&" else either
        inner = join(reduced(inner.left, facts), reduced(inner.right, facts))
    return inner if wanted else negated(inner)


def as_conditions(facts: Facts) -> list[Expr]:
    return [condition if holds else negated(condition) for condition, holds in facts.items()]


_Compared = tuple[Register, Callable[[int, int], bool], int]


def _compared(atom: Expr) -> _Compared | None:
    """The register that is compared with a constant, if that is all that ``atom`` does."""
    match atom:
        case Register():
            return atom, RELATIONS["!="], 0
        case Binary(relation, Register() as register, Const(value)) if relation in RELATIONS:
            return register, RELATIONS[relation], value
    return None


def _truth_of_comparison(atom: Expr, facts: Facts) -> bool | None:
    """Whether a register compares so to a constant, by what is known of its comparisons with others."""
    asked = _compared(atom)
    if asked is None:
        return None
    register, holds, value = asked
    known = [(found, fact) for each, fact in facts.items() if (found := _compared(each)) and found[0] == register]
    if not known:
        return None
    # Between two neighbours of these numbers all comparisons have one answer.
    numbers = {value, *(number for (_, _, number), _ in known)}
    near = {number + step for number in numbers for step in (-1, 0, 1)}
    left = [each for each in near if all(relates(each, number) == fact for (_, relates, number), fact in known)]
    answers = {holds(each, value) for each in left}
    return answers.pop() if len(answers) == 1 else None
