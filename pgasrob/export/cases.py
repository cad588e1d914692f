"""Splits a command into cases with fixed cells: one case for each value of an operand that depends on registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import assert_never

from pgasrob.analysis.effects import legal
from pgasrob.analysis.intervals import File, comparing, may_fault, value_of
from pgasrob.export.promela_expressions import Unsupported, has_value
from pgasrob.program import core
from pgasrob.program.commands import show
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Form, Role
from pgasrob.program.expressions import Binary, Const, Expr, Fault, constant, evaluator, registers_of
from pgasrob.program.instance import Instance

MOST_CASES = 4_000
"""Alternatives at one control state; SPIN's parser keeps them on a stack."""
PAIRS = 2_048
"""Combinations of registers tried one by one for the values of an operand."""

At = core.Shape[Expr, Cell]
"""A command with cells instead of places; its values are still expressions."""


@dataclass(frozen=True, slots=True)
class Case:
    """A command at certain cells, ranks and queues: ``form``, under the conditions ``guards``.

    ``target`` is the rank that it names, None for none, and ``queue`` its queue.
    """

    guards: tuple[Expr, ...]
    form: At
    target: int | None
    queue: int


def cases(instance: Instance, rank: int, transition: Transition, file: File) -> Iterator[Case]:
    """The command of ``transition`` of ``rank`` with every choice of its addresses, rank and queue, while the registers
    are in ``file``. Raises :class:`Unsupported` when one of them may have too many values."""
    form, size = transition.form, instance.size
    expressions = list(core.expressions(form))
    conditions = (has_value(expr) if may_fault(expr, file) else None for _, expr in expressions)
    defined = tuple(condition for condition in conditions if condition is not None)
    named = [(role, expr) for role, expr in expressions if role is not Role.VALUE]
    for chosen in _choices(instance, transition, named, file):
        guards = tuple(
            Binary("==", expr, Const(value))
            for (_, expr), value in zip(named, chosen, strict=True)
            if constant(expr) is None
        )
        by_role: dict[Role, list[int]] = {role: [] for role in Role}
        for (role, _), value in zip(named, chosen, strict=True):
            by_role[role].append(value)
        target = by_role[Role.RANK][0] if by_role[Role.RANK] else None
        queue = by_role[Role.QUEUE][0] if by_role[Role.QUEUE] else 0
        cells = [
            (rank if access.cell.rank is None or target is None else target) * size + address
            for access, address in zip(core.accesses_of(form), by_role[Role.ADDRESS], strict=True)
        ]
        yield Case((*defined, *guards), _at(form, cells), target, queue)


def too_many(transition: Transition, what: str = "the operands") -> Unsupported:
    return Unsupported(f"{what} of {show(transition.command)} (line {transition.span.line}) may have too many values")


def _choices(
    instance: Instance, transition: Transition, named: Sequence[tuple[Role, Expr]], file: File | None
) -> Iterator[tuple[int, ...]]:
    """The values that the operands may have together."""
    if file is None:
        return
    if not named:
        yield ()
        return
    (role, expr), *rest = named
    for value in _values(instance, transition, role, expr, file):
        narrowed = file if constant(expr) is not None else comparing(expr, "==", Const(value))(file)
        for others in _choices(instance, transition, rest, narrowed):
            yield value, *others


def _values(instance: Instance, transition: Transition, role: Role, expr: Expr, file: File) -> Sequence[int]:
    """The legal values of one operand, ascending."""
    interval, bounds = value_of(expr)(file), legal(role, instance.nodes, instance.size)
    assert bounds is not None, "a value is no place"
    if interval is None:
        return ()
    found = range(max(interval[0], bounds[0]), min(interval[1], bounds[1]) + 1)
    if len(found) > MOST_CASES:
        raise too_many(transition, "the queue" if role is Role.QUEUE else "the operands")
    registers = sorted(registers_of(expr))
    ranges = [range(file[index][0], file[index][1] + 1) for index in registers]
    if len(found) == 1 or prod(each.stop - each.start for each in ranges) > PAIRS:
        return found
    run, known = evaluator(expr), [low for low, _ in file]
    seen = set()
    for values in product(*ranges):
        for index, value in zip(registers, values, strict=True):
            known[index] = value
        try:
            seen.add(run(known))
        except Fault:
            continue
    return sorted(seen.intersection(found))


def _at(form: Form, cells: Sequence[Cell]) -> At:
    """``form`` with ``cells`` for the places of its accesses, in their order."""
    match form:
        case core.Immediate(access, condition, update, register, until):
            return core.Immediate(_access(access, cells[0]), condition, update, register, until)
        case core.Transfer(rank, queue, steps, captured, update, everywhere):
            first = len(cells) - len(steps)
            placed = tuple(
                core.Step(
                    step.kind, _access(step.access, cell), step.stage, step.local, step.fenced, step.after_writes,
                    step.after_bundle, step.located,
                )
                for step, cell in zip(steps, cells[first:], strict=True)
            )  # fmt: skip
            made = None if captured is None else _access(captured, cells[0])
            return core.Transfer(rank, queue, placed, made, update, everywhere)
        case core.Assign() | core.Test() | core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
            return form
        case _:
            assert_never(form)


def _access(access: core.Access[core.Place], cell: Cell) -> core.Access[Cell]:
    return core.Access(cell, access.reads, access.writes, access.commutes)
