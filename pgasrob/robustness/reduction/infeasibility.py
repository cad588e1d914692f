"""Infeasibility: finds, without a search, the steps that may be the source of an attack (*choosable* steps).

For every step that can be a source a fixpoint that ignores values asks what the attack search could do from there on:
which ranks get tainted, what their commands access, and whether some command may be e. Whatever the search can do the
fixpoint (`fixpoint`) can, so a step after which it finds no e is not choosable, and the search need not try it. The
proof is in `proofs/reductions.md`, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.analysis.faults import cannot_fault
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.symmetry import symmetry
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance
from pgasrob.robustness.reduction import fixpoint
from pgasrob.robustness.reduction.abstract_commands import Access, Command, Commands, known_operands
from pgasrob.robustness.reduction.fixpoint import Fixpoint
from pgasrob.robustness.reduction.setting import Setting


def choosable(instance: Instance) -> list[int]:
    """For each transition, rank by rank and state by state, the steps that are choosable as the source.

    Bit i stands for step i; commands without steps have 0. Interchangeable ranks have the same.
    """
    setting = Setting(commands(instance))
    alike = {rank: ranks[0] for ranks in symmetry(instance).classes for rank in ranks}
    found: list[list[int]] = []
    for rank in range(instance.processes):
        first = alike.get(rank, rank)
        found.append(_choosable(setting, rank) if first == rank else found[first])
    return [steps for of_rank in found for steps in of_rank]


def _choosable(setting: Setting, rank: int) -> list[int]:
    found = []
    for state, leaving in enumerate(setting.commands[rank]):
        others = setting.states_of_others(rank, state)
        for command in leaving:
            steps = 0
            for step in range(len(command.in_steps) if command.possible and others else 0):
                if setting.looks > fixpoint.LOOKS or Fixpoint(setting, others, rank, state, command, step).finds_e():
                    steps |= 1 << step
            found.append(steps)
    return found


def commands(instance: Instance) -> Commands:
    """What the ranks of ``instance`` do."""
    planes = Planes(len(instance.memory), instance.update_kinds)
    return Commands(
        [
            [
                [_command(instance, planes, rank, state, each) for each in leaving]
                for state, leaving in enumerate(rows.out)
            ]
            for rank, rows in enumerate(instance.automata)
        ],
        instance,
        planes.cells,
        len(planes.kinds),
        planes.bits(updates_waited_for(instance)),
        threads=instance.has_threads,
    )


def _command(instance: Instance, planes: Planes, rank: int, state: int, transition: Transition) -> Command:
    known = ranges(instance)
    named, made = known.named(rank, state, transition), known.made(rank, state, transition)

    def access(touched: Touched) -> Access:
        return Access(planes.bits(touched), planes.against(touched), touched.cells.bit_count() == 1)

    at_issue = access(made.at_issue) if made.at_issue != Touched() else None
    cells = [touched.cells.bit_length() - 1 if touched.cells.bit_count() == 1 else None for touched in made.steps]
    operands = known_operands(transition.form, single(named.queue), single(named.rank), cells)
    return Command(transition.target, at_issue, tuple(map(access, made.steps)), operands, named.possible)


def is_settled(instance: Instance, choosable: Sequence[int]) -> bool:
    """Whether there is nothing to search: no attack can begin, and the SC runs have nothing to show.

    They show failed assertions, illegal calls, faults, and deadlocks where ranks wait for each other.
    """
    if any(choosable):
        return False
    return not instance.has_claims and not instance.can_wait and cannot_fault(instance)
