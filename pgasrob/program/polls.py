"""Polling loops: which reads can but come back to where the rank has been (the design, section 2: polls).

A read *fails* when, whatever it is followed by, the rank has done nothing but read when it is back at a control state
at which it has been, with the same values of all registers that matter there. Taking such an iteration out of a
computation leaves one that does the same to everything else; so failed reads are disabled, as an await is whose
condition does not hold, and a polling loop *is* an await. `proofs/polling.md` has the definition, the proof, and what
is not recognised.

It is worked out here, from the control automaton of a rank: what a load or fetch has to bring is an expression over
the registers after it (:class:`~pgasrob.program.core.Until`), and all that engines know of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import assert_never

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Place, Until
from pgasrob.program.expressions import (
    Binary,
    Const,
    Expr,
    Register,
    Unary,
    constant,
    faults_inside,
    folded,
    parts,
    registers_of,
    rewritten,
)
from pgasrob.program.graphs import components, dominators

MOST_WAYS = 256
"""Transitions looked at for one read: a loop body with very many ways is no poll."""

MOST_PARTS = 200
"""Parts of what a register holds in terms of the read: assigns double it with each, and nobody polls so."""

TRUE: Expr = Const(1)
FALSE: Expr = Const(0)

Values = Mapping[int, Expr | None]
"""What registers hold, over those after the read: itself when a register is not among them, None: nobody knows."""
Goal = Callable[[int, Values], Expr | None]
"""When a walk with these values has arrived at a control state: FALSE, another expression, or None: it has not."""


def with_polls(automaton: ControlAutomaton, rank: int, size: int, nodes: int) -> ControlAutomaton:
    """``automaton``, of ``rank`` with ``size`` cells on every of ``nodes`` nodes, with its failed reads disabled."""
    polls = _Polls(automaton, rank, size, nodes)
    out = [[polls.waiting(state, transition) for transition in leaving] for state, leaving in enumerate(automaton.out)]
    return ControlAutomaton(tuple(map(tuple, out)))


def live_registers(automaton: ControlAutomaton) -> list[frozenset[int]]:
    """For each control state the registers whose values may still be used: read by some command before they are set.

    An assign does not use what it computes a register from that nobody uses. Commands that cannot be issued count:
    whether an assume holds is found out by what it reads.
    """
    live = [frozenset[int]()] * len(automaton.out)
    changed = True
    while changed:
        changed = False
        for state in reversed(range(len(live))):  # states are numbered forwards, so most of it is done in one go
            found = frozenset[int]()
            for transition in automaton.out[state]:
                form, later = transition.form, live[transition.target]
                found |= later - {core.register_set(form)}
                if not isinstance(form, core.Assign) or form.register in later or faults_inside(form.value):
                    found |= core.registers_read(form)
            if found != live[state]:
                live[state], changed = found, True
    return live


def _is_read(form: core.Form) -> bool:
    """Whether a command brings what a cell holds, and does nothing else."""
    return isinstance(form, core.Immediate) and form.condition is None and form.update is None


def _is_quiet(form: core.Form, silently: bool = False) -> bool:
    """Whether a command writes nothing and needs nobody else (what it waits for happens by itself); with ``silently``,
    whether it is an assume or an assign."""
    match form:
        case core.Assign():
            return True
        case core.Test(_, blocks):
            return blocks
        case core.Wait() | core.Fence():
            return not silently
        case core.Immediate():
            return not silently and _is_read(form)
        case core.Transfer() | core.Bundle() | core.Barrier():
            return False
        case _:
            assert_never(form)


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A command that waits for a value of a cell: which one, how it must compare to what, where the rank is then,
    whether it polls, and into which register."""

    place: Place
    signs: frozenset[str]
    value: Expr
    target: int
    polls: bool = False
    register: int | None = None


