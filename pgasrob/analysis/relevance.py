"""Finds the registers and cells whose values matter: they decide what a rank does, or whether it faults.

Robustness depends on which cells are accessed in which order, so a value that is only copied and computed with makes no
difference to the search, and liveness may forget it even while it is still read. Data that a stencil sums up or a lock
protects is mostly of that kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.core import Form
from pgasrob.program.deciding import Command, Deciding, deciding_expressions
from pgasrob.program.expressions import registers_of
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point


@dataclass(frozen=True, slots=True)
class Relevance:
    """``registers``: for every rank those that may decide something. ``cells``: the cells that may, a bit set."""

    registers: tuple[frozenset[int], ...]
    cells: int


def relevance(instance: Instance, assertions: bool = True) -> Relevance:
    """The registers and cells of ``instance`` whose values may decide something; with ``assertions`` also those that
    decide whether an assertion fails."""
    commands = (
        Command(rank, form, touched.used, touched.changed)
        for rank in range(instance.processes)
        for form, touched in _touched(instance, rank)
    )
    found = Deciding(commands, instance.processes, assertions)
    return Relevance(tuple(map(frozenset, found.registers)), found.cells)


def needed_registers(instance: Instance, cells: int, assertions: bool = True) -> list[list[frozenset[int]]]:
    """For every rank and control state the registers whose values there may decide something, when of the cells
    ``cells`` may (`Relevance.cells` for the same ``assertions``)."""
    return [_needed(instance, rank, cells, assertions) for rank in range(instance.processes)]


def _needed(instance: Instance, rank: int, cells: int, assertions: bool) -> list[frozenset[int]]:
    known, out = ranges(instance), instance.automata[rank].out
    found: list[frozenset[int]] = [frozenset()] * len(out)
    changed = True
    while changed:
        stop_point()
        changed = False
        for state in reversed(range(len(out))):
            needed = found[state]
            for transition in out[state]:
                form, later = transition.form, found[transition.target]
                register, written = core.register_set(form), known.touched(rank, state, transition).changed
                if not known.named(rank, state, transition).possible:
                    continue
                computes = register in later or bool(written & cells)
                exprs = (
                    (expr for _, expr in core.expressions(form)) if computes else deciding_expressions(form, assertions)
                )
                needed = needed.union(later - {register}, core.registers_compared(form), *map(registers_of, exprs))
            if needed != found[state]:
                found[state], changed = needed, True
    return found


def _touched(instance: Instance, rank: int) -> Iterator[tuple[Form, Touched]]:
    """The commands of ``rank``, each with the accesses that it may make wherever it stands."""
    known, found = ranges(instance), dict[tuple[int, int], tuple[Form, Touched]]()
    for state, leaving in enumerate(instance.automata[rank].out):
        for transition in leaving:
            key = transition.occurrence, transition.variant
            _, made = found.get(key, (transition.form, Touched()))
            found[key] = transition.form, made.joined(known.touched(rank, state, transition))
    yield from found.values()
