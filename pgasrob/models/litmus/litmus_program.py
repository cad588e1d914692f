"""Litmus programs: locations on nodes, threads on nodes, and the instructions that memory models know.

A thread is a graph: control states, and instructions from one to the next. A text (`litmus_parser`) is one way to write
it; a program of ranks that is asked about on a network (`networks.to_litmus`) gives another one. Instructions work on
locations and on registers, which are private to their thread. Whatever a text has beyond that (an expression that reads
locations, a put of a constant, a get into an undeclared name) is translated to loads into registers and locations that
are not ``shown``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from pgasrob.models.litmus.instructions import Cell, Instruction
from pgasrob.program.graphs import reached
from pgasrob.stop_points import stop_point

Value = int | Literal["T"]
"""The value of a register or a location. T: undefined (coreRMA), as is every value computed from it."""
UNDEFINED: Literal["T"] = "T"

Outcome = tuple[Value, ...]
"""Final values, in the order of :attr:`Program.names`."""


@dataclass(frozen=True, slots=True)
class Location:
    """A location in the memory of ``node``. One that is not ``shown`` is in no outcome."""

    name: str
    node: int
    initial: int = 0
    shown: bool = True


# The parts of a block of text other than instructions.


@dataclass(frozen=True, slots=True)
class Choose:
    """``choose { ... } or { ... }``: one of the branches."""

    branches: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """``loop 3 { ... }``: the body, at most so many times; ``loop { ... }``: any number of times (``most`` is None)."""

    most: int | None
    body: Block


Block = tuple["Instruction | Choose | Loop", ...]


@dataclass(frozen=True)
class Graph:
    """``out``: for each control state, from 0 on, the instructions that leave it, each with the state that it leads to.
    ``ends``: the states in which the thread may have ended; they may have edges as well."""

    out: tuple[tuple[tuple[Instruction, int], ...], ...]
    ends: frozenset[int]

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """Those of all states, in their order."""
        return tuple(instruction for edges in self.out for instruction, _ in edges)

    @property
    def straight(self) -> bool:
        """Whether there is one path, from the first state to the last."""
        count = len(self.out) - 1
        return self.ends == {count} and all(
            [target for _, target in edges] == ([number + 1] if number < count else [])
            for number, edges in enumerate(self.out)
        )

    @cached_property
    def bounded(self) -> bool:
        """Whether it has no cycle, so that :meth:`paths` ends."""
        after = [[target for _, target in edges] for edges in self.out]
        try:
            TopologicalSorter({state: after[state] for state in reached([0], after.__getitem__)}).prepare()
        except CycleError:
            return False
        return True

    @property
    def everywhere(self) -> Graph:
        """The same, for a thread that may have ended behind each command."""
        inside = {target for edges in self.out for instruction, target in edges if instruction.part.more}
        return Graph(self.out, frozenset(range(len(self.out))) - inside)

    def paths(self) -> Iterator[tuple[Instruction, ...]]:
        """The instructions of each way from the first state to an end. For a ``bounded`` graph only."""
        stack: list[tuple[int, tuple[Instruction, ...]]] = [(0, ())]
        while stack:
            stop_point()
            state, before = stack.pop()
            if state in self.ends:
                yield before
            stack += [(target, (*before, instruction)) for instruction, target in reversed(self.out[state])]


@dataclass(frozen=True)
class Thread:
    """A thread on ``node``. Registers hold 0 at first; those whose names begin with `$` are in no outcome.

    ``body``: what was written, empty for a thread that does not come from a text."""

    node: int
    registers: tuple[str, ...]
    graph: Graph
    body: Block = ()


@dataclass(frozen=True)
class Program:
    """Locations and threads. Every name is that of one location or of a register of one thread."""

    locations: tuple[Location, ...]
    threads: tuple[Thread, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the values in an outcome: the locations that are shown, then the registers, in the order of the
        text."""
        registers = [name for thread in self.threads for name in thread.registers if not name.startswith("$")]
        return (*(location.name for location in self.locations if location.shown), *registers)

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each location by its name."""
        return {location.name: number for number, location in enumerate(self.locations)}

    @cached_property
    def owners(self) -> dict[str, int]:
        """The node of each location by its name."""
        return {location.name: location.node for location in self.locations}

    def place(self, cell: Cell) -> int:
        """The number of the location that ``cell`` mentions."""
        return self.places[cell.name]

    def node_of(self, cell: Cell) -> int:
        return self.owners[cell.name]

    @property
    def straight(self) -> bool:
        return all(thread.graph.straight for thread in self.threads)

    @property
    def bounded(self) -> bool:
        return all(thread.graph.bounded for thread in self.threads)

    @property
    def everywhere(self) -> Program:
        """The same, for threads that may have ended behind each command."""
        threads = (replace(thread, graph=thread.graph.everywhere) for thread in self.threads)
        return replace(self, threads=tuple(threads))

    def outcome(self, memory: tuple[Value, ...], registers: tuple[tuple[Value, ...], ...]) -> Outcome:
        """The outcome of a run that ends with this ``memory`` and these registers of each thread."""
        shown = [value for location, value in zip(self.locations, memory, strict=True) if location.shown]
        for thread, values in zip(self.threads, registers, strict=True):
            shown += [v for name, v in zip(thread.registers, values, strict=True) if not name.startswith("$")]
        return tuple(shown)


def graph_of(block: Block) -> Graph:
    """The control graph of a block. It has a cycle only where a loop may run any number of times."""
    out: list[list[tuple[Instruction, int]]] = []

    def state() -> int:
        out.append([])
        return len(out) - 1

    def follow(part: Block, fronts: frozenset[int]) -> frozenset[int]:
        """The states in which ``part`` may end when it begins in ``fronts``."""
        for item in part:
            match item:
                case Choose(branches):
                    fronts = frozenset().union(*(follow(branch, fronts) for branch in branches))
                case Loop(None, body):
                    entered = next(iter(fronts))
                    before = len(out[entered])
                    fronts |= follow(body, fronts)
                    again = out[entered][before:]
                    for front in fronts:
                        out[front] += [edge for edge in again if edge not in out[front]]
                case Loop(most, body):
                    assert most is not None
                    latest = fronts
                    for _ in range(most):
                        latest = follow(body, latest)
                        fronts |= latest
                case _:
                    target = state()
                    for front in fronts:
                        out[front].append((item, target))
                    fronts = frozenset((target,))
        return fronts

    ends = follow(block, frozenset((state(),)))
    return Graph(tuple(map(tuple, out)), ends)


def straight(instructions: tuple[Instruction, ...]) -> Graph:
    """The graph of one path."""
    return graph_of(instructions)
