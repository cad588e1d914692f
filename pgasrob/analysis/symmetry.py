"""Finds the symmetry of an instance: the classes of ranks whose names can be exchanged.

Renaming the ranks of a class maps moves to moves: they have the same automaton, and the types of values say which of
them are ranks (`rank_types`). States need not be symmetric themselves, not even the initial one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from operator import or_

from pgasrob.analysis.common_blocks import common_blocks
from pgasrob.analysis.range_analysis import Ranges, find_ranges
from pgasrob.analysis.rank_types import Symmetry, rank_types
from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.expressions import constant
from pgasrob.program.instance import Instance


@remembered
def symmetry(instance: Instance) -> Symmetry:
    """The symmetry of ``instance``, found from its text."""
    return find_symmetry(instance)


def alike(instance: Instance, steps: Sequence[int]) -> list[int]:
    """The ``steps`` of transitions, rank by rank and state by state, as bits; for interchangeable ranks what some of
    them have."""
    sizes = [len(automaton.transitions) for automaton in instance.automata]
    begins, found = list(accumulate(sizes, initial=0)), list(steps)
    for ranks in symmetry(instance).classes:
        for number in range(sizes[ranks[0]]):
            some = reduce(or_, (steps[begins[rank] + number] for rank in ranks))
            for rank in ranks:
                found[begins[rank] + number] = some
    return found


def find_symmetry(instance: Instance, every_value: bool = False) -> Symmetry:
    """The symmetry of ``instance``; with ``every_value`` renaming preserves all values, and not only those that decide
    something."""
    found = _symmetry(instance, every_value, None)
    indexed = any(constant(access.cell.address) is None for form in instance.forms for access in core.accesses_of(form))
    if found.classes or not indexed or not _classes(instance, frozenset()):
        return found
    # By the text alone an index may be any address; ranges, which need no symmetry, may say which.
    return _symmetry(instance, every_value, find_ranges(instance, found))


def _symmetry(instance: Instance, every_value: bool, known: Ranges | None) -> Symmetry:
    # Types take long to infer, and are of use only if some ranks have the same automaton.
    types = rank_types(instance, every_value, known) if _classes(instance, frozenset()) else None
    classes = _classes(instance, types.fixed) if types is not None else ()
    if types is None or not classes:
        return Symmetry((), (), (None,) * len(instance.registers), (None,) * instance.size, False)
    return Symmetry(classes, types.moving, types.registers, types.cells, types.targets)


def _spins(transition: Transition) -> bool | None:
    """For a read that may fail, whether the rank spins then; ranks that differ in that are not alike."""
    form = transition.form
    until = form.until if isinstance(form, core.Immediate) else None
    return None if until is None else until.spins


def _classes(instance: Instance, fixed: frozenset[int]) -> tuple[tuple[int, ...], ...]:
    """The ranks of one block (`common_blocks`) that are not fixed and have one automaton, but for its constants. None
    where ranks have several threads, which would have to change places together (`proofs/threads.md`)."""
    if instance.has_threads:
        return ()
    processes = common_blocks(instance)
    block = {rank: number for number, process in enumerate(processes) for rank in process.ranks or ()}
    others = next((number for number, process in enumerate(processes) if process.ranks is None), None)
    alike: dict[object, list[int]] = {}
    for rank, automaton in enumerate(instance.automata):
        if rank not in fixed:
            shape = tuple(
                tuple((each.occurrence, each.variant, each.target, _spins(each)) for each in leaving)
                for leaving in automaton.out
            )
            alike.setdefault((block.get(rank, others), shape), []).append(rank)
    return tuple(sorted(tuple(ranks) for ranks in alike.values() if len(ranks) > 1))