class _Polls:
    def __init__(self, automaton: ControlAutomaton, rank: int, size: int, nodes: int) -> None:
        self.out = automaton.out
        self.rank, self.size, self.nodes = rank, size, nodes
        self.live = live_registers(automaton)
        self._left = 0  # ways that may still be looked at for a read
        self._failing: dict[tuple[int, int], Expr] = {}
        self.arriving: list[list[tuple[int, Transition]]] = [[] for _ in self.out]
        for state, leaving in enumerate(self.out):
            for transition in leaving:
                self.arriving[transition.target].append((state, transition))
        quiet = [[each.target for each in leaving if _is_quiet(each.form)] for leaving in self.out]
        self._loop = components(quiet)
        begins = {0} | {each.target for leaving in self.out for each in leaving if not _is_quiet(each.form)}
        self._last_before = dominators(quiet, sorted(begins))

    def waiting(self, state: int, transition: Transition) -> Transition:
        """``transition``, which leaves ``state``, enabled only when it is a read that does not fail."""
        form = transition.form
        if not isinstance(form, core.Immediate) or not _is_read(form):
            return transition
        fails, spins = self.fails(state, transition), True
        if fails == FALSE:
            fails, spins = self.looks(transition)
        if fails == FALSE:
            return transition
        return transition.with_form(replace(form, until=Until(_not(fails), spins)))

    # Back where it has been

    def fails(self, state: int, read: Transition) -> Expr:
        """When ``read`` is bound to come back: over the registers after it."""
        key = state, read.occurrence
        if key not in self._failing:
            self._failing[key] = self._fails(state, read)
        return self._failing[key]

    def _fails(self, state: int, read: Transition) -> Expr:
        found, register = FALSE, core.register_set(read.form)
        if self._loop[read.target] != self._loop[state]:
            return found
        self._left = MOST_WAYS
        for back, changed in self._been_at(state):
            if not (changed | {register}) & self.live[back]:
                found = _or(found, self._bound(read.target, self._back_at(back), back=back))
            if self._left < 0:
                break
        return found

    def _been_at(self, state: int) -> Iterator[tuple[int, frozenset[int]]]:
        """The control states of the loop around ``state`` by which each way to it comes, with quiet commands alone
        since, and the registers that may have been set since."""
        changed, back = frozenset[int](), state
        while True:
            yield back, changed
            before = self._last_before[back]
            if before is None or self._loop[before] != self._loop[state]:
                return
            changed |= self._set_between(before, back)
            back = before

    def _set_between(self, back: int, state: int) -> frozenset[int]:
        """The registers that may be set on the ways from ``back`` to ``state``, of which all come by ``back``."""
        changed: set[int] = set()
        seen, stack = {back, state}, [state]
        while stack:
            for before, transition in self.arriving[stack.pop()]:
                register = core.register_set(transition.form)
                changed |= set() if register is None else {register}
                if before not in seen:
                    seen.add(before)
                    stack.append(before)
        return frozenset(changed)

    def _back_at(self, back: int) -> Goal:
        """To be at ``back`` with the registers that are live there as after the read, and so as before."""

        def arrived(state: int, values: Values) -> Expr | None:
            return self._agree(back, values) if state == back else None

        return arrived

    def _agree(self, state: int, values: Values) -> Expr:
        """When the registers that are live at ``state`` have the values that they had after the read."""
        same = TRUE
        for register in sorted(self.live[state] & values.keys()):
            value = values[register]
            same = _and(same, FALSE if value is None else Binary("==", value, Register(f"r{register}", register)))
        return same

    def _reached(self, start: int, silently: bool = False) -> set[int]:
        """The control states to which quiet commands alone may lead from ``start``, or assumes and assigns alone."""
        seen, stack = {start}, [start]
        while stack:
            for transition in self.out[stack.pop()]:
                if transition.target not in seen and _is_quiet(transition.form, silently):
                    seen.add(transition.target)
                    stack.append(transition.target)
        return seen

    # What a rank is bound to

    def _bound(self, start: int, goal: Goal, silently: bool = False, back: int | None = None) -> Expr:
        """When each way from ``start`` on comes to ``goal`` by quiet commands, or ``silently``, by assumes and assigns
        alone; FALSE also when that is hard to say.

        Where all that the rank could do at ``back`` can be done, to do it is as good as to be there.
        """

        def bound(state: int, values: Values, been: frozenset[int]) -> Expr:
            arrived = goal(state, values)
            if arrived is not None:
                return arrived
            leaving = self.out[state]
            self._left -= len(leaving)
            if self._left < 0 or state in been or not leaving:
                return FALSE
            found = self._some_enabled(leaving, values)
            for transition in leaving:
                form = transition.form
                if back is not None and self._includes(leaving, back) and transition in self.out[back]:
                    found = _and(found, self._agree(back, values))
                    continue
                if not _is_quiet(form, silently):
                    return FALSE
                after = bound(transition.target, self._after(form, values), been | {state})
                found = _and(found, _and(self._has_operands(form, values), _or(self._blocked(form, values), after)))
                if found == FALSE:
                    break
            return found

        return bound(start, {}, frozenset())

    def _includes(self, leaving: Sequence[Transition], state: int) -> bool:
        return all(transition in leaving for transition in self.out[state])

    def _some_enabled(self, leaving: Sequence[Transition], values: Values) -> Expr:
        """When one of the commands can be issued."""
        found, conditions = FALSE, []
        for transition in leaving:
            form = transition.form
            if not isinstance(form, core.Test):
                return TRUE
            conditions.append(form.condition)
            holds = _over(form.condition, values)
            found = _or(found, FALSE if holds is None else holds)
        if any(Unary("!", one) in conditions for one in conditions):
            return TRUE
        return found

    def _blocked(self, form: core.Form, values: Values) -> Expr:
        """When a command cannot be issued; FALSE when that depends on what nobody knows."""
        if not isinstance(form, core.Test):
            return FALSE
        holds = _over(form.condition, values)
        return FALSE if holds is None else _not(holds)

    def _after(self, form: core.Form, values: Values) -> Values:
        """The registers after a quiet command."""
        match form:
            case core.Assign(register, value):
                found = _over(value, values)
                large = found is not None and any(True for _ in islice(parts(found), MOST_PARTS, None))
                return {**values, register: None if large else found}
            case core.Immediate(register=int(register)):
                return {**values, register: None}
        return values

    def _has_operands(self, form: core.Form, values: Values) -> Expr:
        """When a quiet command does not fault, its conditions not counted: they fault as they do when it is issued."""
        found = TRUE
        for role, expr in core.expressions(form):
            value = _over(expr, values)
            if isinstance(form, core.Test):
                if value is None and faults_inside(expr):
                    return FALSE
                continue
            if faults_inside(expr):
                return FALSE
            if role is core.Role.VALUE:
                continue
            if value is None:
                return FALSE
            match role:
                case core.Role.ADDRESS:
                    found = _and(found, _within(value, self.size))
                case core.Role.RANK:
                    found = _and(found, _within(value, self.nodes))
                case core.Role.QUEUE:
                    found = _and(found, folded(Binary(">=", value, Const(0))))
                case _:
                    assert_never(role)
        return found

    # Looking before waiting

    def looks(self, read: Transition) -> tuple[Expr, bool]:
        """When ``read`` is bound to lead to a command that waits for a value of the same cell with which it would have
        led to where the wait does; and whether that command polls."""
        form = read.form
        assert isinstance(form, core.Immediate) and form.register is not None
        found = {False: FALSE, True: FALSE}  # by whether it polls
        self._left = MOST_WAYS
        for state in sorted(self._reached(read.target, silently=True)):
            for awaited in self._awaits(state):
                if self._cell(awaited.place) != self._cell(form.access.cell) or form.register in _registers_of(awaited):
                    continue
                after = self._after_wait(form.register, read.target, awaited)
                if after is None:
                    continue

                kept = self.live[after] | _registers_of(awaited)
                bound = self._bound(read.target, _unchanged_at(state, kept), silently=True)
                others = EVERY_SIGN - awaited.signs
                # A look that gives what the wait is for must not fail itself: one that shares its register with a poll
                # does not, for then the poll would.
                succeeds = not others or _truth(bound, form.register, awaited.signs, awaited.value) is False
                # An await may be for ever. Then the look has to be, too: no other value may lead past the await.
                stuck = awaited.polls or _truth(bound, form.register, others, awaited.value) is True
                if succeeds and stuck:
                    found[awaited.polls] = _or(found[awaited.polls], bound)
        # One that may lead to either fails when it leads to the wait at which the rank is stuck.
        polls = found[False] == FALSE
        return found[polls], polls

    def _cell(self, place: Place) -> tuple[Expr, Expr]:
        """The address and the rank of a place."""
        return place.address, Const(self.rank) if place.rank is None else place.rank

    def _awaits(self, state: int) -> Iterator[_Awaited]:
        """What a rank at ``state`` waits for, when that is all that it can do there: an await, or a read that polls."""
        leaving = self.out[state]
        form = leaving[0].form if len(leaving) == 1 else None
        if not isinstance(form, core.Immediate) or form.update is not None:
            return
        if form.condition is not None:
            relation, value = form.condition
            yield _Awaited(form.access.cell, SIGNS[relation], value, leaving[0].target)
        elif form.register is not None:
            fails = self.fails(state, leaving[0])
            if fails != FALSE:  # a look into the same register leads to the same with any value
                yield _Awaited(form.access.cell, EVERY_SIGN, FALSE, leaving[0].target, True, form.register)
            compared = _compared(_not(fails), form.register)
            if compared is not None:
                # The loop's own test comes next, and holds.
                for after in sorted(self._reached(leaving[0].target, silently=True)):
                    if form.register not in self.live[after] and self._leads(
                        leaving[0].target, after, form.register, *compared
                    ):
                        yield _Awaited(form.access.cell, *compared, after, True, form.register)

    def _after_wait(self, register: int, start: int, awaited: _Awaited) -> int | None:
        """Where both the wait and a read into ``register`` of what it waits for lead, the read behind ``start``.

        Behind a poll into the same register that has what was waited for, behind other waits what the look gave.
        """
        same = awaited.register == register
        for after in sorted(self._reached(awaited.target, silently=True) & self._reached(start, silently=True)):
            if (
                (same or register not in self.live[after])
                and self._leads(start, after, register, awaited.signs, awaited.value)
                and (
                    self._leads(awaited.target, after, register, awaited.signs, awaited.value)
                    if same
                    else self._bound(awaited.target, _unchanged_at(after, self.live[after]), silently=True) == TRUE
                )
            ):
                return after
        return None

    def _leads(self, start: int, after: int, register: int, signs: frozenset[str], value: Expr) -> bool:
        """Whether ``start`` leads silently to ``after`` when ``register`` compares so to ``value``, and nothing else
        changes that is live there."""

        kept = self.live[after] | registers_of(value)
        return _truth(self._bound(start, _unchanged_at(after, kept), silently=True), register, signs, value) is True


