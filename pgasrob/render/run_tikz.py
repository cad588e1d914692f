r"""The space-time diagram of a run in LaTeX with TikZ, laid out and drawn by `diagram`.

The file compiles by itself, on a page of the size of the drawing, and can also be read by `\input` into a document or
slides. It needs TikZ and geometry alone. What colour says, lines say too, so it can be printed in black.
"""

from __future__ import annotations

from pgasrob.drawing.latex import OTHER, code, prose
from pgasrob.drawing.tikz_pen import Letters, TikzPen, number
from pgasrob.render import words
from pgasrob.render.diagram.paint import Captions, Room, draw
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_graph import caption, witness_of
from pgasrob.render.run_json import Witness
from pgasrob.render.verdict_json import Result
from pgasrob.render.verdict_text import initially

UNIT = 0.6
"""Points to a unit of the diagram: typewriter type of 9 points fits the places that the diagram has for letters."""
LARGEST = 8_000.0
"""Points to a side of the page: TeX adds two of them up and knows none above 16383. Larger drawings are scaled."""
MARGIN = 10.0
ROOM = Room(600, 950, 7.8)

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
  run num/.style={anchor=base east,font=\normalfont\ttfamily\fontsize{7}{8}\selectfont,text=black!65},
  run part/.style={fill=black!5},
  run guide/.style={draw=black!18,line width=.4pt},
  run axis/.style={draw=black!25,line width=.9pt},
  run bar/.style={fill=black!16},
  run fold/.style={draw=black!50,fill=black!3,line width=.4pt,densely dotted},
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
  run race/.style={draw=pgasrobcycle,line width=1.8pt,rounded corners=3pt,
    dash pattern=on 6pt off 2.5pt on 1.5pt off 2.5pt},
  run badge/.style={draw=pgasrobcycle,fill=white,line width=.9pt,rounded corners=4.5pt},
  run badge text/.style={anchor=base,font=\normalfont\ttfamily\fontsize{8}{10}\selectfont}]
"""
SHAPES = {
    "part odd": "run part",
    "bracket": "draw",
    "guide": "run guide",
    "lane": "run axis",
    "bar": "run bar",
    "fold": "run fold",
    "event": "run box",
    "event step": "run step",
    "event cycle": "run box,run on cycle",
    "event step cycle": "run step,run on cycle",
    "standing": "run end",
    "standing fault": "run end,run on cycle",
    "reach": "run reach",
    "touch": "run reach,fill=white",
    "way po": "run po",
    "way cf": "run cf",
    "way id": "run id",
    "way race": "run race",
    "way cycle": "run on cycle",
    "way cycle po": "run cycle po",
    "way cycle cf": "run cycle cf",
    "way cycle id": "run cycle id",
    "badge": "run badge",
}
_SAID = Letters("run said", prose)
TEXTS = {
    "": Letters("run code", code),
    "number": Letters("run num", code),
    "part-name": _SAID,
    "sentence": _SAID,
    "legend": _SAID,
    "badge": Letters("run badge text", code),
}
PIECES = dict.fromkeys(("line", "origin"), r"\textcolor{black!60}")


def to_tikz(result: Result, *, cycle_only: bool = False) -> str:
    """The run of ``result`` as a LaTeX document. Raises `NoRun` where there is none.

    ``cycle_only``: what the cycle does not pass is folded into bands.
    """
    witness = witness_of(result)
    diagram, captions = layout(witness, cycle_only), _captions(result, witness)

    def drawn(scale: float) -> tuple[TikzPen, float, float]:
        pen = TikzPen(UNIT * scale, SHAPES, TEXTS, PIECES)
        return pen, *draw(pen, diagram, witness, captions)

    pen, breadth, height = drawn(1)
    scale = min(1.0, LARGEST / UNIT / max(breadth, height))
    if scale < 1:
        pen, *_ = drawn(scale)
    values = {
        "width": number(breadth * UNIT * scale + 2 * MARGIN),
        "height": number(height * UNIT * scale + 2 * MARGIN),
        "margin": number(MARGIN - 2),
        "scale": "" if scale == 1 else f",scale={scale:.4f}",
    }
    lines = [
        _filled(PREAMBLE + PICTURE, values) + OTHER + r"\definecolor{pgasrobcycle}{rgb}{.7,.1,.09}%",
        rf"\path[use as bounding box] (0,0) rectangle {pen.at(breadth, height)};",
        *pen.lines,
        r"\end{tikzpicture}%",
        "% to here",
        r"\pgasrobend",
    ]
    return "\n".join(lines) + "\n"


def _filled(template: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def _captions(result: Result, witness: Witness) -> Captions:
    """Only a title and the initial values: a figure in a document has a caption of its own."""
    above = [f"{caption(result)}.", initially(witness)]
    if witness["fault"]:
        above.append(words.fault(result["file"], witness["fault"]))
    return Captions(ROOM, [(text, "sentence") for text in above])
