"""Lays out a small directed graph in layers: the places of its nodes, edges and labels, without any system program.

Layers run downwards (the longest path decides), crossings are reduced by barycentres, and places across a layer
follow from the neighbours' by least squares (Sugiyama's method). Between any two layers of nodes there is one for the
labels of the edges: every label has a place of its own there, so that none can lie on a node, on another label or on
an edge. Pictures are readable up to some forty nodes; the layout of larger graphs is correct, too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pgasrob.drawing.graph_to_draw import Edge, Graph, Node

LETTER, LINE = 7.3, 15.0
"""Width of a letter and height of a line of monospaced type of 12 px, rather too large than too small."""
LONGEST, MOST_LINES = 34, 6
"""Characters of a line of a label, and lines of one."""
RADIUS = 15.0
GAP = 14.0
"""Between neighbours in a layer."""
SWEEPS = 12
OPENS = 480.0
"""The largest x of the first node: a viewer that is narrower than the picture shows its left part first."""
MOST_CROSSINGS = 3_000
"""Edges between two layers up to which their crossings are counted."""


@dataclass(slots=True)
class Item:
    """A node, or the place where an edge passes a layer. ``x`` is its anchor, from which it takes up room on both
    sides; the line of an edge is at the anchor and its label, if it has one, to the right of it."""

    layer: int
    left: float
    right: float
    height: float
    lines: list[str]
    node: Node | None = None
    x: float = 0.0
    y: float = 0.0
    above: list[Item] = field(default_factory=list)
    below: list[Item] = field(default_factory=list)
    place: int = 0


@dataclass(slots=True)
class Route:
    """An edge, or several with the same ends of which ``edge`` is the first, from its upper end to its lower one.
    ``upwards``: it points up."""

    edge: Edge
    items: list[Item]
    upwards: bool


@dataclass(slots=True)
class Loop:
    """The edges from a node to itself, of which ``edge`` is the first, with their label."""

    edge: Edge
    item: Item
    lines: list[str]


@dataclass(slots=True)
class Layout:
    """A graph that is laid out, and the room that it takes. ``bands`` are the upper and lower edge of each layer."""

    nodes: list[Item]
    routes: list[Route]
    loops: list[Loop]
    bands: list[tuple[float, float]]
    width: float
    height: float


def layout(graph: Graph) -> Layout:
    """The layout of ``graph``: of its nodes and edges; it has neither lanes nor clusters."""
    numbers = {node.name: number for number, node in enumerate(graph.nodes)}
    together: dict[tuple[int, int], list[Edge]] = {}
    for edge in graph.edges:
        together.setdefault((numbers[edge.source], numbers[edge.target]), []).append(edge)
    between = [pair for pair in together if pair[0] != pair[1]]
    upwards = _against(len(graph.nodes), between)
    level = _levels(len(graph.nodes), [pair[::-1] if pair in upwards else pair for pair in between])
    loops = {source: _label(edges) for (source, target), edges in together.items() if source == target}
    layers: list[list[Item]] = [[] for _ in range(2 * max(level, default=0) + 1)]
    nodes = []
    for number, node in enumerate(graph.nodes):
        item = _node(node, 2 * level[number], loops.get(number))
        nodes.append(item)
        layers[item.layer].append(item)
    routes = []
    for source, target in between:
        edges, up = together[source, target], (source, target) in upwards
        first, last = (nodes[target], nodes[source]) if up else (nodes[source], nodes[target])
        routes.append(Route(edges[0], _chain(first, last, _label(edges), up, layers), up))
    _order(layers)
    _across(layers)
    _lean(layers, nodes)
    bands = _down(layers)
    left = min((item.x - item.left for layer in layers for item in layer), default=0.0)
    for layer in layers:
        for item in layer:
            item.x -= left
    width = max((item.x + item.right for layer in layers for item in layer), default=0.0)
    drawn = [Loop(together[number, number][0], nodes[number], lines) for number, lines in loops.items()]
    return Layout(nodes, routes, drawn, bands, width, bands[-1][1] if bands else 0.0)


def _chain(first: Item, last: Item, label: list[str], up: bool, layers: list[list[Item]]) -> list[Item]:
    """The items of an edge from the upper node ``first`` to ``last``, one in each of the ``layers`` that it passes."""
    chain = [first]
    for number in range(first.layer + 1, last.layer):
        # The label stands next to where the edge begins.
        here = label if number == (last.layer - 1 if up else first.layer + 1) else []
        passing = Item(number, GAP / 3, _width(here) + 6 if here else GAP / 3, len(here) * LINE, here)
        layers[number].append(passing)
        chain.append(passing)
    chain.append(last)
    for upper, lower in pairwise(chain):
        upper.below.append(lower)
        lower.above.append(upper)
    return chain


def _label(edges: Sequence[Edge]) -> list[str]:
    """The lines of the label of ``edges`` with the same ends."""
    labels = list(dict.fromkeys(edge.label for edge in edges if edge.label is not None))
    lines = [line for label in labels for line in textwrap.wrap(label, LONGEST, subsequent_indent="  ")]
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], f"and {len(labels)} in all ..."]


def _width(lines: Sequence[str]) -> float:
    return max((len(line) for line in lines), default=0) * LETTER


def _node(node: Node, layer: int, loop: list[str] | None) -> Item:
    """The item of ``node``; ``loop`` is the label of the edges to itself, if it has any."""
    lines = [piece for line in node.lines for piece in textwrap.wrap(line, LONGEST)] or [""]
    half = max(RADIUS, _width(lines) / 2 + 9) if max(map(len, node.lines), default=0) > 2 else RADIUS
    height = max(2 * RADIUS, len(lines) * LINE + 10)
    right = half
    if loop is not None:
        right += 30 + _width(loop)
        height = max(height, len(loop) * LINE)
    return Item(layer, half, right, height, lines, node)


def _against(size: int, pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """The edges that close a cycle in a depth-first search from node 0. With these reversed the graph is acyclic."""
    on_path, done = set[int](), set[int]()
    found: set[tuple[int, int]] = set()

    def visit(node: int) -> None:
        on_path.add(node)
        for source, target in pairs:
            if source == node and target in on_path:
                found.add((source, target))
            elif source == node and target not in done:
                visit(target)
        on_path.remove(node)
        done.add(node)

    for root in range(size):
        if root not in done:
            visit(root)
    return found


def _levels(size: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest path to each node of an acyclic graph."""
    level = [0] * size
    for _ in range(size):  # no path is longer
        for source, target in pairs:
            level[target] = max(level[target], level[source] + 1)
    return level


