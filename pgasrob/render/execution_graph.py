"""Execution graphs of litmus tests, as SVG and as DOT: in panels, one below the other.

Of rf, mo and rb what does not follow from other edges is drawn, and the edges of a cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pgasrob.diagnostics import visible
from pgasrob.drawing.dot import DotStyle, to_dot
from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.labels import BADGE, HEAD
from pgasrob.drawing.lanes import Picture, layout
from pgasrob.drawing.lanes_svg import draw_lanes
from pgasrob.drawing.palette import coloured, variables
from pgasrob.drawing.svg_pen import PAPER, Frame, Stroke, SvgPen, document
from pgasrob.render.diagram.paint import clean
from pgasrob.render.lines import wrap
from pgasrob.render.litmus import shown_event
from pgasrob.render.litmus_json import ExecutionObject

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
MARGIN = 20.0
SENTENCE = 20.0
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
class Panel:
    """An execution with what is said above and below it."""

    title: str
    sentences: Sequence[str]
    execution: ExecutionObject


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
    there."""
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
            if execution["events"][source]["thread"] is not None and (source, target) not in on_cycle:
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


def execution_graph(execution: ExecutionObject, prefix: str = "") -> Graph:
    """``execution`` with a lane for each thread, and one for the initial writes where an edge meets one. The names of
    its nodes are the numbers of the events behind ``prefix``."""
    drawn, events = edges(execution), execution["events"]
    met = {end for edge in drawn for end in (edge.source, edge.target)}
    on_cycle = {end for edge in drawn if edge.number for end in (edge.source, edge.target)}
    titles, nodes = list[str](), list[Node]()

    def add(number: int, row: int, text: str, heading: str = "") -> None:
        look = "cycle" * (number in on_cycle)
        nodes.append(Node(f"{prefix}{number}", (text,), look, lane=len(titles), row=row, heading=heading))

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
        found += [Edge(f"{prefix}{one}", f"{prefix}{other}", "order") for one, other in pairwise(numbers)]
        titles.append(f"thread {thread + 1} on node {about['node']}")
    for edge in drawn:
        name = (NAMES | OTHERS).get(edge.relation, "")
        tooltip = f"{edge.label}{f', {name}' * bool(name)}{f' by {edge.rule}' * bool(edge.rule)}"
        look = edge.relation if edge.relation in NAMES else "other"
        ends = f"{prefix}{edge.source}", f"{prefix}{edge.target}"
        found.append(Edge(*ends, look, edge.label, edge.number, tooltip, detail=edge.rule))
    return Graph("", nodes, found, lanes=dict(enumerate(titles)))


def executions_dot(title: str, panels: Sequence[Panel]) -> str:
    """All ``panels`` as one digraph, a cluster for each, in the DOT language of Graphviz."""
    numbered = f" {NUMBERED}" * any(panel.execution["cycle"] for panel in panels)
    clusters = [
        replace(execution_graph(panel.execution, f"e{number}_"), title=panel.title)
        for number, panel in enumerate(panels, 1)
    ]
    return to_dot(Graph(f"{title}\n{LEGEND}{numbered}", [], [], clusters), DOT)


def executions_svg(title: str, panels: Sequence[Panel]) -> str:
    """All ``panels`` as one SVG document."""
    pen = SvgPen(RADII, STROKES)
    pictures = [layout(execution_graph(panel.execution)) for panel in panels]
    breadth = max([NARROWEST, *(picture.width for picture in pictures)])
    y = MARGIN
    for panel, picture in zip(panels, pictures, strict=True):
        y = _panel(pen, panel, picture, y, breadth)
        y += MARGIN
    described = " ".join(f"{panel.title}. {' '.join(panel.sentences)}" for panel in panels).replace("\u00a0", " ")
    frame = Frame(breadth + 2 * MARGIN, y)
    return document("pg-litmus", title, PAPER + pen.drawn, STYLE, frame, description=described)


def _panel(pen: SvgPen, panel: Panel, picture: Picture, y: float, breadth: float) -> float:
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
        draw_lanes(pen, picture, [INITIALLY])
    y += picture.height + 6
    return _legend(pen, panel.execution, picture, y, breadth)


def _legend(pen: SvgPen, execution: ExecutionObject, picture: Picture, y: float, breadth: float) -> float:
    """Draw the names of the relations in ``picture`` below it. Returns the y where they end."""
    x, y = 0.0, y + 14
    for text in _samples(execution, picture):
        width = LETTER * len(text) + 24
        if x and x + width > breadth:
            x, y = 0.0, y + SENTENCE
        pen.text(MARGIN + x, y, text, "legend")
        x += width
    return y + 6


def _samples(execution: ExecutionObject, picture: Picture) -> Iterator[str]:
    drawn = edges(execution)
    lanes = [box.lane for box in picture.boxes for _ in box.nodes if picture.lanes[box.lane].title != INITIALLY]
    if len(lanes) > len(set(lanes)):
        yield "from top to bottom: program order (po)"
    relations = {edge.relation for edge in drawn}
    for relation, name in (NAMES | OTHERS).items():
        if relation in relations and relation != "po":
            yield f"{relation}: {name}"
    if any(edge.number for edge in drawn):
        yield "heavy, numbered: a cycle"
