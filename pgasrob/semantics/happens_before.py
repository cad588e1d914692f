"""The happens-before relation of a computation and its cycles (the paper, section 3; the design, section 2).

All edges are taken between commands: the classes of the identity relation, a barrier being one command of all ranks.
A computation is violating when this quotient has a cycle of two or more commands. Written from the definition, apart
from what the engines do, whose witnesses it judges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.semantics.computation import Computation, writes
from pgasrob.semantics.replay import Run, replay
from pgasrob.semantics.tested_conditions import Access, conditions_of
from pgasrob.stop_points import stop_point

BLOCK = 4096
"""Commands from which cycles are looked for at the same time."""


class Turning(NamedTuple):
    """What an event has to do with conditions: of a test its accesses, and the numbers of the conditions that it turns
    (`semantics.tested_conditions`)."""

    tests: tuple[Access, ...] = ()
    turns: tuple[Cell, ...] = ()


class Edge(NamedTuple):
    """An edge of happens-before between two events, given by their places in the computation."""

    source: int
    target: int
    relation: str  # "po", "cf" or "id"


@dataclass(frozen=True)
class HappensBefore:
    """The happens-before relation of ``computation``.

    ``turning``: for each event the conditions of awaits that it tests or turns (`proofs/waiting.md`, section 7).
    Without that awaits are read by value, as all other reads are.
    """

    computation: Computation
    turning: tuple[Turning, ...] = ()

    @classmethod
    def of(cls, run: Run) -> HappensBefore:
        """That of a replayed computation, in the reading of its instance."""
        conditions = conditions_of(run.instance)
        if not conditions:
            return cls(run.computation)
        found = []
        for each in run.events:
            change, turns = each.cell_change, list[Cell]()
            if each.event.cell is not None and change is not None and not each.event.commutes:
                turns = conditions.turned(each.event.cell, change.before, change.after)
            found.append(Turning(conditions.accesses(each.tests, each.counts), tuple(turns)))
        return cls(run.computation, tuple(found))

    @cached_property
    def commands(self) -> tuple[int, ...]:
        """For each event the number of its command: its class under the identity relation."""
        numbers: dict[tuple[object, ...], int] = {}
        barriers: dict[int, int] = {}  # rank -> barriers that it has passed, by whichever of its threads
        found = []
        for event in self.computation:
            key: tuple[object, ...] = event.issued
            if event.kind == "barrier":
                barriers[event.of_rank] = barriers.get(event.of_rank, 0) + 1
                key = ("barrier", barriers[event.of_rank])
            found.append(numbers.setdefault(key, len(numbers)))
        return tuple(found)

    @cached_property
    def program_order(self) -> tuple[Edge, ...]:
        """Each issued event to the next one of its rank."""
        last: dict[int, int] = {}
        edges = []
        for place, event in enumerate(self.computation):
            if not event.is_step:
                if event.rank in last:
                    edges.append(Edge(last[event.rank], place, "po"))
                last[event.rank] = place
        return tuple(edges)

    @cached_property
    def conflicts(self) -> tuple[Edge, ...]:
        """Accesses to one cell, at least one of which writes, with no write between them that conflicts with both.

        Updates of one kind that commute do not conflict: an access that does with one of them does with all of them. A
        test of a condition conflicts with the changes that turn it.
        """
        edges: dict[Edge, None] = {}  # an event may be joined with another one by its cell and by a condition
        cells: dict[Cell, LatestAccesses] = {}
        for place, event in enumerate(self.computation):
            if event.cell is None:
                continue
            tests, turns = self.turning[place] if self.turning else Turning()
            made = tests or (Access(event.cell, True, writes(event.kind), event.commutes),)
            for access in (*made, *(Access(turned, False, True) for turned in turns)):
                latest = cells.setdefault(access.cell, LatestAccesses())
                joined = latest.joined(place, access.writes, access.commutes)
                edges.update(dict.fromkeys(Edge(earlier, place, "cf") for earlier in joined))
        return tuple(edges)

    @cached_property
    def identities(self) -> tuple[Edge, ...]:
        """Events of one command, neighbours in the computation's order; the relation is symmetric."""
        last: dict[int, int] = {}
        edges = []
        for place, command in enumerate(self.commands):
            if command in last:
                edges.append(Edge(last[command], place, "id"))
            last[command] = place
        return tuple(edges)

    @property
    def edges(self) -> tuple[Edge, ...]:
        return self.program_order + self.conflicts + self.identities

    @cached_property
    def cycle(self) -> tuple[Edge, ...] | None:
        """A cycle with as few commands as possible, None when there is none.

        Of several it is one through the command that is issued first. The edges close up event by event: where a
        command is entered at one event and left at another, an identity edge joins the two. Program order edges may
        skip commands.
        """
        links = _Links(self)
        start = links.start_of_shortest()
        return None if start is None else tuple(self._close(links.cycle_from(start)))

    def _close(self, cycle: list[Edge]) -> list[Edge]:
        closed = []
        for index, edge in enumerate(cycle):
            arrived = cycle[index - 1].target
            if arrived != edge.source:
                closed.append(Edge(arrived, edge.source, "id"))
            closed.append(edge)
        return closed


def is_violating(instance: Instance, computation: Computation) -> bool:
    """Whether the happens-before relation of a ``computation`` of ``instance`` has a cycle, in the reading of that."""
    return HappensBefore.of(replay(instance, computation)).cycle is not None