def _order(layers: list[list[Item]]) -> None:
    """Put each layer into an order with few crossings."""
    _number(layers)
    best, kept = _crossings(layers), [list(layer) for layer in layers]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            # Where there is no neighbour an item stays where it is.
            def wanted(item: Item, down: bool = down) -> float:
                near = item.above if down else item.below
                return sum(each.place for each in near) / len(near) if near else item.place

            layer.sort(key=wanted)
            _number([layer])
        found = _crossings(layers)
        if found < best:
            best, kept = found, [list(layer) for layer in layers]
    for layer, order in zip(layers, kept, strict=True):
        layer[:] = order
    _number(layers)


def _number(layers: list[list[Item]]) -> None:
    for layer in layers:
        for place, item in enumerate(layer):
            item.place = place


def _crossings(layers: list[list[Item]]) -> int:
    count = 0
    for layer in layers:
        pairs = [(item.place, lower.place) for item in layer for lower in item.below]
        if len(pairs) > MOST_CROSSINGS:
            continue
        count += sum((a - c) * (b - d) < 0 for index, (a, b) in enumerate(pairs) for c, d in pairs[index + 1 :])
    return count


def _across(layers: list[list[Item]]) -> None:
    """Places across: near the neighbours, in the order of the layer, with room for all."""
    for layer in layers:
        _place(layer, [0.0] * len(layer))
    for sweep in range(4 * SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            _place(layer, [_near(item, sweep) for item in layer])
    # Chains that do not branch become straight where there is room.
    for layer in layers:
        _place(layer, [item.above[0].x if item.above and _single(item, item.above[0]) else item.x for item in layer])


def _lean(layers: list[list[Item]], nodes: list[Item]) -> None:
    """Move the first node to the left until it is in view where a wide picture is opened, and what is below it as far
    as there is room."""
    left = min((item.x - item.left for layer in layers for item in layer), default=0.0)
    shift = max(0.0, nodes[0].x - left - OPENS) if nodes else 0.0
    for layer in layers:
        shift = min([shift, *(item.x - item.left - left for item in layer)])
        for item in layer:
            item.x -= shift


def _near(item: Item, sweep: int) -> float:
    """Where ``item`` wants to be: first under or over its neighbours on one side, later in the middle of all."""
    near = item.above + item.below if sweep >= SWEEPS else item.above if sweep % 2 == 0 else item.below
    # Where a branch begins or ends is the place for a bend.
    weights = [1.0 if _single(item, each) else 0.1 for each in near]
    return sum(each.x * weight for each, weight in zip(near, weights, strict=True)) / sum(weights) if near else item.x


def _single(item: Item, other: Item) -> bool:
    """Whether two neighbours have no other neighbours on the sides on which they face each other."""
    return len(_facing(item, other)) == 1 == len(_facing(other, item))


def _facing(item: Item, other: Item) -> list[Item]:
    """The neighbours of ``item`` on the side of ``other``."""
    return item.above if other.layer < item.layer else item.below


def _place(layer: list[Item], wanted: list[float]) -> None:
    """The places nearest to those ``wanted``, by least squares, that keep the order and the distances.

    With the distances taken off it is the best non-decreasing sequence: neighbours that would overtake each other are
    pooled, and each pool stands at its mean.
    """
    if not layer:
        return
    offsets = [0.0]
    for before, item in pairwise(layer):
        offsets.append(offsets[-1] + before.right + GAP + item.left)
    pools: list[tuple[float, int]] = []  # sum and size
    for target, offset in zip(wanted, offsets, strict=True):
        total, size = target - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / size:
            earlier, count = pools.pop()
            total, size = total + earlier, size + count
        pools.append((total, size))
    places = [total / size for total, size in pools for _ in range(size)]
    for item, place, offset in zip(layer, places, offsets, strict=True):
        item.x = place + offset


def _down(layers: list[list[Item]]) -> list[tuple[float, float]]:
    """Places down; between two layers there is more room where edges run far across."""
    bands: list[tuple[float, float]] = []
    y = 0.0
    for layer in layers:
        far = max((abs(item.x - upper.x) for item in layer for upper in item.above), default=0.0)
        if bands:
            y += min(60.0, 12.0 + far / 5)
        height = max((item.height for item in layer), default=0.0)
        for item in layer:
            item.y = y + height / 2
        bands.append((y, y + height))
        y += height
    return bands
