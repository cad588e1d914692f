"""Finds the commuting updates of cells for whose values some command waits."""

from __future__ import annotations

from functools import reduce

from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.instance import Instance


@remembered
def updates_waited_for(instance: Instance) -> Touched:
    """The updates that commute with their own kind of those cells for whose values some command may wait.

    Several of one kind may have to be delayed at once, so that such a command comes before them (`proofs/attack.md`,
    section 5).
    """
    kinds = instance.update_kinds
    if not kinds:
        return Touched()
    known = ranges(instance)
    cells = reduce(
        int.__or__,
        (
            known.made(rank, state, transition).at_issue.used
            for rank, automaton in enumerate(instance.automata)
            for state, leaving in enumerate(automaton.out)
            for transition in leaving
            if isinstance(transition.form, core.Immediate) and transition.form.may_block
        ),
        0,
    )
    return Touched(updated=tuple((kind, cells) for kind in kinds) if cells else ())
