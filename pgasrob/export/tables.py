"""Collects for a model the cases of all commands, their accesses, and the registers and cells that matter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, reduce

from pgasrob.analysis.intervals import File, Interval, joined
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.relevance import needed_registers, relevance
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.export.cases import MOST_CASES, At, Case, cases, too_many
from pgasrob.export.promela_expressions import Scope, Unsupported, Variable, type_of
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.instance import Instance
from pgasrob.semantics.accesses import Access, conflict

MOST_PROCESSES = 255
"""SPIN's limit."""


class Tables:
    """The tables of one instance.

    ``edges``: the transitions of all ranks, which are known by their numbers here; ``leaving``: those numbers, by rank
    and control state. ``cases``: by number the cases of each command that may be issued. ``marks``: for the parts t and
    d, by cells, the accesses that may be in them and conflict with some access; see :func:`marked`. ``sources``:
    numbers, from 1 on, for the steps that may be a source, which are those of d. ``waited_for``: the updates that may
    be further sources. ``needed``: by rank and control state the registers whose value decides anything. ``stored``:
    the variables of the cells whose value does.
    """

    def __init__(self, instance: Instance) -> None:
        if instance.has_threads:
            raise Unsupported("its ranks have several threads, which the model has not yet")
        if instance.nodes > MOST_PROCESSES:
            raise Unsupported(f"{instance.nodes} ranks, and SPIN has no more than {MOST_PROCESSES} processes")
        self.instance = instance
        self._ranges = ranges(instance)
        self.edges: list[Transition] = []
        self.leaving: list[list[range]] = []
        for automaton in instance.automata:
            self.leaving.append([])
            for out in automaton.out:
                self.leaving[-1].append(range(len(self.edges), len(self.edges) + len(out)))
                self.edges += out
        self._files = [
            [self._file(rank, state) for state in range(len(automaton.out))]
            for rank, automaton in enumerate(instance.automata)
        ]
        self.cases: dict[int, list[Case]] = {}
        for rank in range(instance.nodes):
            for state in range(len(self.leaving[rank])):
                self.cases.update(self._cases(rank, state))
        self.cell_names = self._cell_names()
        self._accesses()
        self.waited_for = updates_waited_for(instance)
        cells = relevance(instance, assertions=False).cells
        self.needed = needed_registers(instance, cells, assertions=False)
        self.stored = {
            cell: self._variable(f"m_{self.cell_names[cell]}", [self._ranges.cell(cell)], "now.")
            for cell in range(len(instance.memory))
            if cell in self._changed and cells >> cell & 1
        }
        self.registers = [self._registers(rank) for rank in range(instance.nodes)]

    def _file(self, rank: int, state: int) -> File | None:
        known = (self._ranges.register(rank, state, index) for index in range(len(self.instance.registers)))
        file = tuple(values for values in known if values is not None)
        return file if self._ranges.reachable(rank, state) else None

    def _cases(self, rank: int, state: int) -> Iterator[tuple[int, list[Case]]]:
        file = self._files[rank][state]
        if file is None:
            return
        total = 0
        for number in self.leaving[rank][state]:
            transition, found = self.edges[number], list[Case]()
            if self._ranges.named(rank, state, transition).possible:
                for case in cases(self.instance, rank, transition, file):
                    found.append(case)
                    total += 1
                    if total > MOST_CASES:
                        raise too_many(transition)
            yield number, found

    def _accesses(self) -> None:
        """Find what commands may access, at their issue or later, what steps may, and which steps may be sources."""
        forms = [case.form for found in self.cases.values() for case in found]
        ever = {marked(access) for form in forms for access in core.accesses_of(form)}
        steps = {marked(step.access) for form in forms for step in core.steps_of(form)}
        self._changed = {access.cell for access in ever if access.writes}
        self.marks = {"t": _conflicting(ever, ever), "d": _conflicting(steps, ever)}
        sources = [access for found in self.marks["d"].values() for access in found]
        sources.sort(key=lambda access: (access.cell, access.writes, access.commutes))
        self.sources = {access: number for number, access in enumerate(sources, start=1)}
        if len(self.sources) >= 1 << 15:
            raise Unsupported(f"{len(self.sources):,} cells that an operation may access")

    # Variables

    def _cell_names(self) -> list[str]:
        program, size = self.instance.program, self.instance.size
        names = _names(program.cell_name(index) for index in range(size))
        return [f"{name}_{rank}" for rank in range(self.instance.nodes) for name in names]

    def _variable(self, name: str, values: Sequence[Interval], place: str) -> Variable:
        found = reduce(joined, values)
        return Variable(name, found, type_of(found), place)

    def _registers(self, rank: int) -> list[Variable]:
        """The variables of the registers of ``rank``, for all values that decide anything and the 0 of the start."""
        return [
            self._variable(
                f"r_{name}",
                [(0, 0)]
                + [
                    file[index]
                    for file, needed in zip(self._files[rank], self.needed[rank], strict=True)
                    if file is not None and index in needed
                ],
                f"Prank_{rank}->",
            )
            for index, name in enumerate(_names(self.instance.program.registers))
        ]

    def scope(self, rank: int, state: int) -> Scope:
        """The registers of ``rank`` at a control state that it may reach."""
        file = self._files[rank][state]
        assert file is not None, "only reachable states have cases"
        return Scope(self.registers[rank], file)

    def with_cells(self, scope: Scope, form: At) -> tuple[Scope, dict[Cell, Expr]]:
        """``scope`` with the cells of a command, and these as expressions; those that no command uses are left out."""
        cells = dict.fromkeys(access.cell for access in core.accesses_of(form))
        stored = [cell for cell in cells if cell in self.stored]
        scope, variables = scope.adding(*(self.stored[cell] for cell in stored))
        exprs: dict[Cell, Expr] = dict(zip(stored, variables, strict=True))
        exprs.update((cell, Const(self.instance.memory[cell])) for cell in cells if cell not in self._changed)
        return scope, exprs

    # Barriers

    def barrier(self, rank: int, state: int) -> int | None:
        """The transition that leaves ``state`` when it is a barrier and the only one."""
        leaving = self.leaving[rank][state]
        return leaving[0] if len(leaving) == 1 and isinstance(self.edges[leaving[0]].form, core.Barrier) else None

    @cached_property
    def barriers(self) -> dict[str, int]:
        """The numbers of the barriers by name, from 1 on."""
        names = (form.name for form in self.instance.forms if isinstance(form, core.Barrier))
        return {name: number for number, name in enumerate(dict.fromkeys(names), 1)}

    def barrier_at(self, edge: int) -> int:
        """The number of the barrier that a transition is."""
        form = self.edges[edge].form
        assert isinstance(form, core.Barrier)
        return self.barriers[form.name]

    def starts(self) -> tuple[list[int], dict[int, int], list[tuple[int, int]]]:
        """The control states where the ranks start, the barriers in which some of them wait there, and the barriers
        passed before as rank and transition: barriers that every rank begins with are left out of the model.
        """
        ranks = range(self.instance.nodes)
        control = [0] * self.instance.nodes
        before: list[tuple[int, int]] = []
        seen = set()
        while tuple(control) not in seen:
            seen.add(tuple(control))
            single = {rank: edge for rank in ranks if (edge := self.barrier(rank, control[rank])) is not None}
            before += single.items()
            for rank, edge in single.items():
                control[rank] = self.edges[edge].target
            waiting = {rank: self.barrier_at(edge) for rank, edge in single.items()}
            if len(single) < self.instance.nodes or len(set(waiting.values())) > 1:
                return control, waiting, before
        # The ranks meet at barriers for ever.
        return control, {}, []


def _names(names: Iterable[str]) -> list[str]:
    """``names`` as SPIN and C take them, all different."""
    found: dict[str, None] = {}
    for text in names:
        name = re.sub(r"\W", "_", text).rstrip("_")
        while name in found:
            name += "_"
        found[name] = None
    return list(found)


def marked(access: Access) -> Access:
    """``access`` as parts record it. An atomic counts as a write: all that conflicts with its read does with that."""
    return access._replace(reads=not access.writes)


def _conflicting(made: Collection[Access], ever: Collection[Access]) -> dict[Cell, list[Access]]:
    """By cells those of ``made`` that conflict with one of ``ever``, in order."""
    others: dict[Cell, list[Access]] = {}
    for access in ever:
        others.setdefault(access.cell, []).append(access)
    found: dict[Cell, list[Access]] = {}
    for access in sorted(made):
        if any(conflict(access, other) for other in others[access.cell]):
            found.setdefault(access.cell, []).append(access)
    return found
