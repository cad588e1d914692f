"""The operands of a command, case by case: for each combination of values of the registers that it reads, as long as
these are few, else for all of them at once, by intervals."""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.analysis.effects import legal
from pgasrob.analysis.intervals import limiting, may_fault, narrowing, value_of, value_within
from pgasrob.analysis.updated_values import operand_and_expected
from pgasrob.analysis.value_sets import NONE, Values, between, common, hull, related, ways
from pgasrob.program import core
from pgasrob.program.core import Form, Place
from pgasrob.program.expressions import Expr, Fault, evaluator

Registers = tuple[Values, ...]


class Case(NamedTuple):
    """``read``: what the registers hold that the command reads, in their order; ``operands``: the values of its
    expressions, in the order of `core.expressions`."""

    read: tuple[Values, ...]
    operands: tuple[Values, ...]


class OperandCases:
    """Finds the cases of ``form``, a command on ``nodes`` nodes of ``size`` cells, with so many registers.

    ``registers``: those that it reads.
    """

    def __init__(self, form: Form, nodes: int, size: int, count: int) -> None:
        self.registers = sorted(core.registers_read(form))
        self._count = count
        self._blocks = form.condition if isinstance(form, core.Test) and form.blocks else None
        self._exprs = [(expr, evaluator(expr), legal(role, nodes, size)) for role, expr in core.expressions(form)]

    def find(self, registers: Registers) -> tuple[list[Case], bool]:
        """The cases in which the command can be issued and does not fault, and whether it may fault in others."""
        combinations = ways([registers[index] for index in self.registers])
        if combinations is None:
            return self._all_at_once(registers)
        found, faults, file = [], False, [0] * self._count
        for values in combinations:
            for index, value in zip(self.registers, values, strict=True):
                file[index] = value
            operands = self._evaluated(file)
            if operands is None:
                faults = True
            elif self._blocks is None or operands != (0,):
                found.append(Case(tuple(map(_only, values)), tuple(map(_only, operands))))
        return found, faults

    def _evaluated(self, file: list[int]) -> tuple[int, ...] | None:
        """The operands with these registers; None where one has no value or is out of range."""
        found = []
        for _, evaluate, bound in self._exprs:
            try:
                value = evaluate(file)
            except Fault:
                return None
            if bound is not None and not bound[0] <= value <= bound[1]:
                return None
            found.append(value)
        return tuple(found)

    def _all_at_once(self, registers: Registers) -> tuple[list[Case], bool]:
        file = after = tuple(map(hull, registers))
        faults, operands = False, list[Values]()
        for expr, _, bound in self._exprs:
            whole = value_of(expr)(file)
            found = whole if bound is None else value_within(expr, *bound)(file)
            faults = faults or may_fault(expr, file) or whole != found
            limited = after if bound is None else limiting(expr)(after, *bound)
            if found is None or limited is None:
                return [], True
            operands.append(between(*found))
            after = limited
        narrowed = after if self._blocks is None else narrowing(self._blocks, True)(after)
        if narrowed is None:
            return [], faults
        read = tuple(common(registers[index], between(*narrowed[index])) for index in self.registers)
        return ([] if NONE in read else [Case(read, tuple(operands))]), faults

    def enabled(self, form: core.Immediate[Place, Expr], case: Case) -> ImmediateCase:
        """A case of this command, which is ``form`` and accesses a cell at its issue."""
        left = iter(case.operands)
        addresses = next(left)
        ranks = NONE if form.access.cell.rank is None else next(left)
        compared = NONE if form.condition is None else next(left)
        operand, expected = operand_and_expected(form.update, list(left))
        return ImmediateCase(case, form, addresses, ranks, compared, (operand, expected))


class ImmediateCase(NamedTuple):
    """A case of a command that accesses a cell at its issue, with its operands by name; ``ranks`` is empty where it
    names none."""

    case: Case
    form: core.Immediate[Place, Expr]
    addresses: Values
    ranks: Values
    compared: Values
    given: tuple[Values, Values]

    def satisfying(self, values: Values) -> Values:
        """Those of the ``values`` of the cell with which the command is enabled, or more."""
        condition = self.form.condition
        return values if condition is None else related(condition.relation, values, self.compared)


def _only(value: int) -> Values:
    return frozenset((value,))
