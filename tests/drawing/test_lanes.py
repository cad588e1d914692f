"""The layout with lanes: which way edges go. That nothing lies on anything else is tested with executions
(`tests/render/test_execution_graph.py`, `tests/render/test_mpi_execution.py`)."""

from __future__ import annotations

from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.lanes import AXIS, LONGEST, Picture, layout


def picture(nodes: str, *edges: Edge) -> Picture:
    """``nodes`` has a row in each line, with a letter for a node and a dot for none in each lane."""
    rows = nodes.split()
    found = [
        Node(name, (name,), lane=lane, row=row)
        for row, names in enumerate(rows)
        for lane, name in enumerate(names)
        if name != "."
    ]
    return layout(Graph("", found, edges, lanes={lane: f"lane {lane}" for lane in range(len(rows[0]))}))


def test_an_edge_leaves_and_enters_sideways() -> None:
    drawn = picture("a. .b", Edge("a", "b", label="l"))
    (way,) = drawn.ways
    a, b = drawn.boxes
    assert (way.points[0][0], way.points[-1][0]) == (a.x + a.width, b.x)
    assert len(way.points) == 4 and way.badge is not None and way.badge[0] == way.points[1][0]


def test_to_a_far_lane_it_goes_in_the_row_of_its_target_or_between_rows() -> None:
    (free,) = picture("a.. ..b", Edge("a", "b", label="l")).ways
    (taken,) = picture("a.. .cb", Edge("a", "b", label="l")).ways
    assert (len(free.points), len(taken.points)) == (4, 6)


def test_a_tight_edge_to_the_next_box_runs_straight_down() -> None:
    drawn = picture("a b c", Edge("a", "b", tight=True), Edge("a", "c", tight=True), Edge("b", "c"))
    (straight, *others) = drawn.ways
    assert [x for x, _ in straight.points] == [drawn.lanes[0].x + AXIS] * 2 and straight.badge is None
    assert all(len(way.points) == 4 for way in others)


def test_the_order_of_a_lane_is_no_edge() -> None:
    drawn = picture("a b", Edge("a", "b", "order"))
    (lane,) = drawn.lanes
    assert not drawn.ways and (lane.first, lane.last) == (drawn.boxes[0].y, drawn.boxes[1].y + drawn.boxes[1].height)


def test_nodes_of_a_lane_and_row_share_a_box() -> None:
    nodes = [Node(name, (name * 60,), lane=0, row=0, heading="head") for name in "ab"]
    (box,) = layout(Graph("", nodes, [], lanes={0: "lane"})).boxes
    assert box.heading == "head" and [line.strip()[0] for line in box.lines] == ["a", "b"]
    assert all(line.startswith("  ") and len(line) <= LONGEST for line in box.lines)
    assert box.line_of("a") < box.line_of("b") < box.y + box.height
