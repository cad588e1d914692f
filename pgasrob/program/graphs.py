"""Graph algorithms on nodes 0, 1, ... given by their successors: components, reachability, dominators."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count
from operator import or_
from typing import TypeVar

from pgasrob.stop_points import stop_point

Successors = Sequence[Sequence[int]]
Node = TypeVar("Node", bound=Hashable)


def reached(starts: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """``starts``, and all that comes ``after`` one of them, or after those."""
    found = set(starts)
    stack = list(found)
    while stack:
        stop_point()
        fresh = set(after(stack.pop())) - found
        found |= fresh
        stack += fresh
    return found


def reached_by(edges: Iterable[tuple[Node, Node]], starts: Iterable[Node]) -> set[Node]:
    """``starts``, and all that ``edges`` lead to from there."""
    after: dict[Node, list[Node]] = {}
    for node, target in edges:
        after.setdefault(node, []).append(target)
    return reached(starts, lambda node: after.get(node, ()))


def components(successors: Successors) -> list[int]:
    """For each node a number that it shares with the nodes to and from which it leads (Kosaraju's algorithm)."""
    found = [-1] * len(successors)
    predecessors = reversed_edges(successors)
    for root in reversed(postorder(successors, range(len(successors)))):
        stack = [root] if found[root] < 0 else []
        while stack:
            stop_point()
            node = stack.pop()
            if found[node] < 0:
                found[node] = root
                stack += predecessors[node]
    return found


def following(successors: Successors) -> list[int]:
    """For each node the set of those to which it leads, and itself, as bits."""
    found = [1 << node for node in range(len(successors))]
    changed = True
    while changed:
        stop_point()
        changed = False
        for node in reversed(range(len(successors))):  # where nodes are numbered forwards it is mostly done in one go
            new = reduce(or_, (found[each] for each in successors[node]), found[node])
            if new != found[node]:
                found[node], changed = new, True
    return found


def dominators(successors: Successors, starts: Sequence[int]) -> list[int | None]:
    """For each node its immediate dominator, the last node before it on every path from ``starts``; None when there is
    none, or no path (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm)."""
    root = len(successors)
    graph = [*successors, starts]
    order = postorder(graph, [root])
    place = {node: number for number, node in enumerate(order)}
    predecessors = reversed_edges(graph)
    last: dict[int, int] = {root: root}
    changed = True
    while changed:
        stop_point()
        changed = False
        for node in reversed(order[:-1]):
            first, *others = [each for each in predecessors[node] if each in last]
            for other in others:
                while first != other:
                    if place[first] < place[other]:
                        first = last[first]
                    else:
                        other = last[other]
            if last.get(node) != first:
                last[node], changed = first, True
    return [None if (found := last.get(node)) == root else found for node in range(root)]


def up(node: int, above: Sequence[int | None], end: int | None = None) -> Iterator[int]:
    """``node`` and what dominates it up to ``end``, which is left out (None: all); ``above``: the immediate
    :func:`dominators`."""
    at: int | None = node
    while at is not None and at != end:
        stop_point()
        yield at
        at = above[at]


def spans_below(above: Sequence[int | None]) -> dict[int, tuple[int, int]]:
    """The nodes in an order in which what one dominates comes right after it: for each its number and that of the last
    of these; ``above``: the immediate :func:`dominators`."""
    below: list[list[int]] = [[] for _ in above]
    for node, last in enumerate(above):
        if last is not None:
            below[last].append(node)
    found: dict[int, tuple[int, int]] = {}
    numbers = count()
    stack = [(node, False) for node, last in enumerate(above) if last is None]
    first: dict[int, int] = {}
    while stack:
        stop_point()
        node, done = stack.pop()
        if done:
            found[node] = first[node], next(numbers)
        else:
            first[node] = next(numbers)
            stack += [(node, True), *((each, False) for each in below[node])]
    return found


def natural_loops(successors: Successors, below: Mapping[int, tuple[int, int]]) -> list[frozenset[int]]:
    """The loops that are entered at one node alone, which dominates the others; those with a common head are one.
    ``below``: as :func:`spans_below` gives it."""
    before, ends = reversed_edges(successors), dict[int, set[int]]()
    for node, targets in enumerate(successors):
        for head in targets:
            if below[head][0] <= below[node][0] <= below[head][1]:
                ends.setdefault(head, set()).add(node)
    return [frozenset(_loop(head, last, before)) for head, last in ends.items()]


def _loop(head: int, ends: set[int], before: Successors) -> set[int]:
    """The nodes from which one comes to ``ends`` without passing ``head``, and this."""
    return reached({head, *ends}, lambda node: () if node == head else before[node])


def blocks(neighbours: Successors) -> dict[tuple[int, int], int]:
    """For each edge of a graph whose edges go both ways a number that it shares with those on a common circle.

    Two neighbours of a node are joined by a way round this node when their edges to it share the number (Hopcroft,
    Tarjan 1973: biconnected components).
    """
    found: dict[tuple[int, int], int] = {}
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    for root in range(len(neighbours)):
        edges: list[tuple[int, int]] = []
        stack = [(root, root, iter(neighbours[root]))] if root not in order else []
        order.setdefault(root, len(order))
        while stack:
            stop_point()
            node, before, rest = stack[-1]
            low.setdefault(node, order[node])
            for other in rest:
                if other not in order:
                    order[other] = len(order)
                    edges.append((node, other))
                    stack.append((other, node, iter(neighbours[other])))
                    break
                if other != before and order[other] < order[node]:
                    edges.append((node, other))
                    low[node] = min(low[node], order[other])
            else:
                stack.pop()
                low[before] = min(low[before], low[node])
                edge = None
                while node != root and low[node] >= order[before] and edge != (before, node):
                    edge = edges.pop()
                    found[edge] = found[edge[::-1]] = order[node]
    return found


def reversed_edges(successors: Successors) -> list[list[int]]:
    """For each node those that it comes after."""
    found: list[list[int]] = [[] for _ in successors]
    for node, leaving in enumerate(successors):
        for target in leaving:
            found[target].append(node)
    return found


def postorder(successors: Successors, starts: Iterable[int]) -> list[int]:
    """The nodes reached from ``starts``, each after those that are first reached from it."""
    seen: set[int] = set()
    order: list[int] = []
    for start in starts:
        stack = [(start, iter(successors[start]))] if start not in seen else []
        seen.add(start)
        while stack:
            stop_point()
            node, left = stack[-1]
            following = next((each for each in left if each not in seen), None)
            if following is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(successors[following])))
    return order
