"""Conditions that awaits test: which there are, and which of them a change of a cell turns (`proofs/waiting.md`, 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.core import Cell, Operands
from pgasrob.program.expressions import RELATIONS, constant
from pgasrob.program.instance import Instance


class Condition(NamedTuple):
    """That ``cell`` compares to ``value`` by ``relation``."""

    cell: Cell
    relation: str
    value: int

    def holds(self, held: int) -> bool:
        """Whether it holds when the cell holds this."""
        return RELATIONS[self.relation](held, self.value)

    def turns(self, before: int, after: int) -> bool:
        """Whether it holds at one of these values and not at the other."""
        return self.holds(before) != self.holds(after)


class Conditions:
    """The conditions that awaits of ``instance`` test, as it is read.

    Each has a number, behind those of all cells. Engines take it for a cell that awaits read and changes write which
    turn the condition.
    """

    def __init__(self, instance: Instance) -> None:
        self._first = len(instance.memory)
        self._numbers: dict[Condition, Cell] = {}
        self._of_cell: dict[Cell, list[Condition]] = {}
        for process, automaton in enumerate(instance.automata):
            for form in (edge.form for edge in automaton.transitions):
                if not isinstance(form, core.Immediate) or not form.access.tests or form.condition is None:
                    continue
                address = constant(form.access.cell.address)
                assert address is not None, "so it is chosen"
                cell = instance.home[process] * instance.size + address
                for value in form.access.tests:
                    condition = Condition(cell, form.condition.relation, value)
                    if condition not in self._numbers:
                        self._numbers[condition] = self._first + len(self._numbers)
                        self._of_cell.setdefault(cell, []).append(condition)
        self._about = tuple(self._numbers)

    def __iter__(self) -> Iterator[Condition]:
        """In the order of their numbers."""
        return iter(self._numbers)

    def tested(self, operands: Operands) -> Cell | None:
        """The number of the condition that a command tests."""
        condition = tested(operands)
        return None if condition is None else self._numbers[condition]

    def of_cell(self, cell: Cell) -> list[Cell]:
        """The numbers of the conditions on ``cell``."""
        return [self._numbers[each] for each in self._of_cell.get(cell, ())]

    def cell_of(self, number: Cell) -> Cell:
        """The cell that a condition is about; of the number of a cell that itself."""
        return self._about[number - self._first].cell if number >= self._first else number

    def turned(self, cell: Cell, before: int, after: int) -> list[Cell]:
        """The numbers of the conditions that a change of ``cell`` turns."""
        return [self._numbers[each] for each in self._of_cell.get(cell, ()) if each.turns(before, after)]


def tested(operands: Operands) -> Condition | None:
    """The condition that a command tests; None for one that reads a value, or nothing."""
    if not isinstance(operands, core.Immediate) or not operands.access.tests:
        return None
    assert operands.condition is not None, "only awaits test"
    return Condition(operands.access.cell, *operands.condition)
