"""Draws the space-time diagram of a run, with its legend and captions, with any pen.

Nothing depends on colour alone. Program order is a solid line with a full arrow head, a conflict is dashed with an open
one, and identity is dotted and has none; the edges of the cycle are heavy and numbered. Two accesses that race have
heavy boxes, and between them a heavy line of dashes and dots without a head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from pgasrob.diagnostics import visible
from pgasrob.drawing.channels import snapped
from pgasrob.drawing.labels import BADGE, Line
from pgasrob.drawing.lanes import GAP, HEADING
from pgasrob.drawing.measure import LINE, PADDING
from pgasrob.drawing.pen import Pen
from pgasrob.render import words
from pgasrob.render.diagram.model import Box, Diagram, Lane, Part, numbered
from pgasrob.render.lines import UNICODE, wrap
from pgasrob.render.process_numbers import home_of
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.run_table import NEXT
from pgasrob.render.verdict_text import PAIRS

SENTENCE = 20.0
"""Height of a line of a sentence."""
TOUCH = 26.0
"""Distance of the mark for the memory of another rank from the axis of that rank's lane."""
RING = 3.5
SAMPLE = 34.0
"""Width of a sample in the legend."""
SHARES = {"headline": 0.85, "sentence strong": 0.87}
"""For larger or bold type: how many of its letters take the room of one letter of a sentence."""
LETTER, OVER = 9.0, 3.0
"""Width of a letter of a lane's name, on the safe side, and where a line over several names is."""
NAMES = {"po": "program order", "cf": "conflict", "id": "one command", "race": "either comes first"}

Styled = tuple[str, str]
"""A text and its style."""


@dataclass(frozen=True, slots=True)
class Room:
    """The room for texts around a diagram: its least and largest width, the width of a letter on the safe side, and the
    space ``between`` two texts."""

    narrowest: float
    widest: float
    letter: float
    between: float = 0.0


@dataclass(frozen=True, slots=True)
class Captions:
    """The texts around a diagram but for its legend and its cycle."""

    room: Room
    above: Sequence[Styled]
    notes: Sequence[str] = ()
    ending: Sequence[Styled] = ()

    def wrapped(self, text: str, breadth: float, style: str = "sentence") -> list[str]:
        """The lines that ``text`` takes in this ``breadth`` and ``style``."""
        return wrap(clean(text), int(int(min(breadth, self.room.widest) / self.room.letter) * SHARES.get(style, 1)))


def draw(pen: Pen, diagram: Diagram, witness: Witness, captions: Captions | None = None) -> tuple[float, float]:
    """Draw ``diagram`` with its ``captions``, if any. Returns the width and the height that it takes."""
    breadth = max(diagram.width, captions.room.narrowest if captions else 0)
    top = below = 0.0
    if captions:
        for text, style in captions.above:
            for line in captions.wrapped(text, breadth, style):
                pen.text(0, top + 14, line, style)
                top += SENTENCE
        top += 10
    with pen.group(at=(0, top)):
        _diagram(pen, diagram, witness)
        if captions:
            with pen.group("captions", at=(0, diagram.height)):
                below = _below(pen, diagram, witness, captions, breadth)
    return breadth, top + diagram.height + below


def clean(text: str) -> str:
    """``text`` with escapes for what would not show, the no-break spaces that `wrap` needs left as they are."""
    return "\u00a0".join(visible(piece) for piece in text.split("\u00a0"))


# --- Below the diagram -----------------------------------------------------------------------------------------------


