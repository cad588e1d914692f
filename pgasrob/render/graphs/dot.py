"""Graphs in the DOT language of Graphviz. Nothing is laid out here, so no Graphviz is needed to write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.robustness.stages import Graph


def to_dot(graphs: Sequence[Graph]) -> str:
    """All ``graphs`` as one digraph, each in a cluster of its own with its title."""
    lines = [
        "digraph pgasrob {",
        "  rankdir=LR;",
        '  node [shape=circle, fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for index, graph in enumerate(graphs):
        lines += [f"  subgraph cluster_{index} {{", f"    label={quote(graph.title)};", *_body(graph, index), "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _body(graph: Graph, index: int) -> Iterator[str]:
    yield f'    start_{index} [shape=point, label=""];'
    for number, label in enumerate(graph.nodes):
        shape = ", shape=doublecircle" if number in graph.finals else ""
        yield f"    n{index}_{number} [label={quote(label)}{shape}];"
    yield f"    start_{index} -> n{index}_0;"
    for source, target, label in graph.edges:
        yield f"    n{index}_{source} -> n{index}_{target} [label={quote(label)}];"


def quote(text: str) -> str:
    """``text`` as a DOT string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
