"""What registers may hold, and so what each command may access: checked to be closed under every command.

The evidence has register files for every rank and control state, in which registers may be unknown. Of memory nothing
is known. It is closed when it has the initial file, and with each file what each command leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from pgasrob.certificates.check.order import Ordered
from pgasrob.program import core
from pgasrob.program.core import Form, Place, Role
from pgasrob.program.expressions import OPERATORS, Binary, Const, Expr, Fault, evaluator, faults_inside, registers_of
from pgasrob.program.instance import Instance

File = tuple[int | None, ...]
Held = frozenset[int] | None
"""Values; None: unknown."""
SEVERAL = 64
"""Combinations of values that are tried where an operator has an operand that is not certain."""

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
    """What a transition may do: whether it can be issued, its accesses, what is certain for completion rules."""

    target: int
    possible: bool
    bound: tuple[Reach, ...]
    steps: tuple[Reach, ...]
    ordered: Ordered | core.Operands | None

    @property
    def chain(self) -> tuple[Reach, ...]:
        return self.bound + self.steps


class Issued(NamedTuple):
    """What a command does with one file: the files behind it, and what its operands name."""

    files: Sequence[File]
    cells: Sequence[frozenset[int]]
    queues: Held
    targets: Held


def is_unknown(expr: Expr, file: File) -> bool:
    return any(file[each] is None for each in registers_in(expr))


def choices(expr: Expr, file: File) -> Held:
    """The values that an expression may have; none where it faults."""
    match expr:
        case _ if not is_unknown(expr, file):
            try:
                return frozenset((run(expr)(file),))  # type: ignore[arg-type]
            except Fault:
                return frozenset()
        case Binary("%", _, Const(divisor)) if 0 < divisor <= SEVERAL:
            return frozenset(range(1 - divisor, divisor))
        case Binary(symbol, left, right, type) if symbol in OPERATORS and not can_fault(expr):
            one, other = choices(left, file), choices(right, file)
            if one is not None and other is not None and len(one) * len(other) <= SEVERAL:
                return frozenset(OPERATORS[symbol](*each, type) for each in product(one, other))
    return None


class Values:
    """The evidence. ``may_fault``: whether some command may, once all :meth:`demands` have been asked for."""

    def __init__(self, instance: Instance, files: Sequence[Sequence[Files]]) -> None:
        self.instance, self.files = instance, files
        self.may_fault = False

    def demands(self) -> Iterator[tuple[int, int, File]]:
        """What is missing, by rank and control state; nothing when the evidence is closed."""
        for rank, automaton in enumerate(self.instance.automata):
            yield from self._missing(rank, 0, self.instance.registers)
            for state, leaving in enumerate(automaton.out):
                for file, transition in product(self.files[rank][state].files, leaving):
                    issued = self.issue(rank, transition.form, file)
                    for after in issued.files if issued else ():
                        yield from self._missing(rank, transition.target, after)

    def _missing(self, rank: int, state: int, file: File) -> Iterator[tuple[int, int, File]]:
        known = self.files[rank][state]
        if known.hidden(file) not in known.files:
            yield rank, state, file

    def issue(self, rank: int, form: Form, file: File) -> Issued | None:
        """What a command may do; None where it always faults."""
        named: dict[Role, list[Held]] = {role: [] for role in Role}
        for role, expr in core.expressions(form):
            values = choices(expr, file)
            end = {Role.ADDRESS: self.instance.size, Role.RANK: self.instance.nodes}.get(role)
            self.may_fault |= is_unknown(expr, file) and (can_fault(expr) or role is not Role.VALUE)
            if values is None:
                legal = None if end is None else frozenset(range(end))
            else:
                legal = frozenset(x for x in values if role is Role.VALUE or (x >= 0 and (end is None or x < end)))
                self.may_fault |= not legal or legal != values
            if legal is not None and not legal:
                return None
            named[role].append(legal)
        targets, queues = (named[role][0] if named[role] else None for role in (Role.RANK, Role.QUEUE))
        cells = []
        for access, addresses in zip(core.accesses_of(form), named[Role.ADDRESS], strict=True):
            ranks = (rank,) if access.cell.rank is None else targets or ()
            cells.append(frozenset(node * self.instance.size + each for node in ranks for each in addresses or ()))
        files: list[File] = [file]
        match form:
            case core.Assign(register):
                files = [_with(file, register, each) for each in _each(named[Role.VALUE][0])]
            case core.Test(blocks=True) if not any(each != 0 for each in _each(named[Role.VALUE][0])):
                files = []
            case core.Immediate(register=int(register)):
                files = [_with(file, register, None)]
        return Issued(files, cells, queues, targets)

    def command(self, rank: int, state: int, place: int) -> Command:
        """What a transition may do with any of the files at its control state."""
        transition = self.instance.automata[rank].out[state][place]
        form, accesses = transition.form, core.accesses_of(transition.form)
        issues = (self.issue(rank, form, file) for file in self.files[rank][state].files)
        found = [issued for issued in issues if issued is not None]
        cells = [frozenset().union(*(each.cells[number] for each in found)) for number in range(len(accesses))]
        reaches, first = tuple(map(Reach, accesses, cells)), len(accesses) - len(core.steps_of(form))
        queue, target = _only(each.queues for each in found), _only(each.targets for each in found)
        known: Ordered | core.Operands | None = None
        match form:
            case core.Transfer():
                to = [_only([each.cells]) for each in reaches[first:]]
                known = Ordered(queue, target, form.steps, to, form.everywhere)
            case core.Bundle() | core.Barrier():
                known = form
            case core.Wait(_, local) if queue is not None:
                known = core.Wait(queue, local)
            case core.Fence(_, named) if queue is not None and (named is None or target is not None):
                known = core.Fence(queue, target)
        return Command(transition.target, any(each.files for each in found), reaches[:first], reaches[first:], known)


def _with(file: File, register: int, value: int | None) -> File:
    return (*file[:register], value, *file[register + 1 :])


def _each(values: Held) -> Iterable[int | None]:
    return (None,) if values is None else values


def _only(sets: Iterable[Held]) -> int | None:
    """The one value that all the sets have, when there are no others."""
    found = {each for values in sets for each in _each(values)}
    return found.pop() if len(found) == 1 else None
