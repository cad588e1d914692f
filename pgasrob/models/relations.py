"""Relations on events as rows of bits (bit ``b`` of row ``a`` is set for the pair (a, b)), and shortest paths in
graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from pgasrob.program.bits import members
from pgasrob.stop_points import stop_point

Rows = list[int]


def empty(size: int) -> Rows:
    return [0] * size


def of_pairs(size: int, pairs: Iterable[tuple[int, int]]) -> Rows:
    rows = [0] * size
    for source, target in pairs:
        rows[source] |= 1 << target
    return rows


def pairs(rows: Sequence[int]) -> Iterable[tuple[int, int]]:
    return ((source, target) for source, row in enumerate(rows) for target in members(row))


def union(*relations: Sequence[int]) -> Rows:
    rows = list(relations[0])
    for relation in relations[1:]:
        for source, row in enumerate(relation):
            rows[source] |= row
    return rows


def overlap(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether some pair is in both relations."""
    return any(row & other for row, other in zip(first, second, strict=True))


def closed(rows: Sequence[int]) -> Rows:
    """The transitive closure (Warshall)."""
    closure = list(rows)
    for middle in range(len(closure)):
        bit, reached = 1 << middle, closure[middle]
        if reached:
            for source, row in enumerate(closure):
                if row & bit:
                    closure[source] = row | reached
    return closure


def joined(rows: Rows, source: int, target: int) -> Rows | None:
    """The closure of ``rows``, which are closed and irreflexive, with one pair more; None when that is a cycle.

    ``rows`` stay as they are, so a search may go back to them.
    """
    if source == target or rows[target] >> source & 1:
        return None
    if rows[source] >> target & 1:
        return rows
    bit, reached = 1 << source, rows[target] | 1 << target
    extended = [row | reached if row & bit else row for row in rows]
    extended[source] |= reached
    return extended


def with_pairs(rows: Rows, pairs: Iterable[tuple[int, int]]) -> Rows | None:
    """The closure of ``rows`` with all ``pairs``, as by :func:`joined`; None when they close a cycle."""
    for source, target in pairs:
        if (extended := joined(rows, source, target)) is None:
            return None
        rows = extended
    return rows


def converse(rows: Sequence[int]) -> Rows:
    turned = [0] * len(rows)
    for source, row in enumerate(rows):
        bit = 1 << source
        for target in members(row):
            turned[target] |= bit
    return turned


Node = TypeVar("Node", bound=Hashable)


def shortest_path(after: Mapping[Node, Iterable[Node]], source: Node, target: Node) -> list[Node]:
    """The nodes of a shortest path from ``source`` to ``target``, which has an edge at least (so a cycle, where the two
    are one); empty when there is none."""
    before: dict[Node, Node] = {}
    waiting = deque([source])
    while waiting and target not in before:
        stop_point()
        node = waiting.popleft()
        for following in after.get(node, ()):
            if following not in before:
                before[following] = node
                waiting.append(following)
    path = [target] if target in before else []
    while path and (len(path) == 1 or path[-1] != source):
        path.append(before[path[-1]])
    return path[::-1]