def _below(pen: Pen, diagram: Diagram, witness: Witness, captions: Captions, breadth: float) -> float:
    """Draw legend, notes, the cycle in sentences and the ending. Returns the height that they take."""
    y = _legend(pen, diagram, breadth, captions) + 28
    for note in captions.notes:
        for line in captions.wrapped(note, breadth):
            pen.text(0, y, line, "legend")
            y += SENTENCE
    y += 2 * captions.room.between
    cycle, badge = numbered(witness), diagram.badge
    beside = min(breadth, captions.room.widest) - badge - 20
    for number, (edge, sentence) in enumerate(zip(cycle, words.cycle(cycle, witness["computation"]), strict=True), 1):
        _badge(pen, number, edge["relation"], badge / 2, y - 4.5, badge)
        for line in captions.wrapped(PAIRS.sub("\u00a0", sentence), beside):
            pen.text(badge + 12, y, line, "sentence")
            y += SENTENCE
        y += captions.room.between
    if cycle:
        pen.text(badge + 12, y, words.contradiction(cycle), "sentence")
        y += SENTENCE + captions.room.between * bool(captions.ending)
    for text, style in captions.ending:
        for line in captions.wrapped(PAIRS.sub("\u00a0", text), breadth, style):
            pen.text(0, y, line, style)
            y += SENTENCE
    return y


def _legend(pen: Pen, diagram: Diagram, breadth: float, captions: Captions) -> float:
    """Draw samples of what is in the diagram with their meaning. Returns the y of the last line."""
    x, y = 0.0, 14.0
    for style, text in _samples(diagram):
        width = SAMPLE + 10 + captions.room.letter * len(text) + 20
        if x and x + width > breadth:
            x, y = 0.0, y + SENTENCE + captions.room.between
        with pen.group(at=(x, y)):
            with pen.group(style):
                if style in ("event step", "event cycle", "fold"):
                    pen.box(2, -8, SAMPLE - 4, 16)
                elif style == "number":
                    pen.text(SAMPLE - 8, 4.5, "7", "number")
                elif style == "event":
                    pen.line(((2, 0), (30 - RING - 0.5, 0)), "reach")
                    pen.ring(30, 0, RING, "touch")
                else:
                    pen.line(((0, 0), (SAMPLE, 0)), "way")
            pen.text(SAMPLE + 10, 4.5, text, "legend")
        x += width
    return y


def _samples(diagram: Diagram) -> Iterator[tuple[str, str]]:
    """The styles of what is in the diagram, and what they mean."""
    relations = {line.relation for line in diagram.lines}
    for relation, name in NAMES.items():
        if relation in relations:
            yield f"edge-sample {relation}", f"{relation}  {name}"
    if "race" in relations:
        yield "event cycle", "heavy: an access that races"
    if any(line.number for line in diagram.lines):
        yield "edge-sample cycle", "heavy, numbered: the cycle"
    if any(box.kind == "step" for box in diagram.boxes):
        yield "event step", "a step, in the lane whose memory it acts on"
    if any(box.reach is not None for box in diagram.boxes):
        yield "event", "acts on this rank's memory at once"
    if diagram.boxes:
        yield "number", "above a box: its step"
    if diagram.bands:
        about = "race is not about" if "race" in relations else "cycle does not pass"
        yield "fold", f"events that the {about}"


# --- The diagram -----------------------------------------------------------------------------------------------------


