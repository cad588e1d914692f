"""What registers may hold, and so what each command may access: checked to be closed under every command.

The evidence has register files for every rank and control state, in which registers may be unknown. Of memory nothing
is known. It is closed when it has the initial file, and with each file what each command leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from pgasrob.certificates.check.order import Operands, Touched, meets, put
from pgasrob.program import core
from pgasrob.program.core import Place, Role
from pgasrob.program.expressions import RELATIONS, Expr, Fault, evaluator, faults_inside, registers_of
from pgasrob.program.instance import Instance

File = tuple[int | None, ...]
Held = frozenset[int] | None
"""Values; None: unknown."""

run, registers_in, can_fault = cache(evaluator), cache(registers_of), cache(faults_inside)


class Files(NamedTuple):
    """The register files at a control state; ``unknown`` registers are None in all."""

    unknown: frozenset[int]
    files: frozenset[File]

    def hidden(self, file: File) -> File:
        return tuple(None if index in self.unknown else value for index, value in enumerate(file))


class Reach(NamedTuple):
    """An access and the cells that it may be to."""

    access: core.Access[Place]
    cells: frozenset[int]


class Command(NamedTuple):
    """What a transition may do: whether it can be issued, its accesses, the operands that are certain (None is not)."""

    form: core.Form
    target: int
    possible: bool
    bound: tuple[Reach, ...]
    steps: tuple[Reach, ...]
    operands: Operands

    @property
    def chain(self) -> tuple[Reach, ...]:
        return self.bound + self.steps


Commands = list[list[list[Command]]]
"""Those of each rank and control state."""


class Issued(NamedTuple):
    """What a command does with one file: the files behind it, as far as they are known there, its accesses, what it may
    write, and what its operands name."""

    files: Sequence[File]
    chain: tuple[Reach, ...]
    bound: tuple[Reach, ...]
    written: frozenset[int]
    queues: Held
    targets: Held
    wait: core.Wait[Any] | None


def is_known(expr: Expr, file: File) -> bool:
    return all(file[each] is not None for each in registers_in(expr))


def choices(expr: Expr, file: File) -> Held:
    """The values that an expression may have; none where it faults."""
    if is_known(expr, file):
        try:
            return frozenset((run(expr)(file),))  # type: ignore[arg-type]
        except Fault:
            return frozenset()
    return None


def may_pass(form: core.Immediate[Place, Expr], file: File, value: int) -> bool:
    """Whether an await, or a read that may fail, may be enabled when its cell holds ``value``."""
    wanted = None if form.condition is None else choices(form.condition.value, file)
    if form.condition and wanted is not None and not any(RELATIONS[form.condition.relation](value, x) for x in wanted):
        return False
    after = file if form.register is None else put(file, form.register, value)
    return form.until is None or not is_known(form.until.holds, after) or form.until.satisfied(after)  # type: ignore[arg-type]


class Values:
    """The evidence. ``may_fault``: whether some command may, once all :meth:`demands` have been asked for."""

    def __init__(self, instance: Instance, files: Sequence[Sequence[Files]]) -> None:
        self.instance, self.files = instance, files
        self.may_fault = False
        self.issue = cache(self._issue)

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

    def _issue(self, rank: int, state: int, place: int, file: File) -> Issued | None:
        """What a transition may do; None where it always faults."""
        form = self.instance.automata[rank].out[state][place].form
        named: dict[Role, list[Held]] = {role: [] for role in Role}
        for role, expr in core.expressions(form):
            found = choices(expr, file)
            end = {Role.ADDRESS: self.instance.size, Role.RANK: self.instance.nodes}.get(role)
            self.may_fault |= not is_known(expr, file) and (can_fault(expr) or role is not Role.VALUE)
            if found is not None:
                legal = frozenset(x for x in found if role is Role.VALUE or (x >= 0 and (end is None or x < end)))
                self.may_fault |= not legal or legal != found
            if (found is not None and not legal) or end == 0:
                return None
            named[role].append(legal if found is not None else None if end is None else frozenset(range(end)))
        values, targets = named[Role.VALUE], named[Role.RANK][0] if named[Role.RANK] else None
        chain, size = [], self.instance.size
        for access, addresses in zip(core.accesses_of(form), named[Role.ADDRESS], strict=True):
            ranks = (rank,) if access.cell.rank is None else targets or ()
            chain.append(Reach(access, frozenset(node * size + each for node in ranks for each in addresses or ())))
        bound = tuple(chain[: len(chain) - len(core.steps_of(form))])
        written = frozenset().union(*(each.cells for each in chain if each.access.writes))
        files: list[File] = [file]
        match form:
            case core.Assign(register):
                files = [put(file, register, each) for each in each_of(values[0])]
            case core.Test(blocks=True) if not any(each != 0 for each in each_of(values[0])):
                files = []
            case core.Immediate(register=int(register)):
                files = [put(file, register, None)]
        queues = named[Role.QUEUE][0] if named[Role.QUEUE] else None
        hidden = self.files[rank][self.instance.automata[rank].out[state][place].target].hidden
        wait = replace(form, queue=only([queues])) if isinstance(form, core.Wait) else None  # type: ignore[arg-type]
        return Issued(tuple(map(hidden, files)), tuple(chain), bound, written, queues, targets, wait)

    def commands(self) -> Commands:
        """What transitions may do with any of the files at their control states."""
        return [
            [[self._command(rank, at, place) for place in range(len(own))] for at, own in enumerate(automaton.out)]
            for rank, automaton in enumerate(self.instance.automata)
        ]

    def _command(self, rank: int, state: int, place: int) -> Command:
        """What a transition may do with any of the files at its control state."""
        transition = self.instance.automata[rank].out[state][place]
        form, accesses = transition.form, core.accesses_of(transition.form)
        issues = (self.issue(rank, state, place, file) for file in self.files[rank][state].files)
        found = [issued for issued in issues if issued is not None]
        cells = [frozenset().union(*(each.chain[number].cells for each in found)) for number in range(len(accesses))]
        reaches, first = tuple(map(Reach, accesses, cells)), len(accesses) - len(core.steps_of(form))
        queue, target = only(each.queues for each in found), only(each.targets for each in found)
        certain: Operands = None
        match form:
            case core.Transfer():
                to = [step.access._replace(cell=only([x])) for step, x in zip(form.steps, cells[first:], strict=True)]  # type: ignore[arg-type]
                steps = tuple(step._replace(access=each) for step, each in zip(form.steps, to, strict=True))
                certain = replace(form, rank=target, queue=queue, steps=steps)  # type: ignore[arg-type]
            case core.Bundle() | core.Barrier():
                certain = form
            case core.Wait():
                certain = replace(form, queue=queue)  # type: ignore[arg-type]
            case core.Fence(_, named) if named is None or target is not None:
                certain = replace(form, queue=queue, rank=target)  # type: ignore[arg-type]
        possible = any(each.files for each in found)
        return Command(form, transition.target, possible, reaches[:first], reaches[first:], certain)


def must_hit(reach: Reach, touched: Touched) -> bool:
    """Whether an access is certain to conflict with one of ``touched``."""
    return any(reach.cells == {cell} and meets(reach.access, way) for cell, way in touched)


def waited_for(commands: Commands) -> frozenset[int]:
    """The cells for whose values some command may wait."""
    every = (command for own in commands for leaving in own for command in leaving)
    waiting = (each for each in every if isinstance(each.form, core.Immediate) and each.form.may_block)
    return frozenset(cell for each in waiting for cell in each.chain[0].cells)


def each_of(values: Held) -> Iterable[int | None]:
    return (None,) if values is None else values


def only(sets: Iterable[Held]) -> int | None:
    """The one value that all the sets have, when there are no others."""
    found = {each for values in sets for each in each_of(values)}
    return found.pop() if len(found) == 1 else None
