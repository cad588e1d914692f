"""Writes graphs in the DOT language. Graphviz lays them out; it is not needed to write them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.palette import colour
from pgasrob.drawing.pen import Sheet

LARGE = 1_000
"""Rows times lanes from which on `dot` is asked for straight edges and a shorter search for places: otherwise it takes
minutes."""
HEAVY = "penwidth=3"
_ENTITY = re.compile(r"&(?=#?\w+;)")


@dataclass(frozen=True, slots=True)
class DotStyle:
    """The attributes in a DOT text: ``graph``, ``node`` and ``edge`` are those of all, ``nodes`` and ``edges`` have
    further ones by look, ``numbered`` those of edges on a cycle where they differ. ``name`` is that of the digraph.
    ``space`` is put on both sides of the label of an edge. ``clustered``: lanes become clusters, rows are ignored."""

    name: str
    graph: str
    node: str
    edge: str
    nodes: Mapping[str, str] = field(default_factory=dict)
    edges: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, str] = field(default_factory=dict)
    space: str = ""
    clustered: bool = False


def to_dot(graph: Graph, style: DotStyle) -> str:
    """``graph`` as one digraph."""
    large = " splines=line; nslimit=1;" * (len(graph.rows) * len(graph.lanes) >= LARGE)
    lines = [f"digraph {style.name} {{", f"  {style.graph}{large}"]
    lines += [f"  label={quote(graph.title)};"] if graph.title else []
    lines += [f"  node [{style.node}];", f"  edge [{style.edge}];"]
    lines += [f"  {line}" for line in _Writer(style).body(graph, "")]
    return "\n".join([*lines, "}"]) + "\n"


def quote(text: str) -> str:
    """``text`` as a DOT string, which Graphviz shows as it is: it would read ``&lt;`` as an entity."""
    escaped = _ENTITY.sub("&amp;", text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class _Writer:
    def __init__(self, style: DotStyle) -> None:
        self._style, self._nodes = style, Sheet(style.nodes)

    def body(self, graph: Graph, name: str) -> Iterator[str]:
        """The statements for ``graph``. ``name`` is a suffix for names of its start and of clusters in it."""
        if self._style.clustered and graph.lanes:
            graph = _with_clusters(graph)
        if graph.start is not None:
            yield f'start{name} [shape=point, label=""];'
        yield from map(self._node, graph.nodes)
        if graph.start is not None:
            yield f"start{name} -> {graph.start};"
        for number, cluster in enumerate(graph.clusters):
            yield f"subgraph cluster{name}_{number} {{"
            yield f"  label={quote(cluster.title)};"
            yield from (f"  {line}" for line in self.body(cluster, f"{name}_{number}"))
            yield "}"
        if graph.lanes:
            yield from self._lanes(graph)
        else:
            yield from map(_side_by_side, graph.rows)
        heights = {name: number for number, row in enumerate(graph.rows) for name in row}
        for edge in graph.edges:
            if graph.lanes and edge.look in ("end", "order"):
                continue
            level = bool(graph.lanes) and heights.get(edge.source) == heights.get(edge.target)
            yield self._edge(edge, level)

    def _node(self, node: Node) -> str:
        text = "\n".join([node.heading, *node.lines] if node.heading else node.lines)
        tooltip = f", tooltip={quote(node.tooltip)}" if node.tooltip else ""
        look = self._nodes.look(frozenset(node.look.split()))
        return f"{node.name} [label={quote(text)}{tooltip}{f', {look}' if look else ''}];"

    def _edge(self, edge: Edge, level: bool) -> str:
        numbered = self._style.numbered if edge.number is not None else {}
        attributes = [(self._style.edges | numbered).get(edge.look, "")]
        attributes += ["weight=100"] if edge.tight else []
        attributes += [HEAVY] if edge.number is not None else []
        if edge.label is not None:
            # Graphviz may fail to draw an edge within a row with a label that it makes room for.
            detail = f" ({edge.detail})" if edge.detail else ""
            text = f"{self._style.space}{edge.label}{detail}{self._style.space}"
            attributes.append(f"{'xlabel' if level else 'label'}={quote(text)}")
        attributes += ["fontsize=13"] if edge.number is not None else []
        attributes += [f"tooltip={quote(edge.tooltip)}"] if edge.tooltip else []
        shown = ", ".join(filter(None, attributes))
        return f"{edge.source} -> {edge.target}{f' [{shown}]' if shown else ''};"

    def _lanes(self, graph: Graph) -> Iterator[str]:
        """The statements that put each node into its row and on the line of its lane, or beside it where its look is
        "step". A row in which a lane has no node gets an invisible point there, so that no node crosses the line."""
        nodes = {node.name: node for node in graph.nodes}
        beside = {node.name for node in graph.nodes if "step" in node.look.split()}
        left = Counter(node.lane for name, node in nodes.items() if name not in beside and node.row is not None)
        begun = dict.fromkeys(graph.lanes, False)
        above = [f"lane{lane:d}" for lane in graph.lanes]
        for name, title in zip(above, graph.lanes.values(), strict=True):
            yield f'{name} [label={quote(title)}, shape=plaintext, style="", fontname="Helvetica-Bold"];'
        yield _side_by_side(above)
        for number, names in enumerate(graph.rows):
            on = {nodes[name].lane: name for name in names if name not in beside}
            steps = defaultdict[int | None, list[str]](list)
            for name in names:
                if name in beside:
                    steps[nodes[name].lane].append(name)
            row = [on[None]] if None in on else []
            axes = []
            for lane, before in zip(graph.lanes, above, strict=True):
                axes.append(on.get(lane, f"axis{number}_{lane:d}"))
                if lane not in on:
                    yield f"{axes[-1]} [shape=point, style=invis, width=0];"
                if not (begun[lane] and left[lane]):  # else program order is to be seen there
                    yield f"{before} -> {axes[-1]} [{_AXIS}];"
                elif lane not in on or before.startswith("axis"):
                    yield f"{before} -> {axes[-1]} [style=invis];"
                row += [axes[-1], *steps[lane]]
                begun[lane] |= lane in on
                left[lane] -= lane in on
            yield _side_by_side(row)
            above = axes
        ends = {node.lane: node for node in graph.nodes if node.look.startswith("end")}
        for lane, before in zip(graph.lanes, above, strict=True):
            if lane in ends:
                yield f"{before} -> {ends[lane].name} [{_AXIS}];"
        if ends:
            yield _side_by_side([ends[lane].name for lane in graph.lanes if lane in ends])


def _with_clusters(graph: Graph) -> Graph:
    """``graph`` with a cluster for each lane, their first nodes side by side."""
    lane_of = {node.name: node.lane for node in graph.nodes}
    clusters = []
    for lane, title in graph.lanes.items():
        within = [edge for edge in graph.edges if edge.look == "order" and lane_of[edge.source] == lane]
        clusters.append(Graph(title, [node for node in graph.nodes if node.lane == lane], within))
    firsts = [cluster.nodes[0].name for cluster in clusters if cluster.nodes]
    edges = [edge for edge in graph.edges if edge.look != "order"]
    return Graph(graph.title, [], edges, clusters, rows=[firsts] if len(firsts) > 1 else [])


_AXIS = f'arrowhead=none, color="{colour("rule")}", weight=100'


def _side_by_side(nodes: Sequence[str]) -> str:
    return f"{{ rank=same; {' -> '.join(nodes)}{' [style=invis]' if len(nodes) > 1 else ''}; }}"
