"""Merging: local commands that a rank has no choice about belong to the step before them.

They touch no memory, so no other rank sees when they happen. A spin loop becomes an edge from a state to itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Registers
from pgasrob.reference.attack import State
from pgasrob.robustness.normal_form import Letter, Word, word_of
from pgasrob.semantics.effect import issue

MOST = 1_000
"""Commands of a rank that are merged at a time: a local loop may have no end."""


def merged(instance: Instance, state: State, ranks: Iterable[int]) -> tuple[Word, State]:
    """``state`` after the local commands that ``ranks`` cannot but issue now, and the events of these.

    A rank that comes back to where it has been stays there: what would follow it has done already
    (`proofs/reductions.md`, section 3).
    """
    control, registers = list(state.control), list(state.registers)
    word: list[tuple[int, Letter]] = []
    for rank in ranks:
        been = {(control[rank], registers[rank])}
        for _ in range(MOST):
            only = _only_command(instance, rank, control[rank], registers[rank])
            if only is None:
                break
            transition, operands = only
            after = issue(operands, registers[rank], state.memory)
            assert after is not None, "the command is enabled"
            control[rank], registers[rank] = transition.target, after[0]
            word += word_of(rank, transition, operands)
            here = control[rank], registers[rank]
            if here in been:
                break
            been.add(here)
    if not word:
        return (), state
    return tuple(word), state._replace(control=tuple(control), registers=tuple(registers))


def _only_command(
    instance: Instance, rank: int, control: int, registers: Registers
) -> tuple[Transition, Operands] | None:
    """The one command that ``rank`` can issue, when all its next commands are local and none of them is to be
    reported: a fault, a false assertion."""
    leaving = instance.automata[rank].out[control]
    if not all(isinstance(transition.form, core.Assign | core.Test) for transition in leaving):
        return None
    try:
        issued = [(transition, instance.operands(rank, transition, registers)) for transition in leaving]
    except Fault:
        return None
    false = [choice for choice in issued if isinstance(choice[1], core.Test) and not choice[1].condition]
    if any(isinstance(operands, core.Test) and not operands.blocks for _, operands in false):
        return None
    enabled = [choice for choice in issued if choice not in false]
    return enabled[0] if len(enabled) == 1 else None
