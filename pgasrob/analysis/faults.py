"""Whether a program can fault, by the ranges of what it computes with."""

from __future__ import annotations

from pgasrob.analysis.cell_values import cells_exclude_faults
from pgasrob.analysis.ranges import ranges
from pgasrob.program.instance import Instance


def cannot_fault(instance: Instance) -> bool:
    """Whether no command of any rank faults on any run."""
    known = ranges(instance)
    by_ranges = not any(
        known.may_fault(rank, state, transition.form)
        for rank, automaton in enumerate(instance.automata)
        for state, leaving in enumerate(automaton.out)
        for transition in leaving
    )
    return by_ranges or cells_exclude_faults(instance)
