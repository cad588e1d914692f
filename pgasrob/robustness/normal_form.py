"""The multiheaded automaton Y(P, N) of the normal-form computations (the paper, section 5.2 and Table 2).

Head i generates the part tau_i. A state follows control, registers and memory along tau_1 and remembers, for every rank
and queue, in which parts the steps of later operations may still be placed. A remote command is generated in one shot:
its issue on head 1, each step on a head that is chosen for it, none below that of the step before.

The paper moves pa and pb by silent transitions (gpa', gpb') before a command; here the command chooses m and n at or
above these bounds and so moves them. The language is the same and there are fewer states. `proofs/normal-form.md` has
the table for all commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.automata.multiheaded import comp
from pgasrob.program.commands import REMOTE
from pgasrob.program.control import Transition
from pgasrob.program.instance import Cell, Instance, Memory, Operands, Registers
from pgasrob.robustness.placement import Placement, fenced, lower_bounds, placed, wait_is_over
from pgasrob.semantics.computation import POPS, Computation, Event
from pgasrob.semantics.effect import execute, issue
from pgasrob.semantics.steps import steps_of

HEADS = 4


class Letter(NamedTuple):
    """An event as Y(P, N) generates it; a step carries the occurrence of the command it belongs to."""

    kind: str
    rank: int
    cell: Cell | None
    occurrence: int


class State(NamedTuple):
    """Control, registers and memory as tau_1 leaves them, and the placement of steps per rank."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    placement: tuple[Placement, ...]


Edge = tuple[tuple[tuple[int, Letter], ...], State]


class NormalForm:
    """Y(P, N) as a multiheaded automaton with word-labelled transitions; every state is final."""

    def __init__(self, instance: Instance, heads: int = HEADS) -> None:
        self.instance = instance
        self.heads = heads
        nodes = instance.nodes
        self.initial = State((0,) * nodes, (instance.registers,) * nodes, instance.memory, ((),) * nodes)
        # A violation needs a delay, so the least delay is tried first and none at all last.
        self._order = [*range(2, heads + 1), 1]

    def is_final(self, state: State) -> bool:
        return True

    def successors(self, state: State) -> Iterator[Edge]:
        for rank in range(self.instance.nodes):
            for transition, operands in self.instance.evaluated(rank, state.control[rank], state.registers[rank]):
                if transition.command.kind in REMOTE:
                    yield from self._remote(state, rank, transition, operands)
                else:
                    yield from self._local(state, rank, transition, operands)
        for arrivals in self.instance.barriers(state.control):
            word = tuple(
                (1, Letter("barrier", rank, None, arrival.occurrence)) for rank, arrival in enumerate(arrivals)
            )
            yield word, state._replace(control=tuple(arrival.target for arrival in arrivals))

    def _local(self, state: State, rank: int, transition: Transition, operands: Operands) -> Iterator[Edge]:
        """Everything that is one event of head 1: local commands, atomics, waits, fences."""
        placement = state.placement[rank]
        if not wait_is_over(placement, operands):
            return
        done = issue(operands, state.registers[rank], state.memory)
        if done is None:
            return
        letter = Letter(operands.kind, rank, operands.cell, transition.occurrence)
        yield ((1, letter),), _moved(state, rank, transition, done, fenced(placement, operands))

    def _remote(self, state: State, rank: int, transition: Transition, operands: Operands) -> Iterator[Edge]:
        steps = steps_of(operands)
        before = state.placement[rank]
        for parts in self._choices(lower_bounds(self.instance, before, operands, steps)):
            done = execute(operands, state.registers[rank], state.memory, parts.count(1))
            assert done is not None, "a remote command is always enabled"
            word = remote_word(rank, transition, operands, parts)
            placement = placed(self.instance, before, operands, steps, parts)
            yield word, _moved(state, rank, transition, done, placement)

    def _choices(self, bounds: list[int], least: int = 1) -> Iterator[tuple[int, ...]]:
        """The parts that the steps of a chain may lie in, one after the other and none before its bound."""
        if not bounds:
            yield ()
            return
        # The last step decides whether the operation is delayed at all, and is tried in the order of `_order`.
        order = self._order if len(bounds) == 1 else range(1, self.heads + 1)
        for part in order:
            if part >= max(least, bounds[0]):
                for rest in self._choices(bounds[1:], part):
                    yield (part, *rest)


def remote_word(
    rank: int, transition: Transition, operands: Operands, parts: Sequence[int]
) -> tuple[tuple[int, Letter], ...]:
    """The events of a remote command with its steps in ``parts``."""
    occurrence = transition.occurrence
    return (
        (1, Letter(operands.kind, rank, operands.cell, occurrence)),
        *(
            (part, Letter(step.kind, rank, step.access.cell, occurrence))
            for part, step in zip(parts, steps_of(operands), strict=True)
        ),
    )


def _moved(
    state: State, rank: int, transition: Transition, after: tuple[Registers, Memory], placement: Placement
) -> State:
    registers, memory = after
    return State(
        (*state.control[:rank], transition.target, *state.control[rank + 1 :]),
        (*state.registers[:rank], registers, *state.registers[rank + 1 :]),
        memory,
        (*state.placement[:rank], placement, *state.placement[rank + 1 :]),
    )


def numbered(path: list[tuple[tuple[int, Letter], ...]]) -> list[tuple[int, Event]]:
    """The events along a path of Y(P, N), with their heads and their operations numbered, in the order generated."""
    issued: dict[int, int] = {}
    events = []
    for word in path:
        for head, letter in word:
            if letter.kind not in POPS:
                issued[letter.rank] = issued.get(letter.rank, -1) + 1
            events.append((head, Event(letter.kind, letter.rank, issued[letter.rank], letter.cell, letter.occurrence)))
    return events


def computation_of(path: list[tuple[tuple[int, Letter], ...]], heads: int = HEADS) -> Computation:
    """The normal-form computation tau_1 ... tau_n that a path of Y(P, N), given by its words, stands for."""
    return comp(numbered(path), heads)
