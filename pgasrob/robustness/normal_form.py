"""The multiheaded automaton Y(P, N) of the normal-form computations (the paper, section 5.2 and Table 2).

A computation in normal form consists of *parts* tau_1, tau_2, ..., in each of which commands come in the order of their
issue; tau_1 has all that is issued, the others have steps alone. A multiheaded automaton writes several words at once,
one with each *head*, and accepts what they are when put together; here head i generates the part tau_i. A state follows
control, registers and memory along tau_1 and remembers, for every rank and queue, in which parts the steps of later
operations may still be placed (`placement`). A remote command is generated in one shot: its issue on head 1, each step
on a head that is chosen for it, none below that of the step before.

For each FIFO queue pa and pb say in which parts its last popa and popb lie. The paper raises them by silent transitions
(gpa', gpb') before a command; here the command chooses m and n at or above them. The language is the same and there are
fewer states. `proofs/normal-form.md` has the table for all commands; words: `proofs/glossary.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pgasrob.analysis.placement import Placement, fenced, lower_bounds, placed, wait_is_over
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Operands
from pgasrob.program.instance import Arrival, Instance, Memory, Registers
from pgasrob.semantics.computation import POPS, Event, EventKind
from pgasrob.semantics.effect import Transferred, execute, issue
from pgasrob.semantics.state_space import behind, home_of

HEADS = 4


class Letter(NamedTuple):
    """An event as Y(P, N) generates it; a step carries the occurrence of the command it belongs to, and ``commutes``
    is that of its access."""

    kind: EventKind
    rank: int
    cell: Cell | None
    occurrence: int
    commutes: str = ""
    home: int | None = None  # as of an Event


Word = tuple[tuple[int, Letter], ...]
"""Events with the part of each."""


class State(NamedTuple):
    """Control, registers and memory as tau_1 leaves them, and the placement of steps per rank."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    placement: tuple[Placement, ...]


Edge = tuple[Word, State]


class NormalForm:
    """Y(P, N) as a multiheaded automaton with word-labelled transitions; every state is final."""

    def __init__(self, instance: Instance, heads: int = HEADS) -> None:
        self.instance = instance
        self.heads = heads
        count = instance.processes
        self.initial = State((0,) * count, (instance.registers,) * count, instance.memory, ((),) * count)
        # A violation needs a delay, so the least delay is tried first and none at all last.
        self._order = [*range(2, heads + 1), 1]

    def is_final(self, state: State) -> bool:
        return True

    def successors(self, state: State) -> Iterator[Edge]:
        for rank in range(self.instance.processes):
            for transition, operands in self.instance.evaluated(rank, state.control[rank], state.registers[rank]):
                if isinstance(operands, core.Transfer):
                    yield from self._remote(state, rank, transition, operands)
                else:
                    yield from self._local(state, rank, transition, operands)
        for arrivals in self.instance.barriers(state.control):
            yield word_of_barrier(self.instance, arrivals), state._replace(control=behind(state.control, arrivals))

    def _local(self, state: State, rank: int, transition: Transition, operands: Operands) -> Iterator[Edge]:
        """Everything that is one event of head 1: local commands, atomics, waits, fences."""
        placement = state.placement[rank]
        if not wait_is_over(placement, operands):
            return
        done = issue(operands, state.registers[rank], state.memory)
        if done is None:
            return
        yield word_of(rank, transition, operands), _moved(state, rank, transition, done, fenced(placement, operands))

    def _remote(self, state: State, rank: int, transition: Transition, operands: Transferred) -> Iterator[Edge]:
        before = state.placement[rank]
        for parts in self._choices(lower_bounds(self.instance, before, operands)):
            done = execute(operands, state.registers[rank], state.memory, parts.count(1))
            assert done is not None, "a remote command is always enabled"
            word = word_of(rank, transition, operands, parts)
            placement = placed(self.instance, before, operands, parts)
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


def word_of(rank: int, transition: Transition, operands: Operands, parts: Sequence[int] = ()) -> Word:
    """The events of a command, those of a remote one with its steps in ``parts``."""
    occurrence, made = transition.occurrence, core.at_issue(operands)
    return (
        (1, Letter(transition.command.kind, rank, None if made is None else made.cell, occurrence)),
        *(
            (part, Letter(step.kind, rank, step.access.cell, occurrence, step.access.commutes))
            for part, step in zip(parts, core.steps_of(operands), strict=True)
        ),
    )


def word_of_barrier(instance: Instance, arrivals: Iterable[Arrival]) -> Word:
    """The events of a barrier, in which a process of each rank takes its transition."""
    return tuple(
        (1, Letter("barrier", process, None, each.occurrence, home=home_of(instance, process)))
        for process, each in arrivals
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


def numbered(path: list[Word]) -> list[tuple[int, Event]]:
    """The events along a path of Y(P, N), with their heads and their operations numbered, in the order generated."""
    issued: dict[int, int] = {}
    events = []
    for word in path:
        for head, letter in word:
            if letter.kind not in POPS:
                issued[letter.rank] = issued.get(letter.rank, -1) + 1
            kind, rank, cell, occurrence, commutes, home = letter
            events.append((head, Event(kind, rank, issued[rank], cell, occurrence, commutes, home)))
    return events
