"""Enumerates straight-line programs of RDMA-TSO with a number of statements, one for each class of symmetry."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import permutations

from pgasrob.models.generate.programs import Shape, Statement, renamed

RDMA_TSO = ("load", "store", "CAS", "get", "put", "poll", "rfence", "mfence")
COMMON = ("load", "store", "get", "put")
"""The statements that every model with a network knows."""
PROCESSOR = ("load", "store", "CAS", "mfence")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many threads, nodes and locations there may be, and which kinds of statements.

    ``connected``: the threads do not split into groups that share no location, for each group would be a program of its
    own. ``alone``: at most one thread on a node.
    """

    threads: int = 2
    nodes: int = 2
    locations: int = 3
    kinds: tuple[str, ...] = RDMA_TSO
    connected: bool = True
    alone: bool = False


def shapes(statements: int, bounds: Bounds) -> Iterator[Shape]:
    """Programs of exactly this number of ``statements``, in no special order. Every thread has a statement; an unpolled
    operation comes before each poll, and an operation before each rfence. No thread ends with an mfence or rfence,
    which would do nothing."""
    for count in range(1, min(bounds.threads, statements) + 1):
        for nodes in _on_nodes(count, bounds):
            for shape in _Search(statements, bounds, nodes).shapes():
                if bounds.connected and not connected(shape):
                    continue
                if all(shape <= renamed(shape, order) for order in permutations(range(count))):
                    yield shape


def _on_nodes(count: int, bounds: Bounds) -> Iterator[tuple[int, ...]]:
    """The nodes of ``count`` threads, numbered in the order of their first thread."""

    def grow(nodes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(nodes) == count:
            yield nodes
            return
        used = len(set(nodes))
        for node in range(min(used + 1, bounds.nodes)):
            if not (bounds.alone and node in nodes):
                yield from grow((*nodes, node))

    return grow(())


def connected(shape: Shape) -> bool:
    """Whether the threads are connected by the locations that they share."""
    groups: list[tuple[set[int], set[int]]] = []
    for number, thread in enumerate(shape.threads):
        places = {place for kind, at in thread if kind not in ("poll", "rfence", "flush", "wait") for place in at}
        members = {number}
        rest = []
        for others, known in groups:
            if known & places:
                members |= others
                places |= known
            else:
                rest.append((others, known))
        groups = [*rest, (members, places)]
    return len(groups) == 1


class _Search:
    def __init__(self, statements: int, bounds: Bounds, nodes: tuple[int, ...]) -> None:
        self.statements, self.bounds, self.nodes = statements, bounds, nodes
        self.owners: list[int] = []
        self.threads: list[list[Statement]] = [[] for _ in nodes]
        self.node_count = len(set(nodes))

    def shapes(self) -> Iterator[Shape]:
        yield from self._grow(0, self.statements, {})

    def _grow(self, number: int, left: int, pending: dict[int, int]) -> Iterator[Shape]:
        thread, last = self.threads[number], number + 1 == len(self.threads)
        if thread and thread[-1][0] not in ("mfence", "rfence"):
            if last and not left:
                yield Shape(tuple(self.owners), self.nodes, tuple(map(tuple, self.threads)))
            elif not last:
                yield from self._grow(number + 1, left, {})
        if left <= len(self.threads) - number - 1:
            return
        for statement in self._next(self.nodes[number], pending):
            kind, operands = statement
            change = {"get": 1, "put": 1, "poll": -1}.get(kind, 0)
            # The nodes are read now: a location that is new is taken back afterwards.
            node = operands[0] if kind in ("poll", "wait") else self._remote(kind, operands)
            after = {**pending, node: 0 if kind == "wait" else pending.get(node, 0) + change} if node >= 0 else pending
            thread.append(statement)
            yield from self._grow(number, left - 1, after)
            thread.pop()

    def _remote(self, kind: str, operands: tuple[int, ...]) -> int:
        match kind:
            case "get":
                return self.owners[operands[1]]
            case "put":
                return self.owners[operands[0]]
        return -1

    def _next(self, mine: int, pending: dict[int, int]) -> Iterator[Statement]:
        kinds = self.bounds.kinds
        for node, count in sorted(pending.items()):
            for kind in ("poll", "wait"):
                if kind in kinds and count > 0:
                    yield kind, (node,)
            for kind in ("rfence", "flush"):
                if kind in kinds:
                    yield kind, (node,)
        if "mfence" in kinds:
            yield "mfence", ()
        local = [kind for kind in ("load", "store", "CAS") if kind in kinds]
        for place in self._places((mine,)):
            for kind in local:
                yield kind, (place,)
        others = [node for node in range(self.bounds.nodes) if node != mine]
        if "get" in kinds:
            for x in self._places((mine,)):
                for z in self._places(others):
                    yield "get", (x, z)
        if "put" in kinds:
            for z in self._places(others):
                for x in self._places((mine,)):
                    yield "put", (z, x)

    def _places(self, nodes: Collection[int]) -> Iterator[int]:
        """Locations of ``nodes``, and a new one on each while the bounds allow one. New ones are taken back; a new node
        comes only after those that there are."""
        for place in range(len(self.owners)):
            if self.owners[place] in nodes:
                yield place
        if len(self.owners) < self.bounds.locations:
            used = max(self.node_count, max(self.owners, default=-1) + 1)
            for node in nodes:
                if node <= used:
                    self.owners.append(node)
                    yield len(self.owners) - 1
                    self.owners.pop()
