"""In which order interchangeable ranks need to come to a cell that each of them accesses first.

Ranks of one class (`analysis.symmetry`) whose first atomics are on one cell come to it in some order in each run, and
by renaming them in the order of their numbers, those last that never come. So a search that asks nothing about names
may leave out the other orders (`proofs/traces.md`, section 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from pgasrob.analysis.counters import KnownCell, known_cell
from pgasrob.analysis.rank_types import Symmetry
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.symmetry import symmetry
from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.instance import Instance


class Behind(NamedTuple):
    """The event number ``place`` of a rank (counted from 0) comes behind that of ``rank``."""

    rank: int
    place: int


@remembered
def line_up(instance: Instance) -> tuple[Behind | None, ...]:
    """For each process of ``instance`` behind whom it comes; None for those that come when they like."""
    found: list[Behind | None] = [None] * instance.processes
    for ranks in symmetry(instance).classes:
        firsts = {first_contended(instance, rank) for rank in ranks}
        if len(firsts) != 1 or (first := firsts.pop()) is None:
            continue
        for before, rank in pairwise(_alike_at_first(instance, symmetry(instance), ranks)):
            found[rank] = Behind(before, first[0])
    return tuple(found)


def first_contended(instance: Instance, rank: int) -> tuple[int, KnownCell] | None:
    """The number of the event of ``rank`` in which it first accesses a known cell by an atomic that conflicts with
    itself, and the cell; None where there is none among the commands of each run."""
    for place, form in enumerate(_always_first(instance.automata[rank])):
        match form:
            case core.Immediate(core.Access(where, True, True, "", ()), None, _, _, None):
                cell = known_cell(where)
                return None if cell is None else (place, cell)
    return None


def _always_first(automaton: ControlAutomaton) -> Iterator[core.Form]:
    """The commands with which each run of a process begins, if it comes so far."""
    state, seen = 0, set[int]()
    while len(automaton.out[state]) == 1 and state not in seen:
        seen.add(state)
        (edge,) = automaton.out[state]
        yield edge.form
        if edge.last:
            return
        state = edge.target


def _alike_at_first(instance: Instance, found: Symmetry, ranks: Iterable[int]) -> list[int]:
    """Those of ``ranks`` that can change names in the initial state, too: it does not name them, and their cells hold
    the same. Ascending."""
    size, memory = instance.size, instance.memory
    named = {value - k for value, k in zip(instance.registers, found.registers, strict=True) if k is not None}
    named |= {value - k for cell, value in enumerate(memory) if (k := found.cells[cell % size]) is not None}
    own = {rank: tuple(memory[rank * size + address] for address in found.moving) for rank in ranks}
    left = sorted(own.keys() - named)
    return [rank for rank in left if own[rank] == own[left[0]]]
