"""Walks through a control automaton that find what a rank must do after a read, whatever other ranks do. Registers
hold expressions over their values right after the read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from pgasrob.program import core
from pgasrob.program.certain import FALSE, TRUE, UNKNOWN, both, either, holds, is_large, negated
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import (
    Binary,
    Const,
    Expr,
    Register,
    Unary,
    constant,
    faults_inside,
    folded,
    operands_of,
    rewritten,
)
from pgasrob.program.graphs import reached
from pgasrob.program.live_registers import live_registers
from pgasrob.program.statements import Span

MOST_WAYS = 256
"""Transitions looked at for one read: a loop body with very many ways is no poll."""

MOST_NESTED = 200
"""Greatest nesting of an expression, as in a text, for functions that recurse once a level."""

Values = Mapping[int, Expr]
"""What registers hold, over those after the read: itself when a register is not among them. What a later read gives is
:data:`~pgasrob.program.certain.UNKNOWN`."""
Goal = Callable[[int, Values], Expr | None]
"""When a walk with these values has arrived at a control state: FALSE, another expression, or None: it has not."""


def is_read(form: core.Form) -> bool:
    """Whether a command brings what a cell holds, and does nothing else."""
    return isinstance(form, core.Immediate) and form.register is not None and form.update is None


def is_quiet(form: core.Form, silently: bool = False) -> bool:
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
            return not silently and is_read(form)
        case core.Transfer() | core.Bundle() | core.Barrier():
            return False
        case _:
            assert_never(form)


class Walks:
    """The walks through ``automaton``, of ``rank`` with ``size`` cells on every of ``nodes`` nodes. Rank and nodes
    may be symbols.

    ``left``: commands that may still be looked at.
    """

    def __init__(self, automaton: ControlAutomaton, rank: Expr, size: int, nodes: Expr) -> None:
        self.out = automaton.out
        self.rank = rank
        self.left = 0
        self.size, self.nodes = size, nodes

    @cached_property
    def live(self) -> Sequence[frozenset[int]]:
        """For each control state the registers that are live there."""
        return live_registers(self.out)

    @cached_property
    def never_passed(self) -> frozenset[Span]:
        """The places in the source of commands that no walk passes."""
        edges = (edge for leaving in self.out for edge in leaving)
        return frozenset(edge.span for edge in edges if isinstance(edge.form, core.Barrier | core.Transfer))

    def reached(self, start: int, silently: bool = False) -> set[int]:
        """The control states to which quiet commands alone may lead from ``start``, or assumes and assigns alone."""

        def after(state: int) -> Iterator[int]:
            return (edge.target for edge in self.out[state] if is_quiet(edge.form, silently))

        return reached([start], after)

    def after_failed(self, state: int, read: Transition) -> set[int]:
        """The control states to which ``read`` from ``state`` may lead when it fails: those in the loop of a poll, and
        all on the way from a look to its wait; where it gathers flags, all that come before anything else is done."""
        target, form = read.target, read.form
        if isinstance(form, core.Immediate) and form.until is not None and form.until.gathers:
            return reached([target], self._gathers_after)
        if state not in self.reached(target):
            ahead = self.reached(target, silently=True)
            return {each for each in ahead if any(map(self._waits, self.reached(each, silently=True)))}
        return {each for each in self.reached(target) if state in self.reached(each)}

    def _gathers_after(self, state: int) -> Iterator[int]:
        """The control states to which a quiet command or an await leads."""
        for edge in self.out[state]:
            if (isinstance(edge.form, core.Immediate) and edge.form.update is None) or is_quiet(edge.form):
                yield edge.target

    def _waits(self, state: int) -> bool:
        """Whether a rank may wait at ``state`` for the value of a cell."""
        return any(isinstance(edge.form, core.Immediate) and edge.form.may_block for edge in self.out[state])

    def bound(self, start: int, goal: Goal, silently: bool = False, back: int | None = None) -> Expr:
        """The condition under which every way from ``start`` reaches ``goal`` by quiet commands, or ``silently``, by
        assumes and assigns alone; FALSE also when that is hard to say.

        A control state that has all transitions of ``back`` counts as ``back`` where the rank takes one of these.
        """

        def bound_from(state: int, values: Values, been: frozenset[int]) -> Expr:
            arrived = goal(state, values)
            if arrived is not None:
                return arrived
            leaving = self.out[state]
            self.left -= len(leaving)
            if self.left < 0 or state in been or not leaving:
                return FALSE
            found = self._some_enabled(leaving, values)
            for transition in leaving:
                form = transition.form
                includes = back is not None and all(each in leaving for each in self.out[back])
                if back is not None and includes and transition in self.out[back]:
                    found = both(found, self.agree(back, values))
                    continue
                if not is_quiet(form, silently):
                    return FALSE
                after = bound_from(transition.target, self._after(form, values), been | {state})
                found = both(found, both(self._has_operands(form, values), either(self._blocked(form, values), after)))
                if found == FALSE:
                    break
            return found

        return bound_from(start, {}, frozenset())

    def agree(self, state: int, values: Values) -> Expr:
        """When the registers that are live at ``state`` have the values that they had after the read."""
        same = TRUE
        for register in sorted(self.live[state] & values.keys()):
            same = both(same, holds(Binary("==", values[register], held(register))))
        return same

    def _some_enabled(self, leaving: Sequence[Transition], values: Values) -> Expr:
        """When one of the commands can be issued, whatever later reads give."""
        found, conditions = FALSE, []
        for transition in leaving:
            form = transition.form
            if not isinstance(form, core.Test):
                return TRUE
            conditions.append(form.condition)
            found = either(found, holds(over(form.condition, values)))
        if any(Unary("!", one) in conditions for one in conditions):
            return TRUE
        return found

    def _blocked(self, form: core.Form, values: Values) -> Expr:
        """When a command cannot be issued, whatever later reads give."""
        return holds(negated(over(form.condition, values))) if isinstance(form, core.Test) else FALSE

    def _after(self, form: core.Form, values: Values) -> Values:
        """The registers after a quiet command."""
        match form:
            case core.Assign(register, value):
                found = over(value, values)
                return {**values, register: UNKNOWN if is_large(found) else found}
            case core.Immediate(register=int(register)):
                return {**values, register: UNKNOWN}
        return values

    def _has_operands(self, form: core.Form, values: Values) -> Expr:
        """When a quiet command does not fault; FALSE also when that is hard to say."""
        found = TRUE
        for role, expr in core.expressions(form):
            if faults_inside(expr):
                return FALSE
            if role is core.Role.VALUE:
                continue
            value = over(expr, values)
            match role:
                case core.Role.ADDRESS:
                    within = _within(value, Const(self.size))
                case core.Role.RANK:
                    within = _within(value, self.nodes)
                case core.Role.QUEUE:
                    within = folded(Binary(">=", value, Const(0)))
                case _:
                    assert_never(role)
            found = both(found, holds(within))
        return found


def back_at(expr: Expr) -> Expr | None:
    """The register that stands in conditions for the value of ``expr`` after the read; None if that is no register."""
    return held(expr.index) if isinstance(expr, Register) else None


def held(register: int) -> Register:
    """Stands for what a register held after the read."""
    return Register(f"r{register}", register)


def unchanged_at(state: int, kept: frozenset[int]) -> Goal:
    """To be at ``state`` with the registers ``kept`` as they were."""

    def arrived(at: int, values: Values) -> Expr | None:
        if at != state:
            return None
        return FALSE if kept & values.keys() else TRUE

    return arrived


def over(expr: Expr, values: Values) -> Expr:
    """``expr`` over the registers after the read; unknown when it nests deeply."""
    found = rewritten(expr, lambda part: values.get(part.index) if isinstance(part, Register) else None)
    return UNKNOWN if found is not expr and _nests_deeply(found) else found


def _nests_deeply(expr: Expr) -> bool:
    level = [expr]
    for _ in range(MOST_NESTED):
        level = [operand for each in level for operand in operands_of(each)]
        if not level:
            return False
    return True


def _within(value: Expr, bound: Expr) -> Expr:
    known, limit = constant(value), constant(bound)
    if known is not None and limit is not None:
        return TRUE if 0 <= known < limit else FALSE
    return both(folded(Binary(">=", value, Const(0))), folded(Binary("<", value, bound)))
