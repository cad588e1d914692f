r"""The space-time diagram of a run in LaTeX, drawn with TikZ: `diagram` says what stands where.

The file compiles by itself, on a page of the size of the drawing, and can also be read by `\input` into a document or
slides. It needs TikZ and geometry alone. What colour says, lines say too, so it can be printed in black.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgasrob.diagnostics import visible
from pgasrob.render import words
from pgasrob.render.diagram.model import GAP, HEADING, LINE, PADDING, Box, Diagram, Lane, Part, layout, numbered
from pgasrob.render.json import Result, Witness
from pgasrob.render.latex import OTHER, code, prose
from pgasrob.render.lines import wrap
from pgasrob.render.run_graph import caption, witness_of
from pgasrob.render.text import PAIRS, initially

UNIT = 0.6
"""Points to a unit of the diagram: typewriter type of 9 points fits the places that the diagram has for letters."""
LARGEST = 8_000.0
"""Points to a side of the page: TeX adds two of them up and knows none above 16383. Larger drawings are scaled."""
MARGIN = 10.0
NARROWEST, WIDEST = 600.0, 950.0
"""Room for sentences, at least and at most."""
LETTER, SENTENCE = 7.8, 20.0
"""Width of a letter of a sentence and height of its lines, on the safe side."""
TOUCH = 26.0
"""How far right of the axis of another lane the mark for its memory stands."""
BADGE = (36.0, 17.0)

PREAMBLE = r"""% A run drawn by pgasrob. It compiles by itself; in a document of your own say
%   \usepackage{tikz}\usetikzlibrary{arrows.meta}   in the preamble and
%   \resizebox{\linewidth}{!}{\input{THIS FILE}}    where it is to stand (in beamer too; no fragile frame is needed).
% The part between "cut here" and "to here" can also be pasted. The colour of the cycle is defined there.
\expandafter\ifx\csname @twoclasseserror\endcsname\documentclass
\def\pgasrobend{}%
\else
\documentclass{article}
\usepackage[paperwidth=@width@pt,paperheight=@height@pt,margin=@margin@pt,noheadfoot]{geometry}
\usepackage{tikz}
\usetikzlibrary{arrows.meta}
\pagestyle{empty}
\setlength\parindent{0pt}
\def\pgasrobend{\end{document}}
\begin{document}
\fi
% cut here
"""
PICTURE = r"""\begin{tikzpicture}[x=1pt,y=-1pt,
  every node/.style={inner sep=0pt,outer sep=0pt@scale@},
  run code/.style={anchor=base west,font=\normalfont\ttfamily\fontsize{9}{11}\selectfont},
  run said/.style={anchor=base west,font=\normalfont\sffamily\fontsize{9}{11}\selectfont},
  run num/.style={anchor=base east,font=\normalfont\ttfamily\fontsize{8}{10}\selectfont,text=black!65},
  run part/.style={fill=black!5},
  run guide/.style={draw=black!18,line width=.4pt},
  run axis/.style={draw=black!25,line width=.9pt},
  run bar/.style={fill=black!16},
  run box/.style={draw=black!70,fill=white,line width=.5pt},
  run step/.style={run box,rounded corners=4pt},
  run end/.style={run box,dashed},
  run on cycle/.style={draw=pgasrobcycle,line width=1.5pt},
  run reach/.style={draw=black,line width=.7pt},
  run po/.style={draw=black!75,line width=.7pt,rounded corners=3pt,-{Latex[length=4.5pt,width=4pt]}},
  run cf/.style={draw=black,line width=.7pt,rounded corners=3pt,dash pattern=on 4pt off 2.5pt,
    -{Straight Barb[length=3pt,width=4.5pt]}},
  run id/.style={draw=black!80,line width=1pt,rounded corners=3pt,line cap=round,dash pattern=on 0pt off 2.8pt},
  run cycle po/.style={run po,draw=pgasrobcycle,line width=1.8pt,-{Latex[length=6pt,width=6pt]}},
  run cycle cf/.style={run cf,draw=pgasrobcycle,line width=1.8pt,dash pattern=on 6pt off 3.5pt,
    -{Straight Barb[length=4pt,width=6pt]}},
  run cycle id/.style={run id,draw=pgasrobcycle,line width=2.4pt,dash pattern=on 0pt off 4.4pt},
  run badge/.style={draw=pgasrobcycle,fill=white,line width=.9pt,rounded corners=4.5pt},
  run badge text/.style={font=\normalfont\ttfamily\fontsize{8}{10}\selectfont}]