def _unchanged_at(state: int, kept: frozenset[int]) -> Goal:
    """To be at ``state`` with the registers ``kept`` as they were."""

    def arrived(at: int, values: Values) -> Expr | None:
        if at != state:
            return None
        return FALSE if kept & values.keys() else TRUE

    return arrived


def _registers_of(awaited: _Awaited) -> frozenset[int]:
    exprs = [awaited.value, awaited.place.address, *([] if awaited.place.rank is None else [awaited.place.rank])]
    return frozenset[int]().union(*map(registers_of, exprs))


# Expressions


def _over(expr: Expr, values: Values) -> Expr | None:
    """``expr`` over the registers after the read; None when it depends on what nobody knows."""
    known = {register: value for register, value in values.items() if value is not None}
    if registers_of(expr) & (values.keys() - known.keys()):
        return None
    return rewritten(expr, lambda part: known.get(part.index) if isinstance(part, Register) else None)


def _within(value: Expr, bound: int) -> Expr:
    known = constant(value)
    if known is not None:
        return TRUE if 0 <= known < bound else FALSE
    return _and(folded(Binary(">=", value, Const(0))), folded(Binary("<", value, Const(bound))))


def _not(expr: Expr) -> Expr:
    return folded(Unary("!", expr))


def _and(left: Expr, right: Expr) -> Expr:
    if constant(left) is not None:
        return right if constant(left) else FALSE
    return FALSE if constant(right) == 0 else left if constant(right) else Binary("&&", left, right)


def _or(left: Expr, right: Expr) -> Expr:
    if constant(left) is not None:
        return TRUE if constant(left) else right
    return TRUE if constant(right) else left if constant(right) == 0 else Binary("||", left, right)


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
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _compared(expr: Expr, register: int) -> tuple[frozenset[str], Expr] | None:
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
            return None if register in registers_of(value) else (SIGNS[_MIRRORED.get(symbol, symbol)], value)
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


def _truth(expr: Expr, register: int, signs: frozenset[str], value: Expr) -> bool | None:
    """Whether ``expr`` holds when ``register`` compares to ``value`` in one of the ways ``signs``; None: who knows."""
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
