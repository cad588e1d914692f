"""Says why something cannot happen now: the next command of a rank, or the next step of an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from pgasrob.explore.position import Position
from pgasrob.program import core
from pgasrob.program.commands import Exit
from pgasrob.program.control import Transition
from pgasrob.program.expressions import RELATIONS, Fault
from pgasrob.render.double_values import value
from pgasrob.render.english import listed, ranks
from pgasrob.semantics.effect import put
from pgasrob.semantics.state_space import Operation

MOST_NAMED = 3
"""Operations that are named one by one."""

Named = Callable[[int, int], str]
"""Names an operation of a rank: `the put of line 4`."""


def why_not_issued(position: Position, rank: int, transition: Transition, named: Named) -> str | None:
    """Why ``rank`` cannot issue its next command ``transition``; None when it can, as far as it alone is concerned."""
    instance, state = position.instance, position.state
    try:
        operands = instance.operands(rank, transition, state.registers[rank])
    except Fault as fault:
        return f"it cannot be evaluated: {fault}"
    match operands:
        case core.Test(condition, blocks):
            if not blocks or condition:
                return None
            return "it ends the run of all" if isinstance(transition.command, Exit) else "its condition is false"
        case core.Immediate(access, condition, _, register, until):
            found, cell, doubles = state.memory[access.cell], instance.cell_name(access.cell), instance.program.doubles
            shown = value(cell, found, doubles)
            if condition is not None and not RELATIONS[condition.relation](found, condition.value):
                wanted = value(cell, condition.value, doubles)
                return f"it waits until {cell} {condition.relation} {wanted}; it is {shown}"
            registers = state.registers[rank] if register is None else put(state.registers[rank], register, found)
            if until is not None and not until.satisfied(registers):
                return f"it polls {cell} until it changes; it is still {shown}"
            return None
        case core.Wait(queue, local):
            waited = [
                operation
                for operation in position.pending[rank]
                if (left := position.operation(rank, operation)).queue == queue
                and (not local or any(step.local for step in left.left))
            ]
            if not waited:
                return None
            return f"it waits for {_these(rank, waited, named)}{' to be done locally' * local}"
        case core.Barrier(name):
            return _absent(position, name)
        case core.Assign() | core.Transfer() | core.Fence() | core.Bundle():
            return None
        case _:
            assert_never(operands)


def _absent(position: Position, name: str) -> str | None:
    """Why the barrier ``name`` waits: ranks that are not there, or are at another one; None when all are there."""
    leaving = position.instance.by_rank(
        [
            automaton.out[control]
            for automaton, control in zip(position.instance.automata, position.state.control, strict=True)
        ]
    )
    barriers = [{each.form.name for each in out if isinstance(each.form, core.Barrier)} for out in leaving]
    if other := [rank for rank, names in enumerate(barriers) if names and name not in names]:
        return f"{ranks(other)} {'stands' if len(other) == 1 else 'stand'} before another barrier"
    absent = [rank for rank, names in enumerate(barriers) if not names]
    if not absent:
        return None
    ended = [rank for rank in absent if not leaving[rank]]
    message = f"it waits for {ranks(absent)}"
    return message + (f"; {ranks(ended)} {'has' if len(ended) == 1 else 'have'} ended" if ended else "")


def why_not_yet(position: Position, rank: int, operation: int, named: Named) -> str | None:
    """Why the next step of a pending operation has to wait; None when it may come."""
    rule = position.held(rank, operation)
    if rule is None:
        return None
    place = position.pending[rank].index(operation)
    mine = position.operation(rank, operation)
    step = mine.left[0]
    earlier = {other: position.operation(rank, other) for other in position.pending[rank][:place]}

    def those(wanted: Callable[[Operation], bool]) -> str:
        return _these(rank, [other for other, left in earlier.items() if wanted(left)], named)

    match rule:
        case "queue":
            ahead = those(lambda left: left.queue == mine.queue and any(each.stage == step.stage for each in left.left))
            program = position.instance.program
            if not program.source.shows_commands:
                return f"operations like it keep their order, and {ahead} comes first"
            return f"queue {program.queue_name(mine.queue)} is FIFO, and {ahead} comes first"
        case "fence":
            ahead = those(lambda left: left.queue == mine.queue and left.target == mine.target and left.writes)
            return f"a fence lets {ahead} arrive first"
        case "writes":
            queues = [left.queue for left in earlier.values()] if mine.everywhere else [mine.queue]
            ahead = those(lambda left: left.writes and left.target == mine.target and left.queue in queues)
            return f"it notifies of what comes before: {ahead} must arrive first"
        case "bundle":
            return "it signals that its own data is there, which is still on the way"
        case "cell":
            cell = step.access.cell
            ahead = those(lambda left: any(each.located and each.access.cell == cell for each in left.left))
            return f"{ahead} acts on the same cell first"
        case _:
            assert_never(rule)


def _these(rank: int, operations: Sequence[int], named: Named) -> str:
    names = list(dict.fromkeys(named(rank, operation) for operation in operations))
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return listed(names)