class LatestAccesses:
    """The accesses to a cell that a later one may still be joined with by a conflict.

    Those before an update that commutes with its kind are joined with updates of that kind alone.
    """

    def __init__(self) -> None:
        self._accesses: list[tuple[int, bool, str]] = []  # where, whether it writes, with what it commutes
        self._before: dict[str, list[tuple[int, bool, str]]] = {}  # what updates of this kind are still joined with

    def joined(self, place: int, writing: bool, commutes: str) -> list[int]:
        """The places of the accesses that one at ``place`` is joined with; from here on it is one of them."""
        accesses = self._accesses
        if commutes:
            own = [each for each in accesses if each[2] == commutes]
            others = [*self._before.get(commutes, []), *(each for each in accesses if each[2] != commutes)]
            self._before = {commutes: others}
            self._accesses = [*own, (place, writing, commutes)]
            return [earlier for earlier, _, _ in others]
        joined = [earlier for earlier, wrote, _ in accesses if wrote or writing]
        self._accesses = [(place, writing, commutes)] if writing else [*accesses, (place, writing, commutes)]
        if writing:
            self._before = {}
        return joined


class _Links:
    """The links between commands: the conflicts, and program order from each command to all later ones of its rank.

    A link of program order may skip commands. There are so many of them that they are never listed.
    """

    def __init__(self, relation: HappensBefore) -> None:
        commands = relation.commands
        self.size = len(set(commands))
        self.conflicts: list[dict[int, Edge]] = [{} for _ in range(self.size)]  # to which command, by which edge first
        for edge in relation.conflicts:
            source, target = commands[edge.source], commands[edge.target]
            if source != target:
                self.conflicts[source].setdefault(target, edge)
        self.earlier: list[list[int]] = [[] for _ in range(self.size)]  # the other way
        for source, targets in enumerate(self.conflicts):
            for target in targets:
                self.earlier[target].append(source)
        self.ranks: dict[int, list[tuple[int, int]]] = {}  # commands of a rank in program order, with their places
        self.positions: list[dict[int, int]] = [{} for _ in range(self.size)]  # of a command in ``ranks``, by rank
        for place, (command, event) in enumerate(zip(commands, relation.computation, strict=True)):
            if not event.is_step:
                issued = self.ranks.setdefault(event.rank, [])
                self.positions[command][event.rank] = len(issued)
                issued.append((command, place))

    def start_of_shortest(self) -> int | None:
        """The first command on a cycle of the least length; None when there is no cycle."""
        start, length = None, None
        for first in range(0, self.size, BLOCK):
            found = self._shortest_through(range(first, min(first + BLOCK, self.size)), length)
            if found is not None:
                start, length = found
        return start

    def _shortest_through(self, starts: range, bound: int | None) -> tuple[int, int] | None:
        """The first of ``starts`` on a shortest cycle through one of them and its length, if less than ``bound``."""
        reach = [1 << command - starts.start if command in starts else 0 for command in range(self.size)]
        reach = self._one_further(reach, [0] * self.size)  # bit s: start s leads here by at most so many links
        length = 1
        while bound is None or length + 1 < bound:
            stop_point()
            further = self._one_further(reach, reach)
            if further == reach:
                return None
            reach, length = further, length + 1
            for start in starts:
                if reach[start] >> start - starts.start & 1:
                    return start, length
        return None

    def _one_further(self, reach: list[int], known: list[int]) -> list[int]:
        """``known``, and what ``reach`` has at the commands with a link to each command."""
        further = list(known)
        for command, sources in enumerate(self.earlier):
            for source in sources:
                further[command] |= reach[source]
        for issued in self.ranks.values():
            before = 0
            for command, _ in issued:
                further[command] |= before
                before |= reach[command]
        return further

    def cycle_from(self, start: int) -> list[Edge]:
        """A shortest cycle through ``start``, which lies on one, as edges between commands."""
        parents: dict[int, tuple[int, Edge]] = {}
        unmet = {rank: len(issued) for rank, issued in self.ranks.items()}  # where what has been met begins
        queue = deque([start])
        while queue:
            stop_point()
            command = queue.popleft()
            if closing := self._link(command, start):
                path = [closing]
                while command != start:
                    command, edge = parents[command]
                    path.append(edge)
                return path[::-1]
            for target in sorted({*self.conflicts[command], *self._later(command, unmet)}):
                if target in parents:
                    continue
                edge_there = self._link(command, target)
                assert edge_there is not None
                parents[target] = (command, edge_there)
                queue.append(target)
        raise AssertionError("there is no cycle through this command")

    def _later(self, command: int, unmet: dict[int, int]) -> Iterator[int]:
        """The commands after ``command`` in program order, without those that were given before."""
        for rank, position in self.positions[command].items():
            issued, end = self.ranks[rank], unmet[rank]
            unmet[rank] = min(end, position + 1)
            for target, _ in issued[position + 1 : end]:
                yield target

    def _link(self, source: int, target: int) -> Edge | None:
        """The edge that shows the link from ``source`` to ``target``: a conflict if possible, else program order."""
        if edge := self.conflicts[source].get(target):
            return edge
        here, there = self.positions[source], self.positions[target]
        for rank in here if len(here) <= len(there) else there:  # a barrier is a command of all ranks
            before, after = here.get(rank), there.get(rank)
            if before is not None and after is not None and before < after:
                issued = self.ranks[rank]
                return Edge(issued[before][1], issued[after][1], "po")
        return None
