"""Finds looks: reads after which the rank is bound to wait for the value that the read might have brought
(`proofs/polling.md`, section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pgasrob.program import core
from pgasrob.program.certain import FALSE, both, either, negated
from pgasrob.program.control import Transition
from pgasrob.program.core import Place
from pgasrob.program.expressions import MIRRORED, Binary, Expr, Register, Unary, constant, faults_inside, registers_of
from pgasrob.program.open_conditions import Facts, as_conditions, atoms, choices, reduced
from pgasrob.program.walks import MOST_WAYS, Walks, unchanged_at

if TYPE_CHECKING:
    from pgasrob.program.shown_places import Shown


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A command that waits for the value of a cell: the cell, the comparison, the control state after it, whether it
    polls, and the register that it sets."""

    place: Place
    signs: frozenset[str]
    value: Expr
    target: int
    polls: bool = False
    register: int | None = None


class Looks:
    """The looks of a rank; ``fails`` says when a read at a control state is one of a poll that goes on."""

    def __init__(self, walks: Walks, fails: Callable[[int, Transition], Expr], shown: Shown | None) -> None:
        self._walks, self._fails, self._shown = walks, fails, shown

    def fails(self, read: Transition) -> tuple[Expr, bool]:
        """When ``read`` is bound to lead to a command that waits for a value of the same cell with which it would have
        led to where the wait does; and whether that command polls."""
        form = read.form
        assert isinstance(form, core.Immediate) and form.register is not None
        found = {False: FALSE, True: FALSE}  # by whether it polls
        self._walks.left = MOST_WAYS
        for state in sorted(self._walks.reached(read.target, silently=True)):
            for awaited in self._awaits(state):
                if self._cell(awaited.place) != self._cell(form.access.cell) or form.register in _registers_of(awaited):
                    continue
                if self._shows(read, state):
                    continue
                for facts in self._choices(read.target, state, form.register, awaited):
                    found[awaited.polls] = either(found[awaited.polls], self._only_looks(read, state, awaited, facts))
        # One that may lead to either fails when it leads to the wait at which the rank is stuck.
        polls = found[False] == FALSE
        return found[polls], polls

    def _shows(self, read: Transition, state: int) -> bool:
        """Whether the source may show something between ``read`` and the wait at ``state``, or what has been read."""
        if self._shown is None:
            return False
        passed = {
            each
            for each in self._walks.reached(read.target, silently=True)
            if state in self._walks.reached(each, silently=True)
        }
        spans = {read.span, *(edge.span for each in passed for edge in self._walks.out[each])}
        return self._shown.between(spans, self._walks.never_passed)

    def _choices(self, start: int, state: int, register: int, awaited: _Awaited) -> Iterator[Facts]:
        """What other registers than ``register`` may decide on the way from ``start`` to ``state``: nothing, or each
        choice of it."""
        yield {}
        bound = self._walks.bound(start, unchanged_at(state, _registers_of(awaited)), silently=True)
        others = [atom for atom in atoms(bound) if registers_of(atom) and register not in registers_of(atom)]
        if others:
            yield from choices(others, {})

    def _only_looks(self, read: Transition, state: int, awaited: _Awaited, facts: Facts) -> Expr:
        """When ``read`` leads to the wait at ``state``, and might have been that; FALSE where it may be more."""
        register = core.register_set(read.form)
        assert register is not None
        after = self._after_wait(register, read.target, awaited, facts)
        if after is None:
            return FALSE
        kept = self._walks.live[after] | _registers_of(awaited)
        bound = reduced(self._walks.bound(read.target, unchanged_at(state, kept), silently=True), facts)
        others = EVERY_SIGN - awaited.signs
        # A look that gives what the wait is for must not fail itself: one that shares its register with a poll does
        # not, for then the poll would.
        succeeds = not others or _truth(bound, register, awaited.signs, awaited.value) is False
        # An await may be for ever. Then the look has to be, too: no other value may lead past the await.
        stuck = awaited.polls or _truth(bound, register, others, awaited.value) is True
        return reduce(both, as_conditions(facts), bound) if succeeds and stuck else FALSE

    def _cell(self, place: Place) -> tuple[Expr, Expr]:
        """The address and the rank of a place."""
        return place.address, self._walks.rank if place.rank is None else place.rank

    def _awaits(self, state: int) -> Iterator[_Awaited]:
        """What a rank at ``state`` waits for, when that is all that it can do there: an await, or a read that polls."""
        leaving = self._walks.out[state]
        form = leaving[0].form if len(leaving) == 1 else None
        if not isinstance(form, core.Immediate) or form.update is not None:
            return
        if form.condition is not None:
            relation, value = form.condition
            if faults_inside(value):
                return  # the rank would fault at the wait, and not after the look
            yield _Awaited(form.access.cell, SIGNS[relation], value, leaving[0].target)
        elif form.register is not None:
            fails = self._fails(state, leaving[0])
            if fails != FALSE:  # a look into the same register leads to the same with any value
                yield _Awaited(form.access.cell, EVERY_SIGN, FALSE, leaving[0].target, True, form.register)
            compared = _compared(negated(fails), form.register)
            if compared is not None and compared[0]:
                yield _Awaited(form.access.cell, *compared, leaving[0].target, True, form.register)

    def _after_wait(self, register: int, start: int, awaited: _Awaited, facts: Facts) -> int | None:
        """A control state to which both the wait leads and a read of an awaited value into ``register``, to ``start``,
        after which ``facts`` are so.

        A poll into the same register has there what the look would have brought; any other register is not needed.
        """
        differ = {register, awaited.register} if register != awaited.register else set[int | None]()
        walks, compared = self._walks, (awaited.signs, awaited.value)
        for after in sorted(walks.reached(awaited.target, silently=True) & walks.reached(start, silently=True)):
            if (
                not differ & walks.live[after]
                and self._leads(start, after, register, *compared, facts)
                and self._leads(awaited.target, after, awaited.register, *compared, {})
            ):
                return after
        return None

    def _leads(
        self, start: int, after: int, register: int | None, signs: frozenset[str], value: Expr, facts: Facts
    ) -> bool:
        """Whether ``start`` leads silently to ``after`` when ``register`` compares so to ``value``, and nothing else
        changes that is live there; in any case when there is no register."""
        kept = self._walks.live[after] | registers_of(value)
        bound = self._walks.bound(start, unchanged_at(after, kept), silently=True)
        return _truth(reduced(bound, facts), register, signs, value) is True


