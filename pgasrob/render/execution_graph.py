"""Draws execution graphs of litmus tests as SVG or DOT, in panels one below the other.

Of rf, mo and rb what does not follow from other edges is drawn, and the edges of a cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pgasrob.diagnostics import visible
from pgasrob.drawing.dot import DotStyle, to_dot
from pgasrob.drawing.graph_to_draw import Edge, Graph, Node, prefixed
from pgasrob.render.lane_panels import Look, Panel, panels_svg
from pgasrob.render.litmus_json import ExecutionObject
from pgasrob.render.litmus_text import shown_event

DRAWN = ("rf", "mo", "rb")
NAMES = {
    "po": "program order",
    "rf": "reads from",
    "mo": "modification order",
    "rb": "reads before",
}
"""The relations that every model has."""
OTHERS = {
    "ippo": "issue-preserved program order",
    "oppo": "observation-preserved program order",
    "pf": "polls from",
    "nfo": "NIC flush order",
    "hb": "happens before",
}
"""The relations that some models have."""
INITIALLY = "initially"
"""The title of the lane of the initial writes."""
LOOKS = {
    "other": Look("faint", "2 3"),
    "rf": Look("id"),
    "mo": Look("cf"),
    "rb": Look("cf", "6 4"),
    "po": Look("po"),
}
DOT = DotStyle(
    "executions",
    'charset="UTF-8"; newrank=true; labelloc=t; fontname="Helvetica"; fontsize=12;',
    'shape=box, fontname="Courier", fontsize=11',
    'fontname="Helvetica", fontsize=10',
    {"cycle": "penwidth=2.5"},
    {
        "other": "style=dotted, constraint=false",
        "rf": "style=solid, constraint=false",
        "mo": "style=solid, arrowhead=empty, constraint=false",
        "rb": "style=dashed, constraint=false",
        "po": "style=solid, color=gray40, constraint=false",
        "order": "style=solid, color=gray40",
    },
    space="  ",
    clustered=True,
)
"""Edges differ by their line, not by colour: it can be printed."""
LEGEND = "rf: reads from. mo: modification order. rb: reads before. Gray: program order."
NUMBERED = "Bold and numbered: a cycle."


@dataclass(frozen=True, slots=True)
class Related:
    """An edge between two events. ``number`` is its place in a cycle, counted from 1; ``rule`` is the rule that it is
    by, where that says more than the relation."""

    source: int
    target: int
    relation: str
    number: int | None = None
    rule: str = ""

    @property
    def label(self) -> str:
        """``rf``, in a cycle ``2 rf``."""
        return self.relation if self.number is None else f"{self.number} {self.relation}"


def edges(execution: ExecutionObject, relations: Collection[str] = DRAWN) -> list[Related]:
    """The edges to draw, those of the cycle last. Edges of the initial writes are left out unless the cycle passes
    there, and so are those within an operation, whose events have an order anyway."""
    cycle = [
        Related(
            edge["source"],
            edge["target"],
            edge["relation"],
            number,
            "" if edge["rule"] == edge["relation"] else edge["rule"],
        )
        for number, edge in enumerate(execution["cycle"], 1)
    ]
    on_cycle = {(edge.source, edge.target) for edge in cycle}
    found = []
    for relation in relations:
        for source, target in _immediate(execution, relation):
            first, second = (execution["events"][end] for end in (source, target))
            within = (first["thread"], first["operation"]) == (second["thread"], second["operation"])
            if first["thread"] is not None and not within and (source, target) not in on_cycle:
                found.append(Related(source, target, relation))
    return found + cycle


def _immediate(execution: ExecutionObject, relation: str) -> list[tuple[int, int]]:
    """The pairs of ``relation`` between which no write stands: of mo those that do not follow from two others, of rb
    those to the first of the writes."""
    pairs = {(source, target) for source, target in execution["relations"].get(relation, [])}
    if relation not in ("mo", "rb"):
        return sorted(pairs)
    later = {(source, target) for source, target in execution["relations"].get("mo", [])}
    return sorted(
        (source, target)
        for source, target in pairs
        if not any((source, middle) in pairs and (middle, target) in later for _, middle in pairs)
    )


def execution_graph(execution: ExecutionObject) -> Graph:
    """``execution`` with a lane for each thread, and one for the initial writes where an edge meets one. The names of
    its nodes are the numbers of the events."""
    drawn, events = edges(execution), execution["events"]
    met = {end for edge in drawn for end in (edge.source, edge.target)}
    on_cycle = {end for edge in drawn if edge.number for end in (edge.source, edge.target)}
    titles, nodes = list[str](), list[Node]()

    def add(number: int, row: int, text: str, heading: str = "") -> None:
        look = "cycle" * (number in on_cycle)
        nodes.append(Node(str(number), (text,), look, lane=len(titles), row=row, heading=heading))

    initial = [number for number, event in enumerate(events) if event["thread"] is None and number in met]
    for row, number in enumerate(initial):
        add(number, row, shown_event(events[number]).removeprefix("init "))
    titles += [INITIALLY] * bool(initial)
    found = []
    for thread, about in enumerate(execution["threads"]):
        numbers = [number for number, event in enumerate(events) if event["thread"] == thread]
        operations = sorted({events[number]["operation"] for number in numbers})
        for number in numbers:
            event = events[number]
            add(number, operations.index(event["operation"]), shown_event(event), visible(event["text"]))
        found += [Edge(str(one), str(other), "order") for one, other in pairwise(numbers)]
        titles.append(f"thread {thread + 1} on node {about['node']}")
    for edge in drawn:
        name = (NAMES | OTHERS).get(edge.relation, "")
        tooltip = f"{edge.label}{f', {name}' * bool(name)}{f' by {edge.rule}' * bool(edge.rule)}"
        look = edge.relation if edge.relation in NAMES else "other"
        found.append(Edge(str(edge.source), str(edge.target), look, edge.label, edge.number, tooltip, detail=edge.rule))
    return Graph("", nodes, found, lanes=dict(enumerate(titles)))


def panel(title: str, sentences: Sequence[str], execution: ExecutionObject) -> Panel:
    """``execution`` with what is said of it, and the names of the relations that are drawn."""
    graph = execution_graph(execution)
    relations = {edge.relation for edge in edges(execution)} - {"po"}
    lanes = [node.lane for node in graph.nodes if graph.lanes[node.lane or 0] != INITIALLY]
    legend = ["from top to bottom: program order (po)"] * (len(lanes) > len(set(lanes)))
    legend += [f"{relation}: {name}" for relation, name in (NAMES | OTHERS).items() if relation in relations]
    legend += ["heavy, numbered: a cycle"] * bool(execution["cycle"])
    return Panel(title, sentences, graph, legend, [INITIALLY])


def executions_svg(title: str, panels: Sequence[Panel]) -> str:
    """All ``panels`` as one SVG document."""
    return panels_svg("pg-litmus", title, panels, LOOKS)


def executions_dot(title: str, panels: Sequence[Panel]) -> str:
    """All ``panels`` as one digraph, a cluster for each, in the DOT language of Graphviz."""
    numbered = f" {NUMBERED}" * any(edge.number for panel in panels for edge in panel.graph.edges)
    clusters = [prefixed(panel.graph, panel.title, f"e{number}_") for number, panel in enumerate(panels, 1)]
    return to_dot(Graph(f"{title}\n{LEGEND}{numbered}", [], [], clusters), DOT)
