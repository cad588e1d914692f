"""Execution graphs as SVG, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgasrob.diagnostics import visible
from pgasrob.render.diagram.badges import BADGE, HEAD
from pgasrob.render.diagram.model import LINE, PADDING
from pgasrob.render.executions.edges import NAMES, OTHERS
from pgasrob.render.executions.layout import INDENT, INITIALLY, Box, Picture, Way, label_width, layout
from pgasrob.render.lines import wrap
from pgasrob.render.litmus_json import ExecutionObject
from pgasrob.render.pens.svg import PAPER, Stroke, SvgPen, coloured, document, variables

MARGIN = 20.0
SENTENCE = 20.0
LETTER = 7.4
"""Width of a letter of a sentence, on the safe side."""
BOLD = 10.4
"""Of one of a headline."""
NARROWEST = 460.0
AXIS = 13.0
STROKES = {
    "way": Stroke(7.0, 6.0, filled=True),
    "cycle way": Stroke(7.0, HEAD, filled=True),
}
RADII = {"event": 3.0, "badge": BADGE / 2}
RULES = """
.pg-litmus{color-scheme:light dark}
.pg-litmus text{font:13px ui-monospace,"DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;white-space:pre;
fill:@ink}
.pg-litmus .paper{fill:@paper}
.pg-litmus .headline{font-weight:bold;font-size:15px}
.pg-litmus .headline,.pg-litmus .sentence,.pg-litmus .legend{
font-family:system-ui,"DejaVu Sans","Liberation Sans",sans-serif}
.pg-litmus .legend{font-size:12px;fill:@faint}
.pg-litmus .thread{font-weight:bold;font-size:14px}
.pg-litmus .axis{stroke:@rule;stroke-width:2;fill:none}
.pg-litmus .event rect{fill:@box;stroke:@faint;stroke-width:1}
.pg-litmus .event .command{font-weight:bold}
.pg-litmus .event .effect{fill:@told}
.pg-litmus .event .hot{fill:@accent;font-weight:bold}
.pg-litmus .event.cycle rect{stroke:@accent;stroke-width:2.4}
.pg-litmus .halo{fill:none;stroke:@paper;stroke-width:6}
.pg-litmus .way{fill:none;stroke:@faint;stroke-width:1.5;stroke-dasharray:2 3}
.pg-litmus .head{stroke:@faint;fill:@faint;stroke-width:1.3;stroke-linejoin:round}
.pg-litmus .rf .way{stroke:@id;stroke-dasharray:none}
.pg-litmus .rf .head{stroke:@id;fill:@id}
.pg-litmus .mo .way{stroke:@cf;stroke-dasharray:none}
.pg-litmus .mo .head{stroke:@cf;fill:@cf}
.pg-litmus .rb .way{stroke:@cf;stroke-dasharray:6 4}
.pg-litmus .rb .head{stroke:@cf;fill:@cf}
.pg-litmus .po .way{stroke:@po;stroke-dasharray:none}
.pg-litmus .po .head{stroke:@po;fill:@po}
.pg-litmus .cycle .way{stroke:@accent;stroke-width:2.8}
.pg-litmus .cycle .head{stroke:@accent;fill:@accent}
.pg-litmus .badge rect{fill:@paper;stroke:none}
.pg-litmus .badge text{font-size:11.5px;text-anchor:middle;fill:@faint}
.pg-litmus .badge.rf text{fill:@id}
.pg-litmus .badge.mo text,.pg-litmus .badge.rb text{fill:@cf}
.pg-litmus .badge.cycle rect{stroke:@accent;stroke-width:1.6}
.pg-litmus .badge.cycle text{font-weight:bold;fill:@accent}
"""
STYLE = f"{variables('pg-litmus')}{coloured(RULES)}\n"


@dataclass(frozen=True, slots=True)
class Panel:
    """An execution with what is said above and below it."""

    title: str
    sentences: Sequence[str]
    execution: ExecutionObject


def executions_svg(title: str, panels: Sequence[Panel]) -> str:
    """All ``panels`` as one SVG document."""
    pen = SvgPen(RADII, STROKES)
    pictures = [layout(panel.execution) for panel in panels]
    breadth = max([NARROWEST, *(picture.width for picture in pictures)])
    y = MARGIN
    for panel, picture in zip(panels, pictures, strict=True):
        y = _panel(pen, panel, picture, y, breadth)
        y += MARGIN
    described = " ".join(f"{panel.title}. {' '.join(panel.sentences)}" for panel in panels).replace("\u00a0", " ")
    return document(
        "pg-litmus",
        title,
        PAPER + pen.drawn,
        STYLE,
        width=breadth + 2 * MARGIN,
        height=y,
        description=described,
    )


def _panel(pen: SvgPen, panel: Panel, picture: Picture, y: float, breadth: float) -> float:
    for line in wrap(_clean(panel.title), int(breadth / BOLD)):
        y += SENTENCE
        pen.text(MARGIN, y - 6, line, "headline")
    y += 4
    for sentence in panel.sentences:
        for line in wrap(_clean(sentence), int(breadth / LETTER)):
            y += SENTENCE
            pen.text(MARGIN, y - 6, line, "sentence")
    y += 6
    with pen.group("execution", at=(MARGIN, y)):
        _draw(pen, picture)
    y += picture.height + 6
    return _legend(pen, picture, y, breadth)


def _clean(text: str) -> str:
    """``text`` with escapes for what would not show, the no-break spaces that `wrap` needs left as they are."""
    return "\u00a0".join(visible(piece) for piece in text.split("\u00a0"))


def _draw(pen: SvgPen, picture: Picture) -> None:
    on_cycle = {end for way in picture.ways if way.edge.number for end in (way.edge.source, way.edge.target)}
    for lane in picture.lanes:
        pen.text(lane.x, 18, lane.title, "thread")
        if lane.last > lane.first and lane.title != INITIALLY:
            pen.line(((lane.x + AXIS, lane.first), (lane.x + AXIS, lane.last)), "axis")
    for way in picture.ways:
        with pen.group(_style("edge", way), title=_told(way), data={"from": way.edge.source, "to": way.edge.target}):
            pen.path(_straight(way), "halo")
            pen.line(way.points, "way")
    for box in picture.boxes:
        cycle = any(number in on_cycle for number, _ in box.events)
        with pen.group(f"event{' cycle' * cycle}"):
            _box(pen, box, on_cycle)
    for way in picture.ways:
        _badge(pen, way, *way.badge)


def _style(kind: str, way: Way) -> str:
    relation = way.edge.relation if way.edge.relation in NAMES else "other"
    return f"{kind} {relation}{' cycle' * (way.edge.number is not None)}"


def _straight(way: Way) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in way.points)


def _told(way: Way) -> str:
    edge = way.edge
    name = (NAMES | OTHERS).get(edge.relation, "")
    return f"{edge.label}{f', {name}' * bool(name)}{f' by {edge.rule}' * bool(edge.rule)}"


def _box(pen: SvgPen, box: Box, on_cycle: set[int]) -> None:
    pen.box(box.x, box.y, box.width, box.height)
    base = box.y + 4.5 + 12.8
    if box.text:
        pen.text(box.x + PADDING, base, box.text, "command")
        base += LINE
    for place, (number, text) in enumerate(box.events):
        indent = " " * INDENT * bool(box.text)
        pen.text(box.x + PADDING, base + place * LINE, indent + text, "effect hot" if number in on_cycle else "effect")


def _badge(pen: SvgPen, way: Way, x: float, y: float) -> None:
    width = label_width(way.edge.label)
    with pen.group(_style("badge", way)):
        pen.box(x - width / 2, y - BADGE / 2, width, BADGE)
        pen.text(x, y + 4, way.edge.label)


def _legend(pen: SvgPen, picture: Picture, y: float, breadth: float) -> float:
    """What the relations are that are drawn."""
    x, y = 0.0, y + 14
    for text in _samples(picture):
        width = LETTER * len(text) + 24
        if x and x + width > breadth:
            x, y = 0.0, y + SENTENCE
        pen.text(MARGIN + x, y, text, "legend")
        x += width
    return y + 6


def _samples(picture: Picture) -> Iterator[str]:
    relations = {way.edge.relation for way in picture.ways}
    lanes = [box.lane for box in picture.boxes for _ in box.events if picture.lanes[box.lane].title != INITIALLY]
    if len(lanes) > len(set(lanes)):
        yield "from top to bottom: program order (po)"
    for relation, name in NAMES.items():
        if relation in relations and relation != "po":
            yield f"{relation}: {name}"
    for relation, name in OTHERS.items():
        if relation in relations:
            yield f"{relation}: {name}"
    if any(way.edge.number for way in picture.ways):
        yield "heavy, numbered: a cycle"