def _registers_of(awaited: _Awaited) -> frozenset[int]:
    exprs = [awaited.value, awaited.place.address, *([] if awaited.place.rank is None else [awaited.place.rank])]
    return frozenset[int]().union(*map(registers_of, exprs))


SIGNS = {
    "==": frozenset("="),
    "!=": frozenset("<>"),
    "<": frozenset("<"),
    "<=": frozenset("<="),
    ">": frozenset(">"),
    ">=": frozenset(">="),
}
"""How two numbers that satisfy a relation compare."""
EVERY_SIGN = frozenset("<=>")


def _compared(expr: Expr, register: int | None) -> tuple[frozenset[str], Expr] | None:
    """How ``register`` compares to which value when ``expr`` holds, if it says just that."""
    match expr:
        case Register(_, index) if index == register:
            return SIGNS["!="], FALSE
        case Unary("!", inner):
            found = _compared(inner, register)
            return None if found is None else (EVERY_SIGN - found[0], found[1])
        case Binary(symbol, Register(_, index), value) if symbol in SIGNS and index == register:
            return None if register in registers_of(value) else (SIGNS[symbol], value)
        case Binary(symbol, value, Register(_, index)) if symbol in SIGNS and index == register:
            return None if register in registers_of(value) else (SIGNS[MIRRORED[symbol]], value)
        case Binary("&&" | "||" as symbol, left, right):
            first, second = _compared(left, register), _compared(right, register)
            if first is not None and second is not None and first[1] == second[1]:
                return (first[0] & second[0] if symbol == "&&" else first[0] | second[0]), first[1]
    return None


def _possible_signs(signs: frozenset[str], value: Expr, other: Expr) -> frozenset[str]:
    """How a number may compare to ``other`` that compares to ``value`` in one of the ways ``signs``."""
    first, second = constant(value), constant(other)
    if value == other:
        return signs
    if first is None or second is None:
        return EVERY_SIGN
    found = set[str]()
    for sign in signs:
        low, high = {"<": (-math.inf, first - 1), "=": (first, first), ">": (first + 1, math.inf)}[sign]
        found |= {"<"} if low < second else set()
        found |= {"="} if low <= second <= high else set()
        found |= {">"} if high > second else set()
    return frozenset(found)


def _truth(expr: Expr, register: int | None, signs: frozenset[str], value: Expr) -> bool | None:
    """Whether ``expr`` holds when ``register`` compares to ``value`` in one of the ways ``signs``; None: unknown."""
    known = constant(expr)
    if known is not None:
        return bool(known)
    compared = _compared(expr, register)
    if compared is not None:
        possible = _possible_signs(signs, value, compared[1])
        return True if possible <= compared[0] else False if not possible & compared[0] else None
    match expr:
        case Unary("!", inner):
            found = _truth(inner, register, signs, value)
            return None if found is None else not found
        case Binary("&&" | "||" as symbol, left, right):
            parts = [_truth(each, register, signs, value) for each in (left, right)]
            decisive = symbol == "||"
            return decisive if decisive in parts else None if None in parts else not decisive
    return None
