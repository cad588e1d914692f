"""The moves of an attack: (m1) to (m4) of `proofs/attack.md`, section 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from pgasrob.certificates.check.order import NOTHING, Facts, Touched, after, behind, blocks, hits, late, ways
from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.effect import execute

T = TypeVar("T")


class Attack(NamedTuple):
    """(a, T, t, d)."""

    source: core.Access[int]
    tainted: frozenset[int]
    done: Touched
    delayed: Touched


class State(NamedTuple):
    """Control, registers, memory and order of delayed steps, and the attack once there is one."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    facts: tuple[Facts, ...]
    attack: Attack | None


class Move(NamedTuple):
    """Where a move leads, None: to Found; and whether it is ordinary, no choice of a source or further source."""

    target: State | None
    ordinary: bool


IsSource = Callable[[int, int, int, int], bool]
"""Whether a step may be the source: rank, control state, place of the transition there, number of the step."""


class Moves:
    """The moves of ``instance``. ``waited_for``: the cells for whose values some command may wait. ``is_source``: which
    steps are chosen; the others must be known to lead to no Found."""

    def __init__(self, instance: Instance, waited_for: frozenset[int], is_source: IsSource) -> None:
        self.instance, self.waited_for, self.is_source = instance, waited_for, is_source
        nodes = instance.nodes
        self.initial = State((0,) * nodes, (instance.registers,) * nodes, instance.memory, (frozenset(),) * nodes, None)

    def of_barriers(self, state: State) -> Iterator[Move]:
        """(m4)"""
        attack = state.attack
        if attack is not None:
            attack = attack._replace(tainted=frozenset(range(self.instance.nodes)))
        for arrivals in self.instance.barriers(state.control):
            control = tuple(arrival.target for arrival in arrivals)
            yield Move(state._replace(control=control, attack=attack), True)

    def of_rank(self, state: State, rank: int) -> Iterator[Move]:
        """(m1) to (m3') by commands of ``rank``."""
        for place, transition in enumerate(self.instance.automata[rank].out[state.control[rank]]):
            if isinstance(transition.form, core.Barrier):
                continue
            try:
                operands = self.instance.operands(rank, transition, state.registers[rank])
            except Fault:
                continue
            if blocks(state.facts[rank], operands) or execute(operands, state.registers[rank], state.memory) is None:
                continue
            steps = core.steps_of(operands)
            if state.attack is None:
                yield self._moved(state, rank, transition.target, operands, len(steps), None, True)
                for step in range(len(steps)):
                    if self.is_source(rank, state.control[rank], place, step):
                        begun = Attack(steps[step].access, frozenset((rank,)), NOTHING, NOTHING)
                        yield self._moved(state, rank, transition.target, operands, step, begun, False)
            else:
                yield from self._in_attack(state, state.attack, rank, transition.target, operands)

    def _in_attack(
        self, state: State, attack: Attack, rank: int, target: int, operands: core.Operands
    ) -> Iterator[Move]:
        chain, steps = core.accesses_of(operands), core.steps_of(operands)
        bound, delayed = len(chain) - len(steps), attack.delayed
        is_late = late(self.instance, state.facts[rank], operands) if isinstance(operands, core.Transfer) else []
        in_done = [hits(self.instance, access, attack.done) for access in chain]
        in_delayed = [hits(self.instance, access, delayed) for access in chain]
        for place, access in enumerate(chain):  # (m2)
            if any(is_late[: place + 1 - bound] if place >= bound else ()):
                break
            first = max(place + 1, bound)
            enters = rank in attack.tainted or any(in_done) or any(in_delayed[first:])
            if conflict(access, attack.source) and enters:
                yield Move(None, False)
        if any(in_delayed[:bound]):
            return
        first = next((n for n in range(len(steps)) if is_late[n] or in_delayed[bound + n]), len(steps))  # (m3)
        yield self._moved(state, rank, target, operands, first, attack, True)
        for step in range(first):  # (m3')
            source = attack.source
            if steps[step].access == source and source.commutes and source.cell in self.waited_for:
                joined = attack._replace(tainted=attack.tainted | {rank})
                yield self._moved(state, rank, target, operands, step, joined, False)

    def _moved(
        self,
        state: State,
        rank: int,
        target: int,
        operands: core.Operands,
        first: int,
        attack: Attack | None,
        ordinary: bool,
    ) -> Move:
        """A command of sigma, the steps of which from ``first`` on are delayed."""
        done = execute(operands, state.registers[rank], state.memory, first)
        assert done is not None, "it has been asked whether it is enabled"
        chain, steps = core.accesses_of(operands), core.steps_of(operands)
        if attack is not None:
            delayed = attack.delayed
            reached = rank in attack.tainted or any(
                hits(self.instance, access, attack.done) or hits(self.instance, access, delayed) for access in chain
            )
            if reached:
                now = len(chain) - len(steps) + first
                attack = attack._replace(
                    tainted=attack.tainted | {rank},
                    done=attack.done.union((each.cell, way) for each in chain[:now] for way in ways(each)),
                    delayed=delayed.union((each.cell, way) for each in chain[now:] for way in ways(each)),
                )
        facts = after(state.facts[rank], operands)
        if isinstance(operands, core.Transfer):
            facts = behind(self.instance, facts, operands, first)
        registers, memory = done
        control, files = _put(state.control, rank, target), _put(state.registers, rank, registers)
        return Move(State(control, files, memory, _put(state.facts, rank, facts), attack), ordinary)


def _put(row: tuple[T, ...], rank: int, value: T) -> tuple[T, ...]:
    return (*row[:rank], value, *row[rank + 1 :])
