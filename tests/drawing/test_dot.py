"""Graphs in the DOT language."""

from __future__ import annotations

from pgasrob.drawing.dot import LARGE, DotStyle, quote, to_dot
from pgasrob.drawing.graph_to_draw import Edge, Graph, Node

STYLE = DotStyle(
    "g", "rankdir=LR;", "shape=box", "fontsize=9", {"a": "A", "a b": "AB"}, {"e": "E"}, numbered={"e": "N"}, space=" "
)


def test_quoting() -> None:
    assert quote('a "b" \\ c\nd') == '"a \\"b\\" \\\\ c\\nd"'
    assert quote("&lt; && &#38; &x y;") == '"&amp;lt; && &amp;#38; &x y;"', "entities alone"


def test_looks_labels_and_numbers() -> None:
    nodes = [Node("x", ("1", "2"), "b a", "tip"), Node("y", ("3",), "a", heading="h"), Node("z", ("",))]
    edges = [
        Edge("x", "y", "e", "l", detail="d"),
        Edge("y", "x", "e", "1 e", 1, "tip", tight=True),
        Edge("x", "x", "order"),
    ]
    assert to_dot(Graph("t", nodes, edges, start="x"), STYLE).splitlines() == [
        "digraph g {",
        "  rankdir=LR;",
        '  label="t";',
        "  node [shape=box];",
        "  edge [fontsize=9];",
        '  start [shape=point, label=""];',
        '  x [label="1\\n2", tooltip="tip", AB];',
        '  y [label="h\\n3", A];',
        '  z [label=""];',
        "  start -> x;",
        '  x -> y [E, label=" l (d) "];',
        '  y -> x [N, weight=100, penwidth=3, label=" 1 e ", fontsize=13, tooltip="tip"];',
        "  x -> x;",
        "}",
    ]


def test_lanes_are_lines_with_points_where_nothing_stands() -> None:
    nodes = [
        Node("a", ("a",), lane=0, row=0),
        Node("s", ("s",), "step", lane=1, row=0),
        Node("z", ("z",), "end", lane=1),
    ]
    graph = Graph("", nodes, [Edge("a", "s", "e")], lanes={0: "zero", 1: "one"}, rows=[["a", "s"]])
    text = to_dot(graph, STYLE)
    assert "{ rank=same; lane0 -> lane1 [style=invis]; }" in text
    assert "{ rank=same; a -> axis0_1 -> s [style=invis]; }" in text
    assert "axis0_1 -> z [arrowhead=none" in text
    assert "splines" not in text
    assert "splines=line" in to_dot(Graph("", nodes, [], lanes={0: "", 1: ""}, rows=[["a"]] * (LARGE // 2)), STYLE)


def test_an_edge_within_a_row_has_its_label_outside_of_the_layout() -> None:
    nodes = [Node(name, (name,), lane=lane, row=0) for lane, name in enumerate("ab")]
    edges = [Edge("a", "b", "e", "l")]
    assert 'xlabel=" l "' in to_dot(Graph("", nodes, edges, lanes={0: "", 1: ""}, rows=[["a", "b"]]), STYLE)
    assert 'xlabel=" l "' not in to_dot(Graph("", nodes, edges, lanes={0: "", 1: ""}, rows=[["a"], ["b"]]), STYLE)


def test_lanes_as_clusters() -> None:
    nodes = [Node("a", ("a",), lane=0), Node("b", ("b",), lane=1), Node("c", ("c",), lane=1)]
    edges = [Edge("b", "c", "order"), Edge("a", "c", "e")]
    style = DotStyle("g", "", "", "", clustered=True)
    whole = Graph("", [], [], [Graph("inner", nodes, edges, lanes={0: "zero", 1: "one"})])
    text = "\n".join(line.strip() for line in to_dot(whole, style).splitlines())
    assert 'subgraph cluster_0_1 {\nlabel="one";\nb [label="b"];\nc [label="c"];\nb -> c;\n}' in text
    assert "{ rank=same; a -> b [style=invis]; }\na -> c;" in text
