"""Writes the space-time diagram of a run as SVG; `diagram` lays it out and draws it.

Colours are CSS variables that a page around the drawing can set (`drawing.palette`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePath

from pgasrob.diagnostics import visible
from pgasrob.drawing.labels import BADGE, HEAD
from pgasrob.drawing.palette import COLOURS, coloured, variables
from pgasrob.drawing.svg_pen import PAPER, Frame, Stroke, SvgPen, document
from pgasrob.render import english, one_run_text, synchronised_text, words
from pgasrob.render.diagram.model import Diagram, numbered, shown
from pgasrob.render.diagram.paint import Captions, Room, draw
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_json import Witness, processes_of
from pgasrob.render.verdict_json import Result
from pgasrob.render.verdict_text import initially, steps_in

MARGIN = 20.0
NARROW_MARGIN = 6.0
"""Where a page has a margin around the drawing."""
ROOM = Room(620, 900, 7.1, 4)
CORNER = 7.0
RADII = {"bar": 3, "fold": 3, "event": 3, "standing": 3, "event step": 9, "badge": BADGE / 2}
STROKES = {
    "halo": Stroke(CORNER),
    "way": Stroke(CORNER),
    "po way": Stroke(CORNER, 6, filled=True),
    "cf way": Stroke(CORNER, 6),
    "cycle po way": Stroke(CORNER, HEAD, filled=True),
    "cycle cf way": Stroke(CORNER, HEAD),
}
PRINTED = dict.fromkeys(COLOURS, "#000") | {
    "paper": "#fff",
    "box": "#fff",
    "step": "#fff",
    "part": "#f2f2f2",
    "bar": "#ddd",
    "rule": "#ddd",
    "faint": "#333",
}
"""The colours when printed: black on white, for the kinds of lines differ by their shapes, too."""

RULES = """
.pg-run{color-scheme:light dark}
.pg-run text{font:13px ui-monospace,"DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;white-space:pre;
fill:@ink}
.pg-run .paper{fill:@paper}
.pg-run .headline{font-weight:bold;font-size:15px}
.pg-run .headline,.pg-run .sentence,.pg-run .legend{font-family:system-ui,"DejaVu Sans","Liberation Sans",sans-serif}
.pg-run .strong{font-weight:bold}
.pg-run .rank{font-weight:bold;font-size:14px}
.pg-run .legend{font-size:12px;fill:@faint}
.pg-run .number{text-anchor:end;fill:@faint;font-size:11px}
.pg-run .part{fill:@paper}
.pg-run .part.odd{fill:@part}
.pg-run .bar{fill:@bar}
.pg-run .fold rect{fill:@part;stroke:@faint;stroke-width:1;stroke-dasharray:1.5 3}
.pg-run .bracket{fill:none;stroke:@faint;stroke-width:1.2}
.pg-run .part-name{font:italic 14px Georgia,"DejaVu Serif","Liberation Serif",serif;fill:@faint}
.pg-run .guide{stroke:@rule;stroke-width:1}
.pg-run .lane path{stroke:@rule;stroke-width:2;fill:none}
.pg-run .event rect,.pg-run .standing rect{fill:@box;stroke:@faint;stroke-width:1}
.pg-run .event.step rect{fill:@step}
.pg-run .event.cycle rect{stroke:@accent;stroke-width:2.4}
.pg-run .standing rect{stroke-dasharray:5 3}
.pg-run .fault rect{stroke:@accent;stroke-width:2.4}
.pg-run .line,.pg-run .origin,.pg-run .mark{fill:@faint}
.pg-run .effect{fill:@told}
.pg-run .event.cycle .command,.pg-run .event.cycle .step,.pg-run .fault .command{font-weight:bold}
.pg-run .fails{font-weight:bold;fill:@accent}
.pg-run .reach{stroke:@ink;stroke-width:1.4;fill:none}
.pg-run .touch{fill:@paper;stroke:@ink;stroke-width:1.4}
.pg-run .halo{fill:none;stroke:@paper;stroke-width:7}
.pg-run .way{fill:none;stroke-width:1.3}
.pg-run .head{stroke-width:1.3;stroke-linejoin:round;stroke-linecap:round}
.pg-run .po .way{stroke:@po}
.pg-run .po .head{fill:@po;stroke:@po}
.pg-run .cf .way{stroke:@cf;stroke-dasharray:6 4}
.pg-run .cf .head{fill:none;stroke:@cf;stroke-width:1.6}
.pg-run .id .way{stroke:@id;stroke-width:2;stroke-dasharray:.1 4.4;stroke-linecap:round}
.pg-run .race .way{stroke:@accent;stroke-width:2.8;stroke-dasharray:9 4 2 4}
.pg-run .cycle .way{stroke:@accent;stroke-width:2.8}
.pg-run .cycle.cf .way{stroke-dasharray:9 5}
.pg-run .cycle.id .way{stroke-width:4;stroke-dasharray:.1 7}
.pg-run .cycle .head{stroke:@accent;stroke-width:2.4}
.pg-run .cycle.po .head{fill:@accent}
.pg-run .badge rect{fill:@paper;stroke:@accent;stroke-width:1.6}
.pg-run .badge text{font-size:11.5px;font-weight:bold;text-anchor:middle;fill:@accent}
"""

_PRINT = ";".join(f"--{name}:{value}" for name, value in PRINTED.items())
STYLE = f"{variables('pg-run')}@media print{{.pg-run{{max-width:100%;height:auto;{_PRINT}}}}}\n{coloured(RULES)}\n"


def to_svg(
    result: Result, *, embedded: bool = False, captions: bool = True, cycle_only: bool = False, room: int | None = None
) -> str:
    """The run of ``result`` as one SVG element. Without a run it has the verdict in one line.

    ``embedded``: as part of a page, so without the XML prolog and with ids of its own. ``captions``: with the headline,
    the legend and the sentences of the cycle around the diagram. ``cycle_only``: what the cycle does not pass is folded
    into bands. ``room``: the characters on a line of a box, as many as there is room for when None.
    """
    drawn = json.dumps([result, cycle_only, room], sort_keys=True)
    prefix = f"pg{sha256(drawn.encode()).hexdigest()[:10]}" if embedded else "pg"
    pen = SvgPen(RADII, STROKES, prefix)
    witness = shown(result)
    margin = MARGIN if captions else NARROW_MARGIN
    headline, description = _headline(result), ""
    if witness is None:
        pen.text(margin, 36, headline, "headline")
        width, height = 9 * len(headline) + 2 * margin, 60.0
    else:
        diagram = layout(witness, cycle_only, room)
        with pen.group(at=(margin, margin)):
            size = draw(pen, diagram, witness, _captions(result, witness, diagram) if captions else None)
        width, height = (side + 2 * margin for side in size)
        sentences = [f"{one_run_text.title(result, witness)}.", *words.cycle(numbered(witness), witness["computation"])]
        description = " ".join(sentences)
    return document(
        "pg-run",
        headline,
        PAPER + pen.drawn,
        STYLE,
        Frame(width, height),
        description=description,
        embedded=embedded,
    )


def _headline(result: Result) -> str:
    file = visible(PurePath(result["file"]).name or result["program"] or "")
    where = english.on_nodes(result["nodes"])
    what = synchronised_text.in_short(result) if result["verdict"] else one_run_text.kind(result)
    return f"{file}{where}" if what == "a run" else f"{file}{where}: {what}"


def _captions(result: Result, witness: Witness, diagram: Diagram) -> Captions:
    least = " None of its events can be left out." if witness["irreducible"] else ""
    above = [(_headline(result), "headline")]
    if late := words.diagnosis(witness):
        above.append((late, "sentence strong"))
    above += [
        (f"{one_run_text.title(result, witness)}.{least} {initially(witness)}", "sentence"),
    ]
    if witness["fault"]:
        above.append((words.fault(PurePath(result["file"]).name, witness["fault"]), "sentence strong"))
    ending = [
        (sentence, "sentence strong" if style == "bad" else "sentence")
        for sentence, style in one_run_text.sentences(result, witness)
    ]
    if repair := result.get("repair"):
        ending.append((f"Repair: {visible(repair['told'])}.", "sentence strong"))
    return Captions(ROOM, above, list(_notes(witness, diagram)), ending)


def _notes(witness: Witness, diagram: Diagram) -> Iterator[str]:
    """Notes that explain the steps, and say which ranks have no lane."""
    if any(box.kind == "step" for box in diagram.boxes):
        yield from steps_in(witness["computation"])
    if len(diagram.parts) > 1:
        yield "τ₁ is what comes in the order of the programs; behind it stand steps that are delayed."
    if witness["cycle_type"] is not None:
        ranks = " ".join(map(str, witness["cycle_type"]))
        yield f"{{enter}} and {{leave}} mark where the cycle enters and leaves each rank; its cycle type is {ranks}."
    absent = len(processes_of(witness)) - len(diagram.lanes)
    if absent:
        have = "rank has" if absent == 1 else "ranks have"
        yield f"{absent} other {have} no event {'on the cycle' if diagram.bands else 'here'} and no lane."
