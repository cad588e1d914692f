"""The space-time diagram of a run as SVG: `diagram` says what stands where, and here it is drawn.

Nothing depends on colour alone. Program order is a solid line with a full arrow head, a conflict is dashed with an open
one, and identity is dotted and has none; the edges of the cycle are heavy and numbered. Colours are CSS variables that
a page around the drawing can set (`VARIABLES`); each stands there as a plain value too, for programs that do not know
variables (rsvg-convert, Inkscape).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from pathlib import PurePath

from pgasrob.diagnostics import visible
from pgasrob.render import one_run, words
from pgasrob.render.diagram.badges import BADGE, HEAD
from pgasrob.render.diagram.channels import snapped
from pgasrob.render.diagram.model import (
    GAP,
    HEADING,
    LINE,
    PADDING,
    Box,
    Diagram,
    Lane,
    Line,
    Part,
    layout,
    numbered,
    shown,
)
from pgasrob.render.diagram.style import STYLE
from pgasrob.render.json import Event, Result, Witness
from pgasrob.render.lines import UNICODE, wrap
from pgasrob.render.text import PAIRS, initially, steps_in

MARGIN = 20.0
NARROWEST, WIDEST = 620.0, 900.0
"""Room for sentences, at least and at most."""
LETTER = 7.1
"""Width of a letter in a sentence, on the safe side."""
SENTENCE = 20.0
CORNER = 7.0
TOUCH = 26.0
"""How far right of the axis of another lane the mark for its memory stands."""
NAMES = {"po": "program order", "cf": "conflict", "id": "one command"}


def to_svg(result: Result, *, embedded: bool = False, captions: bool = True) -> str:
    """The run of ``result`` as one SVG element; without a run, what is known in a line.

    ``embedded``: as part of a page, so without the XML prolog and with ids of its own. ``captions``: with the headline,
    the legend and the sentences of the cycle around the diagram.
    """
    prefix = f"pg{sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:10]}" if embedded else "pg"
    witness = shown(result)
    headline = _headline(result)
    if witness is None:
        line = _text(MARGIN, 36, headline, "headline")
        return _page(headline, "", 9 * len(headline) + 2 * MARGIN, 60, line, embedded)
    diagram = layout(witness)
    breadth = max(diagram.width, NARROWEST if captions else 0)
    above = list(_above(result, witness, breadth)) if captions else []
    top = MARGIN + SENTENCE * len(above) + (10 if captions else 0)
    below, used = _below(result, witness, diagram, breadth) if captions else ([], 0.0)
    body = [
        *(_text(0, 14 + SENTENCE * index, text, style) for index, (text, style) in enumerate(above)),
        f'<g transform="translate(0 {_n(top - MARGIN)})">',
        *_drawing(diagram, prefix, witness),
        f'<g class="captions" transform="translate(0 {_n(diagram.height)})">',
        *below,
        "</g>\n</g>",
    ]
    inside = f'<g transform="translate({_n(MARGIN)} {_n(MARGIN)})">\n' + "\n".join(body) + "\n</g>"
    sentences = [f"{one_run.title(result, witness)}.", *words.cycle(numbered(witness), witness["computation"])]
    height = top + diagram.height + used + MARGIN
    return _page(headline, " ".join(sentences), breadth + 2 * MARGIN, height, inside, embedded)


def _page(title: str, description: str, width: float, height: float, body: str, embedded: bool) -> str:
    prolog = "" if embedded else '<?xml version="1.0" encoding="UTF-8"?>\n'
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    return (
        f'{prolog}<svg xmlns="http://www.w3.org/2000/svg" class="pg-run" role="img" {size} xml:space="preserve">\n'
        f"<title>{_escaped(title)}</title>\n<desc>{_escaped(description)}</desc>\n<style>{STYLE}</style>\n"
        f'<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>\n'
    )


def _headline(result: Result) -> str:
    file = visible(PurePath(result["file"]).name or result["program"] or "")
    where = words.on_nodes(result["nodes"])
    told: str = result["verdict"] or one_run.kind(result)
    return f"{file}{where}" if told == "a run" else f"{file}{where}: {told}"


# --- Around the diagram ----------------------------------------------------------------------------------------------


def _above(result: Result, witness: Witness, breadth: float) -> Iterator[tuple[str, str]]:
    """The lines above the diagram, each with its style."""
    room = int(min(breadth, WIDEST) / LETTER)
    for line in wrap(_headline(result), int(room * 0.85)):
        yield line, "headline"
    least = " None of its events can be left out." if witness["irreducible"] else ""
    for line in wrap(f"{one_run.title(result, witness)}.{least} {visible_line(initially(witness))}", room):
        yield line, "sentence"
    if witness["fault"]:
        for line in wrap(words.fault(PurePath(result["file"]).name, witness["fault"]), room):
            yield line, "sentence strong"


def visible_line(text: str) -> str:
    """``text`` with escapes for what would not show, the no-break spaces that `wrap` needs left as they are."""
    return "\u00a0".join(visible(piece) for piece in text.split("\u00a0"))


def _below(result: Result, witness: Witness, diagram: Diagram, breadth: float) -> tuple[list[str], float]:
    """Legend, the cycle in sentences, how a run without a verdict ends; the height they take."""
    found: list[str] = []
    y = 14.0
    x = 0.0
    for sample, text in _legend(diagram):
        width = 44 + LETTER * len(text) + 20
        if x and x + width > breadth:
            x, y = 0.0, y + 24
        found.append(f'<g transform="translate({_n(x)} {_n(y)})">{sample}{_text(44, 4.5, text, "legend")}</g>')
        x += width
    y += 28
    cycle = numbered(witness)
    badge = diagram.badge
    room = int((min(breadth, WIDEST) - badge - 20) / LETTER)
    for text in _notes(witness, diagram):
        for line in wrap(text, int(min(breadth, WIDEST) / LETTER)):
            found.append(_text(0, y, line, "legend"))
            y += SENTENCE
    y += 8
    for number, (edge, sentence) in enumerate(zip(cycle, words.cycle(cycle, witness["computation"]), strict=True), 1):
        found.append(_badge(number, edge["relation"], badge / 2, y - 4.5, badge))
        for line in wrap(PAIRS.sub("\u00a0", visible_line(sentence)), room):
            found.append(_text(badge + 12, y, line, "sentence"))
            y += SENTENCE
        y += 4
    if cycle:
        last = f"So step {cycle[0]['from'] + 1} would have to come before itself."
        found.append(_text(badge + 12, y, last, "sentence"))
        y += SENTENCE
    ending = one_run.sentences(result, witness)
    y += 4 * bool(cycle and ending)
    for told, style in ending:
        for line in wrap(visible_line(PAIRS.sub("\u00a0", told)), int(min(breadth, WIDEST) / LETTER)):
            found.append(_text(0, y, line, "sentence strong" if style == "bad" else "sentence"))
            y += SENTENCE
    return found, y


def _notes(witness: Witness, diagram: Diagram) -> Iterator[str]:
    """What the steps are, and which ranks have no lane."""
    if any(box.kind == "step" for box in diagram.boxes):
        yield from steps_in(witness["computation"])
    if witness["cycle_type"] is not None:
        ranks = " ".join(map(str, witness["cycle_type"]))
        yield f"{{enter}} and {{leave}} mark where the cycle enters and leaves each rank; its cycle type is {ranks}."
    absent = witness["nodes"] - len(diagram.lanes)
    if absent:
        yield f"{absent} other {'rank has' if absent == 1 else 'ranks have'} no event here and no lane."


def _legend(diagram: Diagram) -> Iterator[tuple[str, str]]:
    """Samples of what stands in the diagram, and what they mean."""
    relations = {line.relation for line in diagram.lines}
    for relation in ("po", "cf", "id"):
        if relation in relations:
            sample = _line(Line(0, 0, relation, ((0, 0), (34, 0))), relation)
            yield f'<g class="edge-sample {relation}">{sample}</g>', f"{relation}  {NAMES[relation]}"
    if any(line.number for line in diagram.lines):
        yield (
            f'<g class="edge-sample cycle po">{_line(Line(0, 0, "none", ((0, 0), (34, 0))), "none")}</g>',
            "heavy, numbered: the cycle",
        )
    if any(box.kind == "step" for box in diagram.boxes):
        yield (
            '<g class="event step"><rect x="2" y="-8" width="30" height="16" rx="8"/></g>',
            ("a step, in the lane whose memory it acts on"),
        )
    if any(box.reach is not None for box in diagram.boxes):
        yield (
            '<g class="event"><path class="reach" d="M2 0H26"/><circle class="touch" cx="30" cy="0" r="3.5"/></g>',
            ("acts on this rank's memory at once"),
        )


# --- The diagram -----------------------------------------------------------------------------------------------------


def _drawing(diagram: Diagram, prefix: str, witness: Witness) -> Iterator[str]:
    """From the back to the front: parts, lanes, lines, boxes, numbers."""
    events = witness["computation"]
    for part in diagram.parts:
        yield _part(part, diagram)
    bottom = diagram.height - GAP
    for row in diagram.rows:
        middle = snapped(row.y + row.height / 2)
        yield (
            f'<g class="row" data-places="{row.places[0]}-{row.places[-1]}" data-y="{_n(row.y)}">'
            f'<path class="guide" d="M{_n(diagram.gutter + 8)} {_n(middle)}H{_n(diagram.width)}"/>'
            f'<text class="number" x="{_n(diagram.gutter)}" y="{_n(middle + 4.5)}">{row.number}</text></g>'
        )
    if diagram.rows:
        yield f'<text class="number" x="{_n(diagram.gutter)}" y="18">step ↓</text>'
    stands = {end.lane: end.y for end in diagram.ends}
    for index, lane in enumerate(diagram.lanes):
        end = stands.get(index, bottom)
        yield (
            f'<g class="lane" data-rank="{lane.rank}"><path d="M{_n(lane.axis)} {_n(HEADING)}V{_n(end)}"/>'
            f"{_text(lane.x, 18, f'rank {lane.rank}', 'rank')}</g>"
        )
    for row in diagram.rows:
        if len(row.places) > 1:
            yield _bar([diagram.boxes[place] for place in row.places])
    for line in diagram.lines:
        cycle = " cycle" if line.number else ""
        yield (
            f'<g class="edge {line.relation}{cycle}" data-from="{line.source}" data-to="{line.target}">'
            f"<title>{_escaped(_told(line, events))}</title>{_line(line, line.relation)}</g>"
        )
    for box in diagram.boxes:
        of = f'class="event {box.kind}{" cycle" * box.cycle}" data-step="{box.place}" id="{prefix}-e-{box.place}"'
        yield _box(box, f'{of} data-rank="{events[box.place]["rank"]}"', diagram.lanes)
    for box in diagram.ends:
        yield _box(box, f'class="standing {box.kind}" data-rank="{diagram.lanes[box.lane].rank}"', diagram.lanes)
    for line in diagram.lines:
        if line.number and line.badge:
            yield _badge(line.number, line.relation, *line.badge, diagram.badge)


def _told(line: Line, events: Sequence[Event]) -> str:
    """An edge in words, to show at the pointer."""
    steps = f"step {line.source + 1} {'and' if line.relation == 'id' else 'before'} step {line.target + 1}"
    event = events[line.source]
    where = words.cell(event["address"]) if line.relation == "cf" else f"rank {event['rank']}"
    number = f"{line.number}. " if line.number else ""
    return f"{number}{line.relation}, {NAMES[line.relation]} ({where}): {steps}"


def _part(part: Part, diagram: Diagram) -> str:
    name = UNICODE.tau + UNICODE.subscript(part.number)
    top, bottom = part.y, part.y + part.height
    odd = " odd" if part.number % 2 else ""
    return (
        f'<rect class="part{odd}" data-part="{part.number}" x="0" y="{_n(top)}" width="{_n(diagram.width)}" '
        f'height="{_n(part.height)}"/>'
        f'<path class="bracket" d="M10 {_n(top + 4)}H4V{_n(bottom - 4)}H10"/>'
        f'<text class="part-name" x="8" y="{_n(top + 19)}">{name}</text>'
    )


def _bar(boxes: Sequence[Box]) -> str:
    """What joins the events of a barrier."""
    left, right = min(box.x for box in boxes), max(box.x + box.width for box in boxes)
    y, height = boxes[0].y, boxes[0].height
    return f'<rect class="bar" x="{_n(left)}" y="{_n(y)}" width="{_n(right - left)}" height="{_n(height)}" rx="3"/>'


def _box(box: Box, attributes: str, lanes: Sequence[Lane]) -> str:
    x, y, radius = box.x, box.y, 9 if box.kind == "step" else 3
    parts = [f"<g {attributes}><title>{_escaped(box.full)}</title>"]
    if box.reach is not None:
        parts.append(_reach(box, lanes))
    parts.append(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(box.width)}" height="{_n(box.height)}" rx="{radius}"/>')
    base = y + (box.height - len(box.lines) * LINE) / 2 + 12.8
    for index, line in enumerate(box.lines):
        parts.append(f'<text x="{_n(x + PADDING)}" y="{_n(base + index * LINE)}">')
        parts += [f'<tspan class="{style}">{_escaped(text)}</tspan>' for text, style in line]
        parts.append("</text>")
    return "".join(parts) + "</g>"


def _reach(box: Box, lanes: Sequence[Lane]) -> str:
    """A line to the lane of the memory that an issued event itself acts on."""
    assert box.reach is not None
    y = box.y + box.height / 2
    start = box.x if box.reach < box.lane else box.x + box.width
    end = lanes[box.reach].axis + TOUCH
    near = end + 3.5 if end < start else end - 3.5
    y = snapped(y)
    return (
        f'<path class="reach" d="M{_n(start)} {_n(y)}H{_n(near)}"/>'
        f'<circle class="touch" cx="{_n(end)}" cy="{_n(y)}" r="3.5"/>'
    )


def _line(line: Line, relation: str) -> str:
    """A line with round corners, and its head."""
    points = list(line.points)
    path = f"M{_n(points[0][0])} {_n(points[0][1])}"
    for before, (x, y), after in zip(points, points[1:], points[2:], strict=False):
        radius = min(CORNER, _length(before, (x, y)) / 2, _length((x, y), after) / 2)
        (bx, by), (ax, ay) = _towards((x, y), before, radius), _towards((x, y), after, radius)
        path += f"L{_n(bx)} {_n(by)}Q{_n(x)} {_n(y)} {_n(ax)} {_n(ay)}"
    path += f"L{_n(points[-1][0])} {_n(points[-1][1])}"
    # What crosses a line of the cycle is interrupted there.
    halo = f'<path class="halo" d="{path}"/>' if line.number and len(points) > 2 else ""
    drawn = f'{halo}<path class="way" d="{path}"/>'
    if relation in ("po", "cf"):
        (x, y), (fx, fy) = points[-1], _towards(points[-1], points[-2], 1)
        dx, dy = x - fx, y - fy  # of length 1
        size = HEAD if line.number else 6.0
        left = f"{_n(x - size * dx - size * 0.55 * dy)} {_n(y - size * dy + size * 0.55 * dx)}"
        right = f"{_n(x - size * dx + size * 0.55 * dy)} {_n(y - size * dy - size * 0.55 * dx)}"
        close = "Z" if relation == "po" else ""
        drawn += f'<path class="head" d="M{left}L{_n(x)} {_n(y)}L{right}{close}"/>'
    return drawn


def _length(start: tuple[float, float], end: tuple[float, float]) -> float:
    return abs(start[0] - end[0]) + abs(start[1] - end[1])  # lines are horizontal or vertical


def _towards(start: tuple[float, float], end: tuple[float, float], distance: float) -> tuple[float, float]:
    length = _length(start, end) or 1
    share = distance / length
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _badge(number: int, relation: str, x: float, y: float, width: float) -> str:
    height = BADGE
    return (
        f'<g class="badge" data-number="{number}"><rect x="{_n(x - width / 2)}" y="{_n(y - height / 2)}" '
        f'width="{_n(width)}" height="{_n(height)}" rx="{_n(height / 2)}"/>'
        f'<text x="{_n(x)}" y="{_n(y + 4)}">{number} {relation}</text></g>'
    )


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{_n(x)}" y="{_n(y)}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """``text`` for XML, with an escape for each character that XML has no place for."""
    return escape(visible(text))


def _n(number: float) -> str:
    """A coordinate in as few characters as it takes."""
    return f"{number:.1f}".removesuffix(".0")
