"""What registers may hold, and so what each command may access: checked to be closed under every command.

The evidence has register files for every rank, or name of ranks, and control state, in which registers may be unknown.
Of memory nothing is known. It is closed when it has the initial file, and with each file what each command leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

from pgasrob.certificates.check.linear import NODES, Value, linear
from pgasrob.certificates.check.names import Case
from pgasrob.certificates.check.order import Operands, Touched, meets, put, ways
from pgasrob.program import core
from pgasrob.program.core import Place, Role
from pgasrob.program.expressions import RELATIONS, Expr, Fault, may_fault, parts

T = TypeVar("T")
File = tuple[Value, ...]


class Files(NamedTuple):
    """The register files at a control state; ``unknown`` registers are None in all."""

    unknown: frozenset[int]
    files: frozenset[File]

    def hidden(self, file: File) -> File:
        return tuple(None if index in self.unknown else value for index, value in enumerate(file))


class Reach(NamedTuple):
    """An access, the cells that it may be to, those at which it may meet others, and its ``cell`` when it is certain.

    The cells of ranks that have no name are never certain. Each has two: for what such a rank accesses in its own
    memory, where no other one of them does so, and for all else.
    """

    access: core.Access[Any]
    cells: frozenset[int]
    against: frozenset[int]
    cell: int | None


@dataclass(frozen=True)
class Command:
    """What a transition may do with one register file, or with some: the ``files`` that it leaves, as far as they are
    known behind it, its accesses, and the rank and queue that it always names."""

    form: core.Form
    target: int
    files: tuple[File, ...]
    chain: tuple[Reach, ...]
    to: Value
    queue: int | None

    @property
    def possible(self) -> bool:
        return bool(self.files)

    @cached_property
    def bound(self) -> tuple[Reach, ...]:
        return self.chain[: len(self.chain) - len(core.steps_of(self.form))]

    @cached_property
    def steps(self) -> tuple[Reach, ...]:
        return self.chain[len(self.bound) :]

    @cached_property
    def written(self) -> frozenset[int]:
        return frozenset().union(*(each.cells for each in self.chain if each.access.writes))

    @cached_property
    def operands(self) -> Operands:
        """Those that are certain; what is not is None."""
        match self.form:
            case core.Transfer() as form:
                to = (step.access._replace(cell=reach.cell) for step, reach in zip(form.steps, self.steps, strict=True))
                steps = tuple(step._replace(access=each) for step, each in zip(form.steps, to, strict=True))
                return replace(form, rank=self.to, queue=self.queue, steps=steps)
            case core.Bundle() | core.Barrier() as form:
                return form
            case core.Wait() as form:
                return replace(form, queue=self.queue)
            case core.Fence() as form if form.rank is None or self.to is not None:
                return replace(form, queue=self.queue, rank=self.to)
        return None


Commands = list[list[list[Command]]]
"""Those of each rank and control state."""


class Values:
    """The evidence. ``may_fault``: whether some command may, once all :meth:`demands` have been asked for."""

    def __init__(self, case: Case, files: Sequence[Sequence[Files]]) -> None:
        self.case, self.instance, self.files = case, case.instance, files
        self.may_fault = False
        self.issue, self.cells = cache(self._issue), cache(self._cells)

    def demands(self) -> Iterator[tuple[int, int, File]]:
        """What is missing, by rank and control state; nothing when the evidence is closed."""
        for rank, automaton in enumerate(self.instance.automata):
            begun = self.files[rank][0].hidden(self.instance.registers)
            yield from () if self.has(rank, 0, begun) else ((rank, 0, begun),)
            for state, leaving in enumerate(automaton.out):
                for place, transition in enumerate(leaving):
                    for file in self.files[rank][state].files:
                        issued = self.issue(rank, state, place, file)
                        for after in issued.files if issued else ():
                            if not self.has(rank, transition.target, after):
                                yield rank, transition.target, after

    def has(self, rank: int, state: int, file: File) -> bool:
        return file in self.files[rank][state].files

    def value(self, rank: int, expr: Expr, file: File) -> Value:
        name = self.case.names[rank]
        return name.domain.value(expr, file, name.me)

    def _can_fault(self, rank: int, expr: Expr, file: File) -> bool:
        """Whether some operation in ``expr``, the value of which is not known, may have none."""
        try:
            return any(may_fault(part) and self.value(rank, part, file) is None for part in parts(expr))
        except Fault:
            return True

    def may_pass(self, rank: int, form: core.Immediate[Place, Expr], file: File, held: int) -> bool:
        """Whether an await, or a read that may fail, may be enabled when its cell holds ``held``."""
        try:
            if form.condition is not None:
                wanted = self.value(rank, form.condition.value, file)
                if isinstance(wanted, int) and not RELATIONS[form.condition.relation](held, wanted):
                    return False
            after = file if form.register is None else put(file, form.register, held)
            return form.until is None or self.value(rank, form.until.holds, after) != 0
        except Fault:
            return True

    def _issue(self, rank: int, state: int, place: int, file: File) -> Command | None:
        """What a transition may do; None where it always faults."""
        transition, size = self.instance.automata[rank].out[state][place], self.instance.size
        form, domain = transition.form, self.case.names[rank].domain
        ends = {Role.RANK: linear(-1).plus(NODES, 1), Role.ADDRESS: linear(size - 1)}
        named: dict[Role, list[Value]] = {role: [] for role in Role}
        addresses: list[range] = []
        for role, expr in core.expressions(form):
            try:
                value = self.value(rank, expr, file)
            except Fault:
                self.may_fault = True
                return None
            between = 0, size - 1
            if value is None:
                self.may_fault |= role is not Role.VALUE or self._can_fault(rank, expr, file)
            elif role is not Role.VALUE:
                between = domain.range(value)
                room = domain.range(ends[role].plus(linear(value), -1)) if role in ends else between
                self.may_fault |= min(between[0], room[0]) < 0
                if min(between[1], room[1]) < 0:
                    return None
            if role is Role.ADDRESS:
                addresses.append(range(max(between[0], 0), min(between[1], size - 1) + 1))
            named[role].append(value)
        to, queue, value = (next(iter(named[role]), None) for role in (Role.RANK, Role.QUEUE, Role.VALUE))
        accesses = zip(core.accesses_of(form), addresses, strict=True)
        chain = tuple(self._reach(rank, access, to, within) for access, within in accesses)
        files: list[File] = [file]
        match form:
            case core.Assign(register):
                files = [put(file, register, value)]
            case core.Test(blocks=True) if value == 0:
                files = []
            case core.Immediate(register=int(register)):
                files = [put(file, register, None)]
        left = tuple(map(self.files[rank][transition.target].hidden, files))
        return Command(form, transition.target, left, chain, to, queue if isinstance(queue, int) else None)

    def _reach(self, rank: int, access: core.Access[Place], target: Value, addresses: range) -> Reach:
        names = self.case.names
        to = names[rank].me if access.cell.rank is None else target
        ranks = tuple(self.case.named(rank, to))
        cells = self.cells(ranks, addresses)
        if not names[ranks[-1]].rest:
            return Reach(access, cells, cells, only(cells))
        own = self.cells((len(names),), addresses)
        if rank == ranks[0] and to == names[rank].me and not access.commutes:
            return Reach(access, own, cells, None)
        return Reach(access, cells, cells | own, None)

    def _cells(self, ranks: tuple[int, ...], addresses: range) -> frozenset[int]:
        return frozenset(rank * self.instance.size + each for rank in ranks for each in addresses)

    def commands(self) -> Commands:
        """What transitions may do with any of the files at their control states."""
        return [
            [[self._command(rank, at, place) for place in range(len(own))] for at, own in enumerate(automaton.out)]
            for rank, automaton in enumerate(self.instance.automata)
        ]

    def _command(self, rank: int, state: int, place: int) -> Command:
        """What a transition may do with any of the files at its control state."""
        transition = self.instance.automata[rank].out[state][place]
        issues = (self.issue(rank, state, place, file) for file in self.files[rank][state].files)
        found = [issued for issued in issues if issued is not None]
        chain = []
        for number, access in enumerate(core.accesses_of(transition.form)):
            reaches = [each.chain[number] for each in found]
            cells = frozenset(cell for each in reaches for cell in each.cells)
            against = frozenset(cell for each in reaches for cell in each.against)
            chain.append(Reach(access, cells, against, only(each.cell for each in reaches)))
        left = tuple(dict.fromkeys(file for each in found for file in each.files))
        to, queue = only(each.to for each in found), only(each.queue for each in found)
        return Command(transition.form, transition.target, left, tuple(chain), to, queue)


def may_hit(one: Reach, other: Reach) -> bool:
    """Whether two accesses may conflict."""
    return any(meets(one.access, way) for way in ways(other.access)) and not one.cells.isdisjoint(other.against)


def must_hit(reach: Reach, touched: Touched) -> bool:
    """Whether an access is certain to conflict with one of ``touched``."""
    return any(reach.cell == cell and meets(reach.access, way) for cell, way in touched)


def waited_for(case: Case, commands: Commands) -> frozenset[int]:
    """The cells for whose values some command may wait. On every number of nodes a read that may fail is as it is
    written."""
    reads = case.rest and case.instance.reading.failed_polls == "wait"
    every = (command for own in commands for leaving in own for command in leaving)
    immediate = ((each.form, each.chain[0]) for each in every if isinstance(each.form, core.Immediate))
    waiting = (reach for form, reach in immediate if form.may_block or (reads and form.register is not None))
    return frozenset(cell for each in waiting for cell in each.cells | each.against)


def only(found: Iterable[T]) -> T | None:
    """The one value that all have."""
    values = set(found)
    return values.pop() if len(values) == 1 else None
