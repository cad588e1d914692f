"""The moves of an attack: (m1) to (m4) of `proofs/attack.md`, section 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pgasrob.certificates.check.order import NOTHING, Facts, Touched, after, blocks, hits, late, put, ways
from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.effect import execute


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


Move = tuple[State | None, bool]
"""Where a move leads, None: to Found; and whether it is ordinary, no choice of a source or further source."""
Issue = tuple[int, int, core.Operands]
"""A rank, the control state behind its command, and the operands."""
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
            yield state._replace(control=control, attack=attack), True

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
            steps, issue = core.steps_of(operands), (rank, transition.target, operands)
            if state.attack is None:
                yield self._moved(state, issue, len(steps), None), True
                for step in range(len(steps)):
                    if self.is_source(rank, state.control[rank], place, step):
                        begun = Attack(steps[step].access, frozenset((rank,)), NOTHING, NOTHING)
                        yield self._moved(state, issue, step, begun), False
            else:
                yield from self._in_attack(state, state.attack, issue)

    def _in_attack(self, state: State, attack: Attack, issue: Issue) -> Iterator[Move]:
        rank, _, operands = issue
        chain, steps = core.accesses_of(operands), core.steps_of(operands)
        bound = len(chain) - len(steps)
        is_late = late(self.instance, state.facts[rank], operands)
        in_done = [hits(access, attack.done) for access in chain]
        in_delayed = [hits(access, attack.delayed) for access in chain]
        for place, access in enumerate(chain):  # (m2)
            if any(is_late[: place + 1 - bound] if place >= bound else ()):
                break
            first = max(place + 1, bound)
            enters = rank in attack.tainted or any(in_done) or any(in_delayed[first:])
            if conflict(access, attack.source) and enters:
                yield None, False
        if any(in_delayed[:bound]):
            return
        first = next((n for n in range(len(steps)) if is_late[n] or in_delayed[bound + n]), len(steps))  # (m3)
        yield self._moved(state, issue, first, attack), True
        for step in range(first):  # (m3')
            source = attack.source
            if steps[step].access == source and source.commutes and source.cell in self.waited_for:
                joined = attack._replace(tainted=attack.tainted | {rank})
                yield self._moved(state, issue, step, joined), False

    def _moved(self, state: State, issue: Issue, first: int, attack: Attack | None) -> State:
        """After a command of sigma, the steps of which from ``first`` on are delayed."""
        rank, target, operands = issue
        done = execute(operands, state.registers[rank], state.memory, first)
        assert done is not None, "it has been asked whether it is enabled"
        chain, now = core.accesses_of(operands), first - len(core.steps_of(operands))
        if attack and (rank in attack.tainted or any(hits(each, attack.done | attack.delayed) for each in chain)):
            happened, later = chain[: len(chain) + now], chain[len(chain) + now :]
            attack = attack._replace(
                tainted=attack.tainted | {rank},
                done=attack.done.union((each.cell, way) for each in happened for way in ways(each)),
                delayed=attack.delayed.union((each.cell, way) for each in later for way in ways(each)),
            )
        control, registers = put(state.control, rank, target), put(state.registers, rank, done[0])
        facts = put(state.facts, rank, after(self.instance, state.facts[rank], operands, first))
        return State(control, registers, done[1], facts, attack)