def _diagram(pen: Pen, diagram: Diagram, witness: Witness) -> None:
    """Draw from the back to the front: parts, lanes, lines, boxes, numbers."""
    events = witness["computation"]
    for part in diagram.parts:
        _part(pen, part, diagram)
    for row in diagram.rows:
        middle = snapped(row.y + row.height / 2)
        with pen.group("row", data={"y": row.y}):
            pen.line(((diagram.gutter + 8, middle), (diagram.width, middle)), "guide")
    stands = {end.lane: end.y for end in diagram.ends}
    for index, lane in enumerate(diagram.lanes):
        with pen.group("lane", data={"rank": lane.rank}):
            pen.line(((lane.axis, HEADING), (lane.axis, stands.get(index, diagram.height - GAP))))
            pen.text(lane.x, 18, f"rank {lane.rank}", "rank")
    for _, threads in groupby(diagram.lanes, lambda lane: home_of(lane.rank)):
        first, *others = threads
        if others:  # a line over the lanes of the threads of a rank
            end = others[-1].x + LETTER * len(f"rank {others[-1].rank}")
            with pen.group("lane"):
                pen.line(((first.x, OVER), (end, OVER)))
    for _, barrier in groupby((box for box in diagram.boxes if box.kind == "barrier"), lambda box: box.row):
        joined = list(barrier)
        left, right = min(box.x for box in joined), max(box.x + box.width for box in joined)
        pen.box(left, joined[0].y, right - left, joined[0].height, "bar")
    for band in diagram.bands:
        with pen.group("fold", title=band.full, data={"step": band.place, "steps": list(band.folded)}):
            pen.box(diagram.gutter + 8, band.y, diagram.width - diagram.gutter - 8, band.height)
            _lines(pen, band)
    for line in diagram.lines:
        style = f"edge {line.relation}{' cycle' * bool(line.number)}"
        with pen.group(style, title=_edge_in_words(line, events), data={"from": line.source, "to": line.target}):
            if line.number and len(line.points) > 2:  # lines that cross one of the cycle are interrupted there
                pen.line(line.points, "halo")
            pen.line(line.points, "way")
    for box in diagram.boxes:
        style = f"event {box.kind}{' cycle' * box.cycle}"
        data = {"step": box.place, "rank": events[box.place]["rank"]}
        with pen.group(style, name=f"e-{box.place}", title=box.full, data=data):
            _box(pen, box, diagram.lanes)
            number = NEXT if "access" in events[box.place] else str(box.place + 1)
            pen.text(diagram.lanes[box.lane].number_end(box), box.y - 2.5, number, "number")
    for box in diagram.ends:
        with pen.group(f"standing {box.kind}", title=box.full, data={"rank": diagram.lanes[box.lane].rank}):
            _box(pen, box, diagram.lanes)
    for line in diagram.lines:
        if line.number and line.badge:
            _badge(pen, line.number, line.relation, *line.badge, diagram.badge)


def _edge_in_words(line: Line, events: Sequence[Event]) -> str:
    """An edge in words."""
    if line.relation == "race":
        return "the two accesses that race: either comes first"
    steps = f"step {line.source + 1} {'and' if line.relation == 'id' else 'before'} step {line.target + 1}"
    event = events[line.source]
    where = words.cell(event["address"]) if line.relation == "cf" else f"rank {event['rank']}"
    number = f"{line.number}. " if line.number else ""
    return f"{number}{line.relation}, {NAMES[line.relation]} ({where}): {steps}"


def _part(pen: Pen, part: Part, diagram: Diagram) -> None:
    top, bottom = part.y, part.y + part.height
    with pen.group(f"part{' odd' * (part.number % 2)}", data={"part": part.number}):
        pen.box(0, top, diagram.width, part.height)
    pen.line(((10, top + 4), (4, top + 4), (4, bottom - 4), (10, bottom - 4)), "bracket")
    pen.text(8, top + 19, UNICODE.tau + UNICODE.subscript(part.number), "part-name")


def _box(pen: Pen, box: Box, lanes: Sequence[Lane]) -> None:
    if box.reach is not None:
        _reach(pen, box, lanes[box.reach], box.reach < box.lane)
    pen.box(box.x, box.y, box.width, box.height)
    _lines(pen, box)


def _lines(pen: Pen, box: Box) -> None:
    base = box.y + (box.height - len(box.lines) * LINE) / 2 + 12.8
    for index, line in enumerate(box.lines):
        pen.text(box.x + PADDING, base + index * LINE, line)


def _reach(pen: Pen, box: Box, lane: Lane, left: bool) -> None:
    """Draw a line to the lane of the memory on which an issued event acts at once, at its ``left`` or right."""
    y = snapped(box.y + box.height / 2)
    start = box.x if left else box.x + box.width
    end = lane.axis + TOUCH
    pen.line(((start, y), (end + RING if end < start else end - RING, y)), "reach")
    pen.ring(end, y, RING, "touch")


def _badge(pen: Pen, number: int, relation: str, x: float, y: float, width: float) -> None:
    """Draw a number of the cycle and its relation around a point."""
    with pen.group("badge", data={"number": number}):
        pen.box(x - width / 2, y - BADGE / 2, width, BADGE)
        pen.text(x, y + 4, f"{number} {relation}")
