"""Shows a stage of the decision procedure: a few lines of text, and its graphs as SVG or DOT."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pgasrob.drawing import dot, layered_svg
from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.robustness import stages

DOT = dot.DotStyle(
    "pgasrob",
    "rankdir=LR;",
    'shape=circle, fontname="Helvetica", fontsize=11',
    'fontname="Helvetica", fontsize=10',
    {
        "final": "shape=doublecircle",
        "long": "shape=box, style=rounded",
        "final long": "shape=box, style=rounded, peripheries=2",
    },
)
ROUND = 3
"""Letters of a label up to which a state is a circle in DOT."""
EMPTY = "ε"


def stage_lines(stage: stages.Stage) -> list[str]:
    """Title, counts and remarks, every line as a DOT comment, so that the whole output is one DOT file."""
    width = max((len(name) for name, _ in stage.counts), default=0)
    return [
        f"// {stage.title}",
        *(f"//   {name:<{width}}  {value}" for name, value in stage.counts),
        *(f"//   {remark}" for remark in stage.remarks),
    ]


def stage_svg(stage: stages.Stage, *, embedded: bool = False) -> str:
    """The graphs of ``stage`` as one SVG element; ``embedded``: as part of a page, without the XML prolog."""
    return layered_svg.graphs_svg(stage.title, list(map(automaton, stage.graphs)), embedded=embedded)


def automaton_svg(graph: stages.Graph, taken: Collection[tuple[int, int]] = ()) -> str:
    """``graph`` as an SVG element in a page. Edges in ``taken``, pairs of nodes, are drawn heavy: a run of it."""
    return layered_svg.graph_svg(automaton(graph, taken), embedded=True)


def to_dot(graphs: Sequence[stages.Graph], *, bundled: bool = False) -> str:
    """All ``graphs`` as one digraph, each in a cluster of its own with its title.

    ``bundled``: edges with the same ends are one edge with all their labels.
    """
    clusters = [automaton(graph, prefix=f"n{index}_", bundled=bundled) for index, graph in enumerate(graphs)]
    return dot.to_dot(Graph("", [], [], clusters), DOT)


def automaton(
    graph: stages.Graph, taken: Collection[tuple[int, int]] = (), prefix: str = "", bundled: bool = False
) -> Graph:
    """``graph`` to be drawn. The names of its nodes are their numbers behind ``prefix``."""
    met = {node for pair in taken for node in pair}
    nodes = []
    for number, label in enumerate(graph.nodes):
        looks = {"taken": number in met, "final": number in graph.finals, "long": len(label) > ROUND and bool(prefix)}
        nodes.append(Node(f"{prefix}{number}", (label,), " ".join(look for look, holds in looks.items() if holds)))
    labels: list[tuple[int, int, str]] = graph.edges
    if bundled:
        together: dict[tuple[int, int], list[str]] = {}
        for source, target, label in graph.edges:
            together.setdefault((source, target), []).append(label or EMPTY)
        labels = [(*ends, "\n".join(dict.fromkeys(some))) for ends, some in together.items()]
    edges = [
        Edge(f"{prefix}{source}", f"{prefix}{target}", "taken" * ((source, target) in taken), label)
        for source, target, label in labels
    ]
    return Graph(graph.title, nodes, edges, start=f"{prefix}0" if nodes else None)
