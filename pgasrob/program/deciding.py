"""Finds the registers and cells whose values may decide what a program does: a fixpoint that ignores the order of
commands (used by `relevance` and `rank_types`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.core import Form, Role
from pgasrob.program.expressions import Expr, faults_inside, registers_of
from pgasrob.stop_points import stop_point


class Command(NamedTuple):
    """A command of a rank: the cells whose values it may use and change, as bit sets."""

    rank: int
    form: Form
    used: int
    changed: int


class Deciding:
    """``registers``: for every rank those whose values may decide something. ``cells``: the cells that may, a bit set.

    With ``assertions``, a value that an assertion depends on decides something.
    """

    def __init__(self, commands: Iterable[Command], ranks: int, assertions: bool = True) -> None:
        self.registers: list[set[int]] = [set() for _ in range(ranks)]
        self.cells = 0
        known = list(commands)
        for rank, form, used, _ in known:
            for expr in deciding_expressions(form, assertions):
                self.registers[rank] |= registers_of(expr)
            self.registers[rank] |= core.registers_compared(form)
            if _has_condition(form, assertions):
                self.cells |= used
        while sum(map(self._follow, known)):  # `sum`, not `any`: every round follows all commands
            stop_point()
            pass

    def _follow(self, command: Command) -> bool:
        """Add what a command computes a deciding result from; returns whether that was anything new."""
        rank, form, used, changed = command
        registers = self.registers[rank]
        before = len(registers), self.cells
        if changed & self.cells or core.register_set(form) in registers:
            self.cells |= used
            for _, expr in core.expressions(form):
                registers |= registers_of(expr)
        return before != (len(registers), self.cells)


def deciding_expressions(form: Form, assertions: bool) -> Iterator[Expr]:
    """The expressions of a command that decide something by themselves."""
    for role, expr in core.expressions(form):
        if role is not Role.VALUE or _has_condition(form, assertions) or faults_inside(expr):
            yield expr


def _has_condition(form: Form, assertions: bool) -> bool:
    """Whether a command has a condition: an assume, an assert, an await, a poll."""
    match form:
        case core.Test(_, blocks):
            return blocks or assertions
        case core.Immediate():
            return form.may_block  # of a compare_swap, too: the one that fails conflicts with less
        case _:
            return False
