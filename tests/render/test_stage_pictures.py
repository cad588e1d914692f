"""Stages as text and as DOT. Their SVG is tested in `tests/drawing/test_layered_svg.py`."""

from __future__ import annotations

from pgasrob.render.stage_pictures import stage_lines, to_dot
from pgasrob.robustness import stages
from pgasrob.robustness.stages import Graph
from tests.support import one_to_one


def test_dot_names_every_node_and_edge() -> None:
    stage = stages.control(one_to_one())
    dot = to_dot(stage.graphs)
    assert dot.count(" -> ") == sum(len(graph.edges) + 1 for graph in stage.graphs)
    assert dot.count("doublecircle") == sum(len(graph.finals) for graph in stage.graphs) == 8
    assert dot.count("{") == dot.count("}")


def test_stage_lines_are_comments() -> None:
    lines = stage_lines(stages.control(one_to_one()))
    assert lines[0] == "// control automata"
    assert all(line.startswith("//") for line in lines)


def test_edges_with_the_same_ends_can_be_bundled() -> None:
    graph = Graph("", ["0", "1"], frozenset(), [(0, 1, "a"), (0, 1, ""), (0, 1, "a"), (1, 0, "b")])
    assert to_dot([graph]).count("n0_0 -> n0_1") == 3
    text = to_dot([graph], bundled=True)
    assert 'n0_0 -> n0_1 [label="a\\nε"];' in text and 'n0_1 -> n0_0 [label="b"];' in text


def test_long_labels_are_in_boxes() -> None:
    text = to_dot([Graph("", ["123", "1234", "12345"], frozenset([0, 2]), [])])
    assert 'n0_0 [label="123", shape=doublecircle];' in text
    assert 'n0_1 [label="1234", shape=box, style=rounded];' in text
    assert 'n0_2 [label="12345", shape=box, style=rounded, peripheries=2];' in text
