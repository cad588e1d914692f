"""Liveness: what no later command can use is forgotten, and an attack that can lead nowhere is given up.

What can still be used is what the commands that may come can touch, whatever the values (`futures`), and of that what
may decide anything (`relevance`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import assert_never

from pgasrob.analysis.futures import (
    FENCED,
    ISSUED,
    LOCATED,
    NOTIFIED,
    SIGNALLED,
    WAITED,
    WAITED_LOCAL,
    Futures,
)
from pgasrob.analysis.placement import Kind, Placement, wait_is_over
from pgasrob.analysis.relevance import relevance
from pgasrob.analysis.touched import Touched
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.reference.attack import Attack, State


def has_ended(instance: Instance, state: State, rank: int) -> bool:
    """Whether ``rank`` has ended because D blocks it for ever: it is in a state that its automaton does not have."""
    return state.control[rank] == len(instance.automata[rank].out)


def without_blocked(instance: Instance, state: State) -> State:
    """(L1): ``state`` with the ranks ended whose next commands are all waits that D blocks."""
    if state.attack is None:
        return state
    control = tuple(
        len(instance.automata[rank].out) if _is_blocked(instance, state, rank) else state.control[rank]
        for rank in range(instance.processes)
    )
    return state._replace(control=control)


def _is_blocked(instance: Instance, state: State, rank: int) -> bool:
    if has_ended(instance, state, rank):
        return False
    leaving = instance.automata[rank].out[state.control[rank]]
    issued = list(instance.evaluated(rank, state.control[rank], state.registers[rank]))
    if not leaving or len(issued) < len(leaving):
        return False  # A barrier is no wait, nor is a command that cannot be evaluated.
    return not any(wait_is_over(state.placement[rank], operands) for _, operands in issued)


class Liveness:
    """Replaces what no later command can use in the states of an instance: rules (L1) to (L6) of
    `proofs/reductions.md`, section 4.

    ``registers`` and ``cells`` are the values that take the place of forgotten ones, for a register file and for the
    flat memory. ``races``: an attack leads to races, not to cycles, and no cycle has to enter it.
    """

    def __init__(
        self, instance: Instance, futures: Futures, registers: Registers, cells: Memory, races: bool = False
    ) -> None:
        self._instance = instance
        self._futures = futures
        self._relevance = relevance(instance)
        self._registers = registers
        self._cells = cells
        self._races = races

    def reduced(self, state: State) -> State | None:
        """``state`` without what no later command can use; None when its attack can lead nowhere."""
        futures, state = self._futures, without_blocked(self._instance, state)
        going = [rank for rank in range(self._instance.processes) if not has_ended(self._instance, state, rank)]
        later = reduce(Touched.joined, (futures.ever[rank][state.control[rank]] for rank in going), Touched())
        attack, placement = state.attack, state.placement
        if attack is not None:
            attack = self._attack(state, attack, going, later)
            if self._races:
                leads_on = self._meets(state, attack, going, later)
            else:  # something can come that goes before the source, and the cycle can still enter it
                entered = attack.tainted or attack.done != Touched() or attack.delayed != Touched()
                leads_on = bool(entered and later.hits(attack.source))
            if not leads_on:
                return None
            placement = tuple(self._placement(state, rank, rank in going) for rank in range(self._instance.processes))
        registers = tuple(self._file(state, rank, rank in going) for rank in range(self._instance.processes))
        memory = _kept(state.memory, later.used & self._relevance.cells, self._cells)  # (L3)
        return State(state.control, registers, memory, placement, attack)

    def _meets(self, state: State, attack: Attack, going: Sequence[int], later: Touched) -> bool:
        """Whether something can come that conflicts with the source. Once a rank has no barrier before it there are
        none."""
        if not all(self._futures.barrier_later[rank][state.control[rank]] for rank in going) or (
            len(going) < self._instance.processes
        ):
            before = self._futures.before_barrier
            later = reduce(Touched.joined, (before[rank][state.control[rank]] for rank in going), Touched())
        return later.hits(attack.source)

    def _file(self, state: State, rank: int, going: bool) -> Registers:
        if not going:  # (L2)
            return self._registers
        live = self._futures.live[rank][state.control[rank]] & self._relevance.registers[rank]
        return tuple(
            value if index in live else self._registers[index] for index, value in enumerate(state.registers[rank])
        )

    def _attack(self, state: State, attack: Attack, going: Sequence[int], later: Touched) -> Attack:
        """``attack`` without accesses with which no later one conflicts (L5), and without tainted ranks that can do
        nothing that others notice (L4)."""
        tainted = 0
        for rank in going:
            control = state.control[rank]
            if self._futures.barrier_later[rank][control] or self._futures.ever[rank][control] != Touched():
                tainted |= attack.tainted & 1 << rank
        done, delayed = attack.done.met_by(later), attack.delayed.met_by(later)
        return attack._replace(tainted=tainted, done=done, delayed=delayed)

    def _placement(self, state: State, rank: int, going: bool) -> Placement:
        if not going:  # (L6)
            return ()
        uses = self._futures.queues[rank][state.control[rank]]
        return tuple(
            (slot, part)
            for slot, part in state.placement[rank]
            if _asked_by(slot.kind) & (uses.get(slot.queue, 0) | uses.get(None, 0))
        )


def _asked_by(kind: Kind) -> int:
    """The uses of a queue by later commands for which a slot of it matters."""
    match kind:
        case Kind.PENDING:
            return WAITED
        case Kind.LOCAL:
            return WAITED_LOCAL
        case Kind.STAGE | Kind.BOUND:
            return ISSUED
        case Kind.FENCED:
            # A fence takes over the last part of what it orders; a notification comes after that itself.
            return FENCED | NOTIFIED
        case Kind.BUNDLED:
            return SIGNALLED
        case Kind.LOCATED:
            return LOCATED
        case _:
            assert_never(kind)


def _kept(values: tuple[int, ...], which: int, dead: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value if which >> place & 1 else dead[place] for place, value in enumerate(values))
