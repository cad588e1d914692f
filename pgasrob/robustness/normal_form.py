"""The multiheaded automaton Y(P, N) of the normal-form computations (the paper, section 5.2 and Table 2).

Head i generates the part tau_i. A state follows control, registers and memory along tau_1 and remembers, for every rank
and queue, in which parts the steps of later operations may still be placed. A remote command is generated in one shot:
its issue on head 1, popa and popb on the heads m <= n that are chosen for them.

The paper moves pa and pb by silent transitions (gpa', gpb') before a command; here the command chooses m and n at or
above these bounds and so moves them. The language is the same and there are fewer states. `proofs/normal-form.md` has
the table for all commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pgasrob.automata.multiheaded import comp
from pgasrob.program.commands import REMOTE
from pgasrob.program.control import Transition
from pgasrob.program.instance import Cell, Instance, Memory, Operands, Registers
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.effect import issue, set_cell

HEADS = 4


class Letter(NamedTuple):
    """An event as Y(P, N) generates it; a step carries the occurrence of the command it belongs to."""

    kind: str
    rank: int
    cell: Cell | None
    occurrence: int


class Parts(NamedTuple):
    """Where the steps of one rank's operations in one queue have been placed, as far as later ones depend on it.

    ``popa``, ``popb``: FIFO only, the parts of the last popa and popb, which later ones cannot undercut (the paper's
    pa and pb). ``delayed``: some step lies after tau_1, so a wait is never over. ``local_delayed``: the same for
    wait_local, which looks at popa of writes and popb of reads. ``targets``: unordered only, for each target the last
    part that holds a popb of a write to it and the bound that a fence has made of it for later ones.
    """

    popa: int = 1
    popb: int = 1
    delayed: bool = False
    local_delayed: bool = False
    targets: tuple[tuple[int, int, int], ...] = ()

    def bound(self, target: int) -> int:
        """The part that a popb of a write to ``target`` cannot undercut because of fences."""
        return next((floor for rank, _, floor in self.targets if rank == target), 1)

    def latest(self, target: int) -> int:
        return next((last for rank, last, _ in self.targets if rank == target), 1)

    def with_target(self, target: int, last: int, floor: int) -> Parts:
        others = tuple(entry for entry in self.targets if entry[0] != target)
        # 1 bounds nothing: left out, so that states that behave alike are equal.
        entry = ((target, last, floor),) if last > 1 else ()
        return self._replace(targets=tuple(sorted(others + entry)))


NOTHING_DELAYED = Parts()

Placement = tuple[tuple[int, Parts], ...]
"""The parts of one rank by queue id, sorted; a queue in which nothing is delayed is left out."""


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
        if operands.kind in ("wait", "wait_local"):
            parts = _parts(placement, operands.queue)
            if parts.delayed if operands.kind == "wait" else parts.local_delayed:
                return
        if operands.kind == "fence":
            placement = self._fenced(placement, operands)
        done = issue(operands, state.registers[rank], state.memory)
        if done is None:
            return
        registers, memory = done
        letter = Letter(operands.kind, rank, operands.cell, transition.occurrence)
        yield ((1, letter),), _moved(state, rank, transition, registers, memory, placement)

    def _remote(self, state: State, rank: int, transition: Transition, operands: Operands) -> Iterator[Edge]:
        source, destination, occurrence = operands.source, operands.destination, transition.occurrence
        assert source is not None and destination is not None
        for popa, popb, placement in self._placements(state.placement[rank], operands):
            memory = state.memory
            if popb == 1:
                memory = set_cell(memory, destination, memory[source])
            word = (
                (1, Letter(operands.kind, rank, None, occurrence)),
                (popa, Letter("popa", rank, source, occurrence)),
                (popb, Letter("popb", rank, destination, occurrence)),
            )
            yield word, _moved(state, rank, transition, state.registers[rank], memory, placement)

    def _placements(self, placement: Placement, operands: Operands) -> Iterator[tuple[int, int, Placement]]:
        """The parts in which popa and popb of a new operation may lie, and what they leave to later ones."""
        queue, target = operands.queue, operands.target
        assert queue is not None and target is not None
        before = _parts(placement, queue)
        fifo = not self.instance.is_unordered(queue)
        ordered = not fifo and operands.kind == "write"
        bound = before.bound(target) if ordered else before.popb
        for popa in range(before.popa, self.heads + 1):
            for popb in self._order:
                if popb < max(popa, bound):
                    continue
                delayed = before.delayed or popb > 1
                local = popa > 1 if operands.kind == "write" else popb > 1
                after = before._replace(delayed=delayed, local_delayed=before.local_delayed or local)
                if fifo:
                    after = after._replace(popa=popa, popb=popb)
                if ordered:
                    after = after.with_target(target, max(popb, before.latest(target)), bound)
                yield popa, popb, _placed(placement, queue, after)

    def _fenced(self, placement: Placement, operands: Operands) -> Placement:
        queue = operands.queue
        assert queue is not None
        parts = _parts(placement, queue)
        for target, last, _ in parts.targets:
            if operands.target in (None, target):
                parts = parts.with_target(target, last, last)
        return _placed(placement, queue, parts)


def _parts(placement: Placement, queue: int | None) -> Parts:
    return next((parts for id, parts in placement if id == queue), NOTHING_DELAYED)


def _placed(placement: Placement, queue: int, parts: Parts) -> Placement:
    others = tuple(entry for entry in placement if entry[0] != queue)
    entry = ((queue, parts),) if parts != NOTHING_DELAYED else ()
    return tuple(sorted(others + entry))


def _moved(
    state: State, rank: int, transition: Transition, registers: Registers, memory: Memory, placement: Placement
) -> State:
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
            if letter.kind not in ("popa", "popb"):
                issued[letter.rank] = issued.get(letter.rank, -1) + 1
            events.append((head, Event(letter.kind, letter.rank, issued[letter.rank], letter.cell, letter.occurrence)))
    return events


def computation_of(path: list[tuple[tuple[int, Letter], ...]], heads: int = HEADS) -> Computation:
    """The normal-form computation tau_1 ... tau_n that a path of Y(P, N), given by its words, stands for."""
    return comp(numbered(path), heads)
