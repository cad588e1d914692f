"""Graphs with lanes, drawn where `drawing.lanes` puts them."""

from __future__ import annotations

from collections.abc import Collection

from pgasrob.drawing.labels import BADGE, label_width
from pgasrob.drawing.lanes import AXIS, Box, Picture, Way
from pgasrob.drawing.measure import LINE, PADDING
from pgasrob.drawing.pen import Pen


def draw_lanes(pen: Pen, picture: Picture, unordered: Collection[str] = ()) -> None:
    """Draw ``picture``. The boxes of a lane are joined by a line unless its title is one of the ``unordered``."""
    for lane in picture.lanes:
        pen.text(lane.x, 18, lane.title, "thread")
        if lane.last > lane.first and lane.title not in unordered:
            pen.line(((lane.x + AXIS, lane.first), (lane.x + AXIS, lane.last)), "axis")
    for way in picture.ways:
        edge = way.edge
        with pen.group(_style("edge", way), title=edge.tooltip, data={"from": edge.source, "to": edge.target}):
            pen.line(way.points, "halo")
            pen.line(way.points, "way")
            if "both" in edge.look:
                pen.line(way.points[1::-1], "way")
    for box in picture.boxes:
        cycle = any("cycle" in node.look for node in box.nodes)
        with pen.group(f"event{' cycle' * cycle}"):
            _box(pen, box)
    for way in picture.ways:
        _label(pen, way)


def _style(kind: str, way: Way) -> str:
    return f"{kind} {way.edge.look}{' cycle' * (way.edge.number is not None)}"


def _box(pen: Pen, box: Box) -> None:
    pen.box(box.x, box.y, box.width, box.height)
    base = box.y + 4.5 + 12.8
    if box.heading:
        pen.text(box.x + PADDING, base, box.heading, "command")
        base += LINE
    for place, (node, text) in enumerate(zip(box.nodes, box.lines, strict=True)):
        pen.text(box.x + PADDING, base + place * LINE, text, "effect hot" if "cycle" in node.look else "effect")


def _label(pen: Pen, way: Way) -> None:
    if way.badge is None:
        return
    (x, y), text = way.badge, way.edge.label or ""
    width = label_width(text)
    with pen.group(_style("badge", way)):
        pen.box(x - width / 2, y - BADGE / 2, width, BADGE)
        pen.text(x, y + 4, text)
