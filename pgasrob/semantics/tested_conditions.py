"""Conditions that awaits test: which there are, and which of them a change of a cell turns (`proofs/waiting.md`, 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from pgasrob.program import core
from pgasrob.program.comparisons import compared
from pgasrob.program.core import Cell, Operands, Place
from pgasrob.program.expressions import RELATIONS, Expr, constant
from pgasrob.program.instance import Instance

Access = core.Access[Cell]
P = TypeVar("P")
V = TypeVar("V")


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
    """The conditions that awaits and tested adds of ``instance`` test, as it is read, each with a number behind those
    of all cells. Engines take it for a cell, which tests read and changes write that turn the condition.

    A cell to which tested adds add has a number of its own beside it, which they read, and write where they turn any of
    its conditions: so one that does comes before or after the others.
    """

    def __init__(self, instance: Instance) -> None:
        self._first = len(instance.memory)
        self._numbers: dict[Condition, Cell] = {}
        self._of_cell: dict[Cell, list[Condition]] = {}
        counted: dict[Cell, None] = {}
        for process, automaton in enumerate(instance.automata):
            for form in (edge.form for edge in automaton.transitions):
                if not isinstance(form, core.Immediate) or not form.access.tests:
                    continue
                found = [_condition(instance, process, form, value) for value in form.access.tests]
                if form.access.counts:
                    counted[found[0].cell] = None
                for condition in found:
                    if condition not in self._numbers:
                        self._numbers[condition] = self._first + len(self._numbers)
                        self._of_cell.setdefault(condition.cell, []).append(condition)
        self._about = (*(condition.cell for condition in self._numbers), *counted)
        self._counted = {cell: self._first + len(self._numbers) + place for place, cell in enumerate(counted)}

    @property
    def counted(self) -> Iterable[Cell]:
        """The cells to which tested adds add, in the order of their numbers, which come after those of conditions."""
        return self._counted

    def __iter__(self) -> Iterator[Condition]:
        """In the order of their numbers."""
        return iter(self._numbers)

    def tested(self, operands: Operands) -> Cell | None:
        """The number of the condition that a command tests."""
        condition = tested(operands)
        return None if condition is None else self._numbers[condition]

    def polled(self, instance: Instance, process: int, form: core.Form) -> Cell | None:
        """The number of the condition that a poll of ``process`` tests, if this is one that does."""
        if not isinstance(form, core.Immediate) or not form.access.tests or form.condition is not None:
            return None
        return self._numbers[_condition(instance, process, form, form.access.tests[0])]

    def at_issue(self, operands: Operands) -> tuple[Access, ...]:
        """The accesses that a command makes at its issue; those of a test as in :meth:`accesses`."""
        made = core.at_issue(operands)
        if made is None:
            return ()
        return self.accesses(tested(operands), made.counts) or (made,)

    def accesses(self, tests: Condition | None, counts: str) -> tuple[Access, ...]:
        """The accesses of a test: to the number of its condition, and if it adds, to its cell by what it adds as the
        kind, and to the cell's own number. None for what tests nothing."""
        if tests is None:
            return ()
        test = core.Access(self._numbers[tests], True, False)
        if not counts:
            return (test,)
        counted = core.Access(self._counted[tests.cell], True, False)
        return core.Access(tests.cell, True, True, counts), counted, test

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def of_cell(self, cell: Cell) -> list[Cell]:
        """The numbers of the conditions on ``cell``, and that of the cell if tested adds add to it."""
        numbers = [self._numbers[each] for each in self._of_cell.get(cell, ())]
        return [*numbers, *([self._counted[cell]] if cell in self._counted else [])]

    def cell_of(self, number: Cell) -> Cell:
        """The cell that a condition is about; of the number of a cell that itself."""
        return self._about[number - self._first] if number >= self._first else number

    def turned(self, cell: Cell, before: int, after: int) -> list[Cell]:
        """The numbers of the conditions that a change of ``cell`` turns; where it turns any, with that of the cell if
        tested adds add to it."""
        turned = [self._numbers[each] for each in self._of_cell.get(cell, ()) if each.turns(before, after)]
        return [*turned, *([self._counted[cell]] if turned and cell in self._counted else [])]


def tested(operands: Operands) -> Condition | None:
    """The condition that a command tests; None for one that reads a value, or nothing."""
    if not isinstance(operands, core.Immediate) or not operands.access.tests:
        return None
    if operands.condition is not None:
        return Condition(operands.access.cell, *operands.condition)
    return Condition(operands.access.cell, _relation(operands), operands.access.tests[0])


def _condition(instance: Instance, process: int, form: core.Immediate[Place, Expr], value: int) -> Condition:
    """The condition that a command of ``process`` tests by comparing with ``value``."""
    place = form.access.cell
    rank = instance.home[process] if place.rank is None else constant(place.rank)
    address = constant(place.address)
    assert address is not None and rank is not None, "so it is chosen"
    return Condition(rank * instance.size + address, _relation(form), value)


def _relation(tests: core.Immediate[P, V]) -> str:
    """How a test compares its cell."""
    if tests.condition is not None:
        return tests.condition.relation
    assert tests.until is not None and tests.register is not None, "awaits, adds and polls test"
    comparison = compared(tests.until.holds, tests.register)
    assert comparison is not None, "so it is chosen"
    return comparison.relation


def conditions_of(instance: Instance) -> Conditions:
    """The conditions of ``instance``, which are found once."""
    found: Conditions | None = instance.analyses.get("conditions")
    if found is None:
        found = instance.analyses["conditions"] = Conditions(instance)
    return found
