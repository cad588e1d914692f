"""Symmetry: ranks whose names can be exchanged.

Renaming the ranks of a class maps moves to moves: they have the same automaton, and where a rank's number is a value
its type says so (`rank_types`). Nothing asks of a state that it is itself symmetric, not even of the initial one.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.analysis.rank_types import rank_types
from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Which ranks are interchangeable, and what goes with a rank when its name is exchanged.

    - ``classes``: the ranks that can be exchanged for each other, each class ascending with two or more; () for none.
    - ``moving``: the addresses whose cells belong to the rank they lie on and move with it, ascending.
    - ``registers``, ``cells``: for every register and every address k when it holds a rank plus k, else None.
    - ``targets``: whether the targets of unordered queues in a placement are ranks that are renamed.
    """

    classes: tuple[tuple[int, ...], ...]
    moving: tuple[int, ...]
    registers: tuple[int | None, ...]
    cells: tuple[int | None, ...]
    targets: bool


@remembered
def symmetry(instance: Instance) -> Symmetry:
    """The symmetry of ``instance``, found from its text."""
    return find_symmetry(instance)


def find_symmetry(instance: Instance, every_value: bool = False) -> Symmetry:
    """The same; with ``every_value`` renaming ranks maps moves to moves in all that they do, and not only up to values
    that decide nothing."""
    types = rank_types(instance, every_value)
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
