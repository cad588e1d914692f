"""Infeasibility: finds, without a search, the steps that may be the source of an attack (*choosable* steps).

For every step that can be a source a fixpoint that ignores values asks what the attack search could do from there on:
which ranks get tainted, what their commands access, and whether some command may be e. Whatever the search can do the
fixpoint (`fixpoint`) can, so a step after which it finds no e is not choosable, and the search need not try it. The
proof is in `proofs/reductions.md`, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import or_

from pgasrob.analysis.faults import cannot_fault
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.symmetry import symmetry
from pgasrob.analysis.tickets import Place, Taken, numbered_accesses, taken_anew
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.robustness.reduction import fixpoint
from pgasrob.robustness.reduction.abstract_commands import Access, Command, Commands, known_operands
from pgasrob.robustness.reduction.fixpoint import Fixpoint
from pgasrob.robustness.reduction.setting import Setting


def choosable(instance: Instance) -> list[int]:
    """For each transition, rank by rank and state by state, the steps that are choosable as the source.

    Bit i stands for step i; commands without steps have 0. Interchangeable ranks have the same.
    """
    setting = Setting(commands(instance))
    alike = {rank: ranks[0] for ranks in symmetry(instance).classes for rank in ranks}
    found: list[list[int]] = []
    for rank in range(instance.processes):
        first = alike.get(rank, rank)
        found.append(_choosable(setting, rank) if first == rank else found[first])
    return [steps for of_rank in found for steps in of_rank]


def _choosable(setting: Setting, rank: int) -> list[int]:
    found = []
    for state, leaving in enumerate(setting.commands[rank]):
        others = setting.states_of_others(rank, state)
        for command in leaving:
            steps = 0
            for step in range(len(command.in_steps) if command.possible and others else 0):
                if setting.looks > fixpoint.LOOKS or Fixpoint(setting, others, rank, state, command, step).finds_e():
                    steps |= 1 << step
            found.append(steps)
    return found


def commands(instance: Instance) -> Commands:
    """What the ranks of ``instance`` do."""
    cells = _Cells(instance)
    return Commands(
        [
            [[cells.command(rank, state, each) for each in leaving] for state, leaving in enumerate(rows.out)]
            for rank, rows in enumerate(instance.automata)
        ],
        instance,
        cells.planes.cells,
        len(cells.planes.kinds),
        cells.planes.bits(updates_waited_for(instance)),
        threads=instance.has_threads,
        names=cells.further,
    )


Name = tuple[Place, Taken]
"""A command whose address is made of a number that its rank took, and of which."""


class _Cells:
    """The cells of an instance as the fixpoint names them.

    A cell that some rank accesses by a number of its own (`tickets`) has further names: one for each command whose
    address is made of the number, and one for all other accesses. An access conflicts with those names that may be the
    same cell, which are not those of other ranks whose address is made in the same way, nor those of its own rank if it
    takes a number between.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance, self._numbered = instance, numbered_accesses(instance)
        self._names: dict[Cell, dict[Name | None, int]] = {}
        self.further: list[Cell] = []
        for rank, automaton in enumerate(instance.automata) if self._numbered else ():
            for state, leaving in enumerate(automaton.out):
                for transition in leaving:
                    for touched, name in self._accesses(rank, state, transition):
                        if name is not None:
                            self._name(name, touched.cells)
        self.planes = Planes(len(instance.memory) + len(self.further), instance.update_kinds)

    def _name(self, named: Name, cells: int) -> None:
        for cell in members(cells):
            names = self._names.setdefault(cell, {})
            for name in (None, named):
                if name not in names:
                    names[name] = len(self._instance.memory) + len(self.further)
                    self.further.append(cell)

    def _accesses(self, rank: int, state: int, transition: Transition) -> list[tuple[Touched, Name | None]]:
        """The accesses of a command, the one at its issue first, each with the name that it has by a number that its
        address is made of."""
        made = ranges(self._instance).made(rank, state, transition)
        at_issue = core.at_issue(transition.form) is not None
        place = rank, state, transition.occurrence
        accesses = [made.at_issue, *made.steps] if at_issue else list(made.steps)
        numbers = self._numbered.get(place) or (None,) * len(accesses)
        names = (None if taken is None else (place, taken) for taken in numbers)
        return list(zip(accesses, names, strict=True))

    def _access(self, touched: Touched, own: Name | None) -> Access:
        named = [cell for cell in members(touched.cells) if cell in self._names] if self._names else []
        if not named:
            return Access(self.planes.bits(touched), self.planes.against(touched), touched.cells.bit_count() == 1)
        made = touched.with_cells(lambda cells: cells | self._chosen(cells, lambda name: name == own))
        against = touched
        if own is not None:
            against = touched.with_cells(lambda cells: self._chosen(cells, partial(self._may_be, own)))
        certain = own is None and touched.cells.bit_count() == 1
        return Access(self.planes.bits(made), self.planes.against(against), certain)

    def _may_be(self, own: Name, name: Name | None) -> bool:
        """Whether accesses with these names may be to one cell."""
        if name is None or name[1].number != own[1].number:
            return True
        return name[0][0] == own[0][0] and not taken_anew(self._instance, own, name)

    def _chosen(self, cells: int, chosen: Callable[[Name | None], bool]) -> int:
        """The further names of ``cells`` that are ``chosen``."""
        names = (self._names.get(cell, {}) for cell in members(cells))
        return reduce(or_, (1 << place for of in names for name, place in of.items() if chosen(name)), 0)

    def command(self, rank: int, state: int, transition: Transition) -> Command:
        named, found = ranges(self._instance).named(rank, state, transition), self._accesses(rank, state, transition)
        accesses = [self._access(touched, name) for touched, name in found]
        steps = len(core.steps_of(transition.form))
        of_steps = [touched.cells for touched, _ in found[len(found) - steps :]]
        cells = [each.bit_length() - 1 if each.bit_count() == 1 else None for each in of_steps]
        operands = known_operands(transition.form, single(named.queue), single(named.rank), cells)
        at_issue = accesses[0] if len(found) > steps and found[0][0] != Touched() else None
        return Command(transition.target, at_issue, tuple(accesses[len(found) - steps :]), operands, named.possible)


def is_settled(instance: Instance, choosable: Sequence[int]) -> bool:
    """Whether there is nothing to search: no attack can begin, and the SC runs have nothing to show.

    They show failed assertions, illegal calls, faults, and deadlocks where ranks wait for each other.
    """
    if any(choosable):
        return False
    return not instance.has_claims and not instance.can_wait and cannot_fault(instance)
