"""The graph that all layouts and writers take: nodes with lines of text, edges, and the lanes and rows of nodes.

A graph knows nothing of formats. How a node or an edge looks is a word or several ("final", "cycle po"), and each
writer has a table that says how it shows them (`Sheet` of `drawing.pen`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Node:
    """``name`` is unique in the whole picture. ``heading`` stands above ``lines`` and is shared by all nodes that have
    the same ``lane`` and ``row``. ``tooltip`` is for formats in which a reader can point at the node."""

    name: str
    lines: tuple[str, ...]
    look: str = ""
    tooltip: str = ""
    lane: int | None = None
    row: int | None = None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """``source`` and ``target`` are names of nodes. ``number`` is its place in a cycle, counted from 1. An edge that is
    ``tight`` keeps its ends close to each other where the layout has a choice. Formats that have room for it show
    ``detail`` after the label. The looks "end" and "order" are for layouts without rows: an edge to the node at the end
    of a lane, and one that keeps the order of a lane.
    """

    source: str
    target: str
    look: str = ""
    label: str | None = None
    number: int | None = None
    tooltip: str = ""
    tight: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """``clusters`` are graphs within this one, each with a frame and its title. ``lanes`` are the titles of the lanes
    that nodes stand in, by number, from left to right; ``rows`` are the names of nodes on one height, from left to
    right. An arrow from nowhere leads to the node ``start``."""

    title: str
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    clusters: Sequence[Graph] = ()
    lanes: Mapping[int, str] = field(default_factory=dict)
    rows: Sequence[Sequence[str]] = ()
    start: str | None = None


def prefixed(graph: Graph, title: str, prefix: str) -> Graph:
    """``graph``, which has nodes and edges alone, with another title and with ``prefix`` before all names."""
    nodes = [replace(node, name=prefix + node.name) for node in graph.nodes]
    edges = [replace(edge, source=prefix + edge.source, target=prefix + edge.target) for edge in graph.edges]
    return replace(graph, title=title, nodes=nodes, edges=edges)
