"""Symmetry: ranks whose names can be exchanged.

Renaming the ranks of a class maps moves to moves: they have the same automaton, and where a rank's number is a value
its type says so (`rank_types`). Nothing asks of a state that it is itself symmetric, not even of the initial one.
"""

from __future__ import annotations

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


def find_symmetry(instance: Instance, every_value: bool = False) -> Symmetry:
    """The same; with ``every_value`` renaming ranks maps moves to moves in all that they do, and not only up to values
    that decide nothing."""
    found = _symmetry(instance, every_value, None)
    if found.classes or not _is_worth_ranges(instance):
        return found
    # By the text an index may be any address. It does not have to be renamed to say which it is.
    return _symmetry(instance, every_value, find_ranges(instance, found))


def _symmetry(instance: Instance, every_value: bool, known: Ranges | None) -> Symmetry:
    # Where no ranks do the same their types are of no use, and they take long to find.
    types = rank_types(instance, every_value, known) if _classes(instance, frozenset()) else None
    classes = _classes(instance, types.fixed) if types is not None else ()
    if types is None or not classes:
        return Symmetry((), (), (None,) * len(instance.registers), (None,) * instance.size, False)
    return Symmetry(classes, types.moving, types.registers, types.cells, types.targets)


def _is_worth_ranges(instance: Instance) -> bool:
    """Whether some address depends on a register, and ranks may be alike."""
    indexed = any(constant(access.cell.address) is None for form in instance.forms for access in core.accesses_of(form))
    return indexed and bool(_classes(instance, frozenset()))


def _spins(transition: Transition) -> bool | None:
    """For a read that may fail, whether the rank spins then; ranks that differ in that are not alike."""
    form = transition.form
    until = form.until if isinstance(form, core.Immediate) else None
    return None if until is None else until.spins


def _classes(instance: Instance, fixed: frozenset[int]) -> tuple[tuple[int, ...], ...]:
    """The ranks of one process block that are not fixed and have one automaton, but for its constants."""
    processes = instance.program.processes
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
