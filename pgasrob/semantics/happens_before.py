"""The happens-before relation of a computation and its cycles (the paper, section 3; the design, section 2).

All edges are taken between commands: the classes of the identity relation, a barrier being one command of all ranks.
A computation is violating when this quotient has a cycle of two or more commands. Written from the definition, apart
from what the engines do, whose witnesses it judges.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pgasrob.semantics.computation import Computation

WRITERS = frozenset(("store", "popb", "fetch_add", "swap", "compare_swap"))


class Edge(NamedTuple):
    """An edge of happens-before between two events, given by their places in the computation."""

    source: int
    target: int
    relation: str  # "po", "cf" or "id"


@dataclass(frozen=True)
class HappensBefore:
    """The happens-before relation of ``computation``."""

    computation: Computation

    @cached_property
    def commands(self) -> tuple[int, ...]:
        """For each event the number of its command: its class under the identity relation."""
        numbers: dict[tuple[object, ...], int] = {}
        barriers: dict[int, int] = {}  # rank -> barriers it has passed
        found = []
        for event in self.computation:
            key: tuple[object, ...] = event.issued
            if event.kind == "barrier":
                barriers[event.rank] = barriers.get(event.rank, 0) + 1
                key = ("barrier", barriers[event.rank])
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
        """Accesses to one cell, at least one of which writes, with no write to the cell between them."""
        edges = []
        writer: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        for place, event in enumerate(self.computation):
            cell = event.cell
            if cell is None:
                continue
            if cell in writer:
                edges.append(Edge(writer[cell], place, "cf"))
            if event.kind in WRITERS:
                edges += [Edge(reader, place, "cf") for reader in readers.get(cell, [])]
                writer[cell], readers[cell] = place, []
            else:
                readers.setdefault(cell, []).append(place)
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

        The edges close up event by event: where a command is entered at one event and left at another, an identity edge
        joins the two. Program order edges may skip commands.
        """
        links = self._links()
        best: list[Edge] | None = None
        for start in sorted(links):
            found = _shortest_cycle(links, start, len(best) if best else None)
            if found is not None:
                best = found
                if len(best) == 2:
                    break
        return tuple(self._close(best)) if best else None

    def _links(self) -> dict[int, dict[int, Edge]]:
        """For each command, those that one conflict or some program order leads to, and an edge that shows it."""
        links: dict[int, dict[int, Edge]] = {}
        for edge in self.conflicts:
            self._link(links, edge)
        by_rank: dict[int, list[int]] = {}
        for place, event in enumerate(self.computation):
            if not event.is_step:
                by_rank.setdefault(event.rank, []).append(place)
        for places in by_rank.values():
            for index, first in enumerate(places):
                for second in places[index + 1 :]:
                    self._link(links, Edge(first, second, "po"))
        return links

    def _link(self, links: dict[int, dict[int, Edge]], edge: Edge) -> None:
        source, target = self.commands[edge.source], self.commands[edge.target]
        if source != target:
            links.setdefault(source, {}).setdefault(target, edge)

    def _close(self, cycle: list[Edge]) -> list[Edge]:
        closed = []
        for index, edge in enumerate(cycle):
            arrived = cycle[index - 1].target
            if arrived != edge.source:
                closed.append(Edge(arrived, edge.source, "id"))
            closed.append(edge)
        return closed


def _shortest_cycle(links: dict[int, dict[int, Edge]], start: int, bound: int | None) -> list[Edge] | None:
    """A shortest cycle through ``start``, as edges between commands; None when there is none shorter than ``bound``."""
    parents: dict[int, tuple[int, Edge]] = {}
    queue = deque([(start, 0)])
    while queue:
        command, length = queue.popleft()
        if bound is not None and length + 1 >= bound:
            return None
        for target, edge in sorted(links.get(command, {}).items()):
            if target == start:
                path = [edge]
                while command != start:
                    command, edge = parents[command]
                    path.append(edge)
                return path[::-1]
            if target not in parents:
                parents[target] = (command, edge)
                queue.append((target, length + 1))
    return None
