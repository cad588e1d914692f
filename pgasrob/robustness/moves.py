"""Makes a run, with its events, of the moves that an attack search reports.

A search that knows the program as tables only, the kernel or SPIN, reports which moves it took. What events they are is
found out by making them once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pgasrob.analysis.placement import DELAYED, NOW
from pgasrob.automata.multiheaded import comp
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance, Registers
from pgasrob.robustness.normal_form import Word, numbered, word_of, word_of_barrier
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.effect import execute

Move = tuple[int | None, Sequence[Transition], Sequence[int]]
"""A process, its transition and the parts of the command's steps; for a barrier None, the transition of each rank, and
the processes that take these, none where they are the ranks."""
KernelMove = tuple[int | None, list[int], list[int]]
"""A move as the kernel reports it: a :data:`Move` with the numbers of transitions, for a
barrier without the processes."""


class NotEnabled(Exception):
    """A move that is not possible where it is said to have been taken."""


class Rerun:
    """Makes moves once more, from the beginning; ``registers`` are those of the ranks after the moves so far."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._memory = instance.memory
        self.registers: list[Registers] = [instance.registers] * instance.processes

    def words(self, moves: Iterable[Move]) -> Iterator[Word]:
        """The word of each move: its events with their parts. Raises :class:`NotEnabled`."""
        for rank, transitions, parts in moves:
            if rank is None:
                yield word_of_barrier(
                    self._instance, zip(parts or range(self._instance.nodes), transitions, strict=True)
                )
                continue
            (transition,) = transitions
            operands = self._instance.operands(rank, transition, self.registers[rank])
            after = execute(operands, self.registers[rank], self._memory, list(parts).count(NOW))
            if after is None:
                raise NotEnabled(f"rank {rank} cannot issue {transition.command.kind}")
            self.registers[rank], self._memory = after
            yield word_of(rank, transition, operands, parts)


def in_two_parts(words: Iterable[Word]) -> tuple[Computation, tuple[int, ...]]:
    """The computation that ``words`` with parts 1 and 2 are, and the part of each of its events."""
    # comp sorts by part and keeps the order within one, so it can carry the parts along.
    joined = comp([(part, (part, event)) for part, event in numbered(list(words))], DELAYED)
    return tuple(event for _, event in joined), tuple(part for part, _ in joined)
