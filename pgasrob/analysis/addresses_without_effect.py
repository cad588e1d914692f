"""Finds addresses on which nothing that SC runs show depends, and puts a fixed one in their place.

Slots that a counter gives out are often only filled with data: whichever slot a rank has, it goes on alike. Faults,
failed assertions and deadlocks of SC runs then do not depend on the counter either, and the orders in which ranks take
numbers come to the same. The proof is in `proofs/reductions.md`, section 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.relevance import relevance
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Form, Place
from pgasrob.program.expressions import Const, constant
from pgasrob.program.instance import Instance

Command = tuple[int, int, int]
"""A rank, the occurrence of a command of it, and the variant of that."""


def with_fixed_addresses(instance: Instance) -> Instance:
    """``instance`` with constants for addresses that change no fault, failed assertion or deadlock of SC runs: the
    same automata, command by command. Itself where there are none."""
    fixed = {} if instance.accessed is not None else _candidates(instance)  # a recorded run has no such addresses
    while fixed:
        changed = _changed(instance, {command: addresses for command, (addresses, _) in fixed.items()})
        cells = relevance(changed).cells
        # By one of these cells a value that decides something would go another way.
        wrong = [command for command, (_, touched) in fixed.items() if touched & cells]
        if not wrong:
            return changed
        for command in wrong:
            del fixed[command]
    return instance


def _candidates(instance: Instance) -> dict[Command, tuple[tuple[int, ...], int]]:
    """The commands whose addresses depend on registers, never fault, and stand in no loop without an end (there it
    matters whose data a rank passes on): an address for each access, and the cells that all of them may be to."""
    found: dict[Command, tuple[tuple[int, ...], int]] = {}
    others: set[Command] = set()
    for rank, automaton in enumerate(instance.automata):
        for state, leaving in enumerate(automaton.out):
            for transition in leaving:
                if all(constant(access.cell.address) is not None for access in core.accesses_of(transition.form)):
                    continue
                known, command = ranges(instance), (rank, transition.occurrence, transition.variant)
                if instance.endless[rank][state] or known.may_fault(rank, state, transition.form):
                    others.add(command)
                named = known.named(rank, state, transition)
                if named.possible:
                    addresses, touched = found.get(command, (tuple(each.start for each in named.addresses), 0))
                    found[command] = addresses, touched | known.touched(rank, state, transition).cells
    return {command: each for command, each in found.items() if command not in others}


def _changed(instance: Instance, fixed: Mapping[Command, tuple[int, ...]]) -> Instance:
    """``instance`` with these addresses of the accesses of these commands."""

    def changed(rank: int, transition: Transition) -> tuple[Transition]:
        addresses = fixed.get((rank, transition.occurrence, transition.variant))
        if addresses is None:
            return (transition,)
        return (transition.with_form(_at(transition.form, addresses), transition.variant),)

    automata = enumerate(instance.automata)
    return instance.with_automata(tuple(automaton.with_edges(partial(changed, rank)) for rank, automaton in automata))


def _at(form: Form, addresses: Sequence[int]) -> Form:
    """``form`` with these addresses of its accesses."""
    left = iter(addresses)

    def moved(access: core.Access[Place]) -> core.Access[Place]:
        return access._replace(cell=access.cell._replace(address=Const(next(left))))

    match form:
        case core.Immediate():
            return replace(form, access=moved(form.access))
        case core.Transfer():
            captured = None if form.captured is None else moved(form.captured)
            steps = tuple(step._replace(access=moved(step.access)) for step in form.steps)
            return replace(form, captured=captured, steps=steps)
        case _:
            return form
