"""Finds the control states at which a rank may be again and again without an end: those in loops that are not counted.

A loop is *counted* when one register, the counter, is only ever changed there by adding 1 (or taking 1 away), and every
way round on which it is also passes a test that the counter is below (above) a bound that is a constant; and the ways
round on which it is not changed are loops that are counted themselves. Such a loop ends whatever else it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import INT32, MIRRORED, Binary, Const, Expr, IntType, Register, constant, registers_of
from pgasrob.program.graphs import components

Edge = tuple[int, Transition]
"""A transition with the control state that it leaves."""

_TOWARDS = {1: "<", -1: ">"}


def endless(automaton: ControlAutomaton) -> tuple[bool, ...]:
    """For each control state whether a rank may come back to it without an end."""
    found = [False] * len(automaton.out)
    for inside in uncounted_loops(edges_of(automaton)):
        for state, _ in inside:
            found[state] = True
    return tuple(found)


def edges_of(automaton: ControlAutomaton) -> list[Edge]:
    """All edges of ``automaton``."""
    return [(state, edge) for state, leaving in enumerate(automaton.out) for edge in leaving]


def uncounted_loops(edges: Sequence[Edge]) -> list[list[Edge]]:
    """The largest loops of ``edges`` that are not counted."""
    return [inside for inside in loops(edges) if not _is_counted(inside)]


def loops(edges: Sequence[Edge]) -> list[list[Edge]]:
    """The edges between control states that lead to each other by ``edges``, together for states that do."""
    states = {state for state, _ in edges} | {edge.target for _, edge in edges}
    numbers = {state: number for number, state in enumerate(sorted(states))}
    successors: list[list[int]] = [[] for _ in numbers]
    for state, edge in edges:
        successors[numbers[state]].append(numbers[edge.target])
    component = components(successors)
    found: dict[int, list[Edge]] = {}
    for state, edge in edges:
        if component[numbers[state]] == component[numbers[edge.target]]:
            found.setdefault(component[numbers[state]], []).append((state, edge))
    return list(found.values())


def _is_counted(edges: Sequence[Edge]) -> bool:
    """Whether no way round these edges, which lead to each other, is without an end: a counter goes on only so often,
    and what is left where it does not go on is counted, too."""
    steps: dict[int, set[tuple[int, IntType] | None]] = {}
    for _, edge in edges:
        register = core.register_set(edge.form)
        if register is not None:
            steps.setdefault(register, set()).add(_step(edge.form, register))
    for register, found in steps.items():
        (step, *others) = found
        if step is None or others:
            continue
        untested = loops([each for each in edges if not _is_test(each[1].form, register, *step)])
        if any(core.register_set(edge.form) == register for loop in untested for _, edge in loop):
            continue
        left = [each for each in edges if core.register_set(each[1].form) != register]
        if all(map(_is_counted, loops(left))):
            return True
    return False


def _step(form: core.Form, register: int) -> tuple[int, IntType] | None:
    """1 or -1, and the type of the sum, when the command adds this to the register; else None."""
    match form:
        case core.Assign(_, Binary("+", Register(_, index), Const(1), type)) if index == register:
            return 1, type
        case core.Assign(_, Binary("+", Const(1), Register(_, index), type)) if index == register:
            return 1, type
        case core.Assign(_, Binary("-", Register(_, index), Const(1), type)) if index == register:
            return -1, type
    return None


def _is_test(form: core.Form, register: int, step: int, type: IntType) -> bool:
    """Whether the command is an assume by which the register, which goes on by ``step``, has not reached its bound."""
    if not isinstance(form, core.Test) or not form.blocks:
        return False
    return any(
        relation == _TOWARDS[step]
        and isinstance(left, Register)
        and left.index == register
        and _is_reached(bound, type)
        for relation, left, bound in _comparisons(form.condition)
    )


def is_below(form: core.Form, register: int, most: int) -> bool:
    """Whether the command is an assume that the register is below a constant, which is ``most`` at most."""
    if not isinstance(form, core.Test) or not form.blocks:
        return False
    return any(
        relation in ("<", "<=")
        and isinstance(left, Register)
        and left.index == register
        and (bound := constant(right)) is not None
        and bound < most
        for relation, left, right in _comparisons(form.condition)
    )


def _is_reached(bound: Expr, type: IntType) -> bool:
    """Whether a counter of this type comes to the bound before it wraps around. (There are less than 2^31 nodes.)"""
    value = constant(bound)
    return not registers_of(bound) and (type.bits >= 32 if value is None else type.wrap(value) == value)


def _comparisons(condition: Expr) -> Iterator[tuple[str, Expr, Expr]]:
    """The comparisons that hold when ``condition`` does, either way round."""
    match condition:
        case Binary("&&", left, right):
            yield from _comparisons(left)
            yield from _comparisons(right)
        case Binary(symbol, left, right, type) if symbol in MIRRORED and type.bits >= INT32.bits:
            yield symbol, left, right
            yield MIRRORED[symbol], right, left
