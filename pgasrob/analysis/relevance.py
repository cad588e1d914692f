"""Which values decide anything: what a rank does, where it does it, whether it faults or fails an assertion.

A value that is only copied and computed with is the same to the search whatever it is: robustness is about who accesses
what and in which order. So liveness may forget it even while it is still read. Data that a stencil sums up or a lock
protects is mostly of that kind.

The analysis is a fixpoint over registers and cells that ignores the order of commands: what decides something does so
from the beginning to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.core import Form, Role
from pgasrob.program.expressions import Expr, faults_inside, registers_of
from pgasrob.program.instance import Instance


@dataclass(frozen=True, slots=True)
class Relevance:
    """``registers``: for every rank those that may decide something. ``cells``: the cells that may, a bit set."""

    registers: tuple[frozenset[int], ...]
    cells: int


def relevance(instance: Instance, assertions: bool = True) -> Relevance:
    """The registers and cells of ``instance`` whose values may decide something; whether assertions fail, only with
    ``assertions``."""
    analysis = _Analysis(instance, assertions)
    while analysis.pass_over():
        pass
    return Relevance(tuple(frozenset(registers) for registers in analysis.registers), analysis.cells)


def needed_registers(instance: Instance, cells: int, assertions: bool = True) -> list[list[frozenset[int]]]:
    """For every rank and control state the registers whose values there may decide something, when of the cells
    ``cells`` may (`Relevance.cells` for the same ``assertions``)."""
    return [_needed(instance, rank, cells, assertions) for rank in range(instance.nodes)]


def _needed(instance: Instance, rank: int, cells: int, assertions: bool) -> list[frozenset[int]]:
    known, out = ranges(instance), instance.automata[rank].out
    found: list[frozenset[int]] = [frozenset()] * len(out)
    changed = True
    while changed:
        changed = False
        for state in reversed(range(len(out))):
            needed = found[state]
            for transition in out[state]:
                form, later = transition.form, found[transition.target]
                register, written = core.register_set(form), known.touched(rank, state, transition).changed
                if not known.named(rank, state, transition).possible:
                    continue
                computes = register in later or bool(written & cells)
                exprs = (expr for _, expr in core.expressions(form)) if computes else _deciding(form, assertions)
                needed = needed.union(later - {register}, core.registers_compared(form), *map(registers_of, exprs))
            if needed != found[state]:
                found[state], changed = needed, True
    return found


class _Analysis:
    def __init__(self, instance: Instance, assertions: bool) -> None:
        self.instance = instance
        self.registers: list[set[int]] = [set() for _ in range(instance.nodes)]
        self.cells = 0
        self.commands = [
            (rank, form, touched.used, touched.changed)
            for rank in range(instance.nodes)
            for form, touched in _touched(instance, rank)
        ]
        for rank, form, read, _ in self.commands:
            for expr in _deciding(form, assertions):
                self.registers[rank] |= registers_of(expr)
            self.registers[rank] |= core.registers_compared(form)
            if _has_condition(form, assertions):
                self.cells |= read

    def pass_over(self) -> bool:
        """Go over all commands once; says whether something was added."""
        added = False
        for rank, form, read, written in self.commands:
            before = len(self.registers[rank]), self.cells
            self.follow(rank, form, read, written)
            added |= before != (len(self.registers[rank]), self.cells)
        return added

    def follow(self, rank: int, form: Form, read: int, written: int) -> None:
        """What a command computes from decides something when its result does."""
        registers = self.registers[rank]
        if written & self.cells or core.register_set(form) in registers:
            self.cells |= read
            for _, expr in core.expressions(form):
                registers |= registers_of(expr)


def _touched(instance: Instance, rank: int) -> Iterator[tuple[Form, Touched]]:
    """The commands of ``rank``, each with the accesses that it may make wherever it stands."""
    known, found = ranges(instance), dict[tuple[int, int], tuple[Form, Touched]]()
    for state, leaving in enumerate(instance.automata[rank].out):
        for transition in leaving:
            key = transition.occurrence, transition.variant
            _, made = found.get(key, (transition.form, Touched()))
            found[key] = transition.form, made.joined(known.touched(rank, state, transition))
    yield from found.values()


def _deciding(form: Form, assertions: bool) -> Iterator[Expr]:
    """The expressions of a command that decide something by themselves."""
    for role, expr in core.expressions(form):
        if role is not Role.VALUE or _has_condition(form, assertions) or faults_inside(expr):
            yield expr


def _has_condition(form: Form, assertions: bool) -> bool:
    """Whether a command compares what it is given: an assume, an assert, an await."""
    match form:
        case core.Test(_, blocks):
            return blocks or assertions
        case core.Immediate():
            return form.may_block
        case _:
            return False