"""
NAMES = {"po": "program order", "cf": "conflict", "id": "one command"}


def to_tikz(result: Result) -> str:
    """The run of ``result`` as a LaTeX document. Raises `NoRun` where there is none."""
    witness = witness_of(result)
    diagram = layout(witness)
    breadth = max(diagram.width, NARROWEST)
    above = list(_above(result, witness, breadth))
    top = SENTENCE * len(above) + 8
    legend, cycle_top = _legend(diagram, breadth, top + diagram.height + 12)
    sentences, height = _cycle(witness, breadth, cycle_top + SENTENCE + 8)
    scale = min(1.0, LARGEST / UNIT / max(breadth, height))
    pen = _Pen(UNIT * scale)
    values = {
        "width": _n(breadth * pen.unit + 2 * MARGIN),
        "height": _n(height * pen.unit + 2 * MARGIN),
        "margin": _n(MARGIN - 2),
        "scale": "" if scale == 1 else f",scale={scale:.4f}",
    }
    lines = [
        _filled(PREAMBLE + PICTURE, values) + OTHER + r"\definecolor{pgasrobcycle}{rgb}{.7,.1,.09}%",
        rf"\path[use as bounding box] (0,0) rectangle {pen.at(breadth, height)};",
        *(pen.said(0, 14 + SENTENCE * index, text) for index, text in enumerate(above)),
        rf"\begin{{scope}}[shift={{{pen.at(0, top)}}}]",
        *pen.drawing(diagram),
        r"\end{scope}",
        "% legend",
        *(pen.sample(*each) for each in legend),
        "% the cycle in sentences",
        *(pen.sentence(*each) for each in sentences),
        r"\end{tikzpicture}%",
        "% to here",
        r"\pgasrobend",
    ]
    return "\n".join(lines) + "\n"


def _filled(template: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


# --- Around the diagram ----------------------------------------------------------------------------------------------


def _above(result: Result, witness: Witness, breadth: float) -> Iterator[str]:
    room = int(min(breadth, WIDEST) / LETTER)
    yield from wrap(f"{caption(result)}.", room)
    yield from wrap(_clean(initially(witness)), room)
    if witness["fault"]:
        yield from wrap(_clean(words.fault(result["file"], witness["fault"])), room)


def _legend(diagram: Diagram, breadth: float, y: float) -> tuple[list[tuple[float, float, str, str]], float]:
    """Where each sample stands, what it is and what it means; and where the last ones stand."""
    found = []
    x = 0.0
    for sample, text in _samples(diagram):
        width = 46 + LETTER * len(text) + 16
        if x and x + width > breadth:
            x, y = 0.0, y + SENTENCE
        found.append((x, y, sample, text))
        x += width
    return found, y


def _samples(diagram: Diagram) -> Iterator[tuple[str, str]]:
    relations = {line.relation for line in diagram.lines}
    for relation in ("po", "cf", "id"):
        if relation in relations:
            yield f"run {relation}", f"{relation} {NAMES[relation]}"
    if any(line.number for line in diagram.lines):
        yield "run on cycle", "heavy, numbered: the cycle"
    if any(box.kind == "step" for box in diagram.boxes):
        yield "run step", "a step, in the lane whose memory it acts on"
    if any(box.reach is not None for box in diagram.boxes):
        yield "run reach", "acts on this rank's memory at once"


def _cycle(witness: Witness, breadth: float, y: float) -> tuple[list[tuple[float, str, int, str]], float]:
    """The lines of the sentences about the cycle, each with its place, and a number and relation where one begins."""
    room = int((min(breadth, WIDEST) - BADGE[0] - 12) / LETTER)
    cycle = numbered(witness)
    found = []
    for number, (edge, sentence) in enumerate(zip(cycle, words.cycle(cycle, witness["computation"]), strict=True), 1):
        for index, line in enumerate(wrap(PAIRS.sub("\u00a0", _clean(sentence)), room)):
            found.append((y, line, 0 if index else number, edge["relation"]))
            y += SENTENCE
    if cycle:
        found.append((y, f"So step {cycle[0]['from'] + 1} would have to come before itself.", 0, ""))
        y += SENTENCE
    return found, y


def _clean(text: str) -> str:
    """``text`` with escapes for what would not show; the no-break spaces that `wrap` needs are left."""
    return "\u00a0".join(visible(piece) for piece in text.split("\u00a0"))


# --- The drawing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pen:
    """Writes TikZ for what the diagram has, a unit of which becomes so many points.

    TeX knows no number above 16383, so the file has the points and not the units.
    """

    unit: float

    def at(self, x: float, y: float) -> str:
        return f"({_n(x * self.unit)},{_n(y * self.unit)})"

    def line(self, style: str, *points: tuple[float, float]) -> str:
        return rf"\path[{style}] {' -- '.join(self.at(*point) for point in points)};"

    def rectangle(self, style: str, left: float, top: float, width: float, height: float) -> str:
        return rf"\path[{style}] {self.at(left, top)} rectangle {self.at(left + width, top + height)};"

    def ring(self, x: float, y: float) -> str:
        return rf"\path[run reach,fill=white] {self.at(x, y)} circle[radius={_n(3.5 * self.unit)}];"

    def text(self, style: str, x: float, y: float, text: str) -> str:
        return rf"\node[{style}] at {self.at(x, y)} {{{text}}};"

    def said(self, x: float, y: float, text: str) -> str:
        return self.text("run said", x, y, prose(text))

    def badge(self, number: int, relation: str, x: float, y: float) -> str:
        width, height = BADGE
        place = self.rectangle("run badge", x - width / 2, y - height / 2, width, height)
        return place + self.text("run badge text", x, y, f"{number}~{relation}")

    def sample(self, x: float, y: float, style: str, text: str) -> str:
        """An entry of the legend."""
        if style == "run step":
            drawn = self.rectangle(style, x + 2, y - 8, 32, 16)
        elif style == "run reach":
            drawn = self.line(style, (x + 2, y), (x + 27, y)) + self.ring(x + 30, y)
        else:
            drawn = self.line(style, (x, y), (x + 34, y))
        return drawn + self.said(x + 44, y + 4.5, text)

    def sentence(self, y: float, text: str, number: int, relation: str) -> str:
        badge = self.badge(number, relation, BADGE[0] / 2, y - 4.5) if number else ""
        return badge + self.said(BADGE[0] + 12, y, text)

    def drawing(self, diagram: Diagram) -> Iterator[str]:
        """From the back to the front: parts, lanes, lines, boxes, numbers."""
        for part in diagram.parts:
            yield from self.part(part, diagram)
        for row in diagram.rows:
            middle = row.y + row.height / 2
            yield self.line("run guide", (diagram.gutter + 8, middle), (diagram.width, middle))
            yield self.text("run num", diagram.gutter, middle + 4.5, code(row.number))
        if diagram.rows:
            yield self.text("run num", diagram.gutter, 18, "step")
        for lane in diagram.lanes:
            yield self.line("run axis", (lane.axis, HEADING), (lane.axis, diagram.height - GAP))
            yield self.text("run code", lane.x, 18, f"rank~{lane.rank}")
        for row in diagram.rows:
            if len(row.places) > 1:
                yield self.bar([box for box in diagram.boxes if box.place in row.places])
        for line in diagram.lines:
            yield self.line(f"run {'cycle ' if line.number else ''}{line.relation}", *line.points)
        for box in (*diagram.boxes, *diagram.ends):
            yield from self.box(box, diagram.lanes)
        for line in diagram.lines:
            if line.number and line.badge:
                yield self.badge(line.number, line.relation, *line.badge)

    def part(self, part: Part, diagram: Diagram) -> Iterator[str]:
        top, bottom = part.y, part.y + part.height
        if part.number % 2:
            yield self.rectangle("run part", 0, top, diagram.width, part.height)
        yield self.line("draw", (10, top + 4), (4, top + 4), (4, bottom - 4), (10, bottom - 4))
        yield self.text("run said", 8, top + 19, rf"$\tau_{{{part.number}}}$")

    def bar(self, boxes: Sequence[Box]) -> str:
        """What joins the events of a barrier."""
        left, right = min(box.x for box in boxes), max(box.x + box.width for box in boxes)
        return self.rectangle("run bar", left, boxes[0].y, right - left, boxes[0].height)

    def box(self, box: Box, lanes: Sequence[Lane]) -> Iterator[str]:
        if box.reach is not None:
            yield self.reach(box, box.reach, lanes)
        style = {"step": "run step", "end": "run end", "fault": "run end,run on cycle"}.get(box.kind, "run box")
        yield self.rectangle(style + ",run on cycle" * box.cycle, box.x, box.y, box.width, box.height)
        base = box.y + (box.height - len(box.lines) * LINE) / 2 + 12.8
        for index, line in enumerate(box.lines):
            text = "".join(
                rf"\textcolor{{black!60}}{{{code(text)}}}"
                if kind in ("line", "origin") and text.strip()
                else code(text)
                for text, kind in line
            )
            yield self.text("run code", box.x + PADDING, base + index * LINE, text)

    def reach(self, box: Box, to: int, lanes: Sequence[Lane]) -> str:
        """A line to the lane of the memory that an issued event itself acts on."""
        y = box.y + box.height / 2
        start = box.x if to < box.lane else box.x + box.width
        end = lanes[to].axis + TOUCH
        near = end + 3.5 if end < start else end - 3.5
        return self.line("run reach", (start, y), (near, y)) + self.ring(end, y)


def _span(text: str, kind: str) -> str:
    faint = kind in ("line", "origin") and text.strip()
    return rf"\textcolor{{black!60}}{{{code(text)}}}" if faint else code(text)


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").removesuffix(".")
