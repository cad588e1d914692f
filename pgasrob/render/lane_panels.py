"""Draws graphs with lanes as SVG, in panels below each other, each with a title, sentences and a legend."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pgasrob.drawing.graph_to_draw import Graph
from pgasrob.drawing.labels import BADGE, HEAD, label_width
from pgasrob.drawing.lanes import AXIS, Box, Picture, Way, layout
from pgasrob.drawing.measure import LINE, PADDING
from pgasrob.drawing.palette import coloured, variables
from pgasrob.drawing.pen import Pen
from pgasrob.drawing.svg_pen import PAPER, Frame, Stroke, SvgPen, document
from pgasrob.render.diagram.paint import SENTENCE, clean
from pgasrob.render.lines import wrap

MARGIN = 20.0
LETTER = 7.4
"""Width of a letter of a sentence, on the safe side."""
BOLD = 10.4
"""Width of a letter of a headline."""
NARROWEST = 460.0
STROKES = {
    "way": Stroke(7.0, 6.0, filled=True),
    "cycle way": Stroke(7.0, HEAD, filled=True),
}
RADII = {"event": 3.0, "badge": BADGE / 2}
RULES = """
.KIND{color-scheme:light dark}
.KIND text{font:13px ui-monospace,"DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;white-space:pre;
fill:@ink}
.KIND .paper{fill:@paper}
.KIND .headline{font-weight:bold;font-size:15px}
.KIND .headline,.KIND .sentence,.KIND .legend{font-family:system-ui,"DejaVu Sans","Liberation Sans",sans-serif}
.KIND .legend{font-size:12px;fill:@faint}
.KIND .thread{font-weight:bold;font-size:14px}
.KIND .axis{stroke:@rule;stroke-width:2;fill:none}
.KIND .event rect{fill:@box;stroke:@faint;stroke-width:1}
.KIND .event .command{font-weight:bold}
.KIND .event .effect{fill:@told}
.KIND .event .hot{fill:@accent;font-weight:bold}
.KIND .event.cycle rect{stroke:@accent;stroke-width:2.4}
.KIND .halo{fill:none;stroke:@paper;stroke-width:6}
.KIND .way{fill:none}
.KIND .head{stroke-width:1.3;stroke-linejoin:round}
.KIND .badge rect{fill:@paper;stroke:none}
.KIND .badge text{font-size:11.5px;text-anchor:middle}
"""
RELATION = """
.KIND .NAME .way{stroke:@COLOUR;stroke-width:WIDTH;stroke-dasharray:DASHES}
.KIND .NAME .head{stroke:@COLOUR;fill:@COLOUR}
.KIND .badge.NAME text{fill:@COLOUR}
"""
CYCLE = """
.KIND .cycle .way{stroke:@accent;stroke-width:2.8}
.KIND .cycle .head{stroke:@accent;fill:@accent}
.KIND .badge.cycle rect{stroke:@accent;stroke-width:1.6}
.KIND .badge.cycle text{font-weight:bold;fill:@accent}
"""


@dataclass(frozen=True, slots=True)
class Look:
    """How the edges of a relation look."""

    colour: str
    dashes: str = "none"
    width: float = 1.5


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph with what is said above and below it. Lanes with a title in ``unordered`` have no line that joins their
    boxes."""

    title: str
    sentences: Sequence[str]
    graph: Graph
    legend: Sequence[str] = ()
    unordered: Collection[str] = ()


def panels_svg(kind: str, title: str, panels: Sequence[Panel], relations: Mapping[str, Look]) -> str:
    """All ``panels`` as one SVG document of the class ``kind``; ``relations`` has the looks of their edges."""
    pen = SvgPen(RADII, STROKES)
    pictures = [layout(panel.graph) for panel in panels]
    breadth = max([NARROWEST, *(picture.width for picture in pictures)])
    y = MARGIN
    for panel, picture in zip(panels, pictures, strict=True):
        y = _panel(pen, panel, picture, y, breadth) + MARGIN
    described = " ".join(f"{panel.title}. {' '.join(panel.sentences)}" for panel in panels).replace("\u00a0", " ")
    frame = Frame(breadth + 2 * MARGIN, y)
    return document(kind, title, PAPER + pen.drawn, _style(kind, relations), frame, description=described)


def _style(kind: str, relations: Mapping[str, Look]) -> str:
    """The style sheet; what is said of a cycle comes last, for it counts for every relation."""
    rules = RULES
    for name, look in relations.items():
        values = {"NAME": name, "COLOUR": look.colour, "WIDTH": str(look.width), "DASHES": look.dashes}
        rule = RELATION
        for key, value in values.items():
            rule = rule.replace(key, value)
        rules += rule.lstrip()
    return f"{variables(kind)}{coloured((rules + CYCLE.lstrip()).replace('KIND', kind))}\n"


def _panel(pen: SvgPen, panel: Panel, picture: Picture, y: float, breadth: float) -> float:
    """Draw ``panel`` from the height ``y`` on. Returns the height where it ends."""
    for line in wrap(clean(panel.title), int(breadth / BOLD)):
        y += SENTENCE
        pen.text(MARGIN, y - 6, line, "headline")
    y += 4
    for sentence in panel.sentences:
        for line in wrap(clean(sentence), int(breadth / LETTER)):
            y += SENTENCE
            pen.text(MARGIN, y - 6, line, "sentence")
    y += 6
    with pen.group("execution", at=(MARGIN, y)):
        draw(pen, picture, panel.unordered)
    x, y = 0.0, y + picture.height + 20
    for text in panel.legend:
        width = LETTER * len(text) + 24
        if x and x + width > breadth:
            x, y = 0.0, y + SENTENCE
        pen.text(MARGIN + x, y, text, "legend")
        x += width
    return y + 6


def draw(pen: Pen, picture: Picture, unordered: Collection[str] = ()) -> None:
    """Draw ``picture``. The boxes of a lane are joined by a line unless its title is one of the ``unordered``."""
    for lane in picture.lanes:
        pen.text(lane.x, 18, lane.title, "thread")
        if lane.last > lane.first and lane.title not in unordered:
            pen.line(((lane.x + AXIS, lane.first), (lane.x + AXIS, lane.last)), "axis")
    for way in picture.ways:
        edge = way.edge
        with pen.group(_look("edge", way), title=edge.tooltip, data={"from": edge.source, "to": edge.target}):
            pen.line(way.points, "halo")
            pen.line(way.points, "way")
            if "both" in edge.look:
                pen.line(way.points[1::-1], "way")
    for box in picture.boxes:
        cycle = any("cycle" in node.look for node in box.nodes)
        with pen.group(f"event{' cycle' * cycle}"):
            _box(pen, box)
    for way in picture.ways:
        if way.badge is not None:
            (x, y), text = way.badge, way.edge.label or ""
            width = label_width(text)
            with pen.group(_look("badge", way)):
                pen.box(x - width / 2, y - BADGE / 2, width, BADGE)
                pen.text(x, y + 4, text)


def _look(kind: str, way: Way) -> str:
    return f"{kind} {way.edge.look}{' cycle' * (way.edge.number is not None)}"


def _box(pen: Pen, box: Box) -> None:
    pen.box(box.x, box.y, box.width, box.height)
    base = box.y + 4.5 + 12.8
    if box.heading:
        pen.text(box.x + PADDING, base, box.heading, "command")
        base += LINE
    for place, (node, text) in enumerate(zip(box.nodes, box.lines, strict=True)):
        pen.text(box.x + PADDING, base + place * LINE, text, "effect hot" if "cycle" in node.look else "effect")
