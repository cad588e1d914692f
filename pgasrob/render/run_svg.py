"""The space-time diagram of a run as SVG: `diagram` says what stands where and what is drawn, and here is the element.

Colours are CSS variables that a page around the drawing can set (`drawing.palette`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePath

from pgasrob.diagnostics import visible
from pgasrob.drawing.svg_pen import PAPER, Frame, SvgPen, document
from pgasrob.render import english, one_run, words
from pgasrob.render.diagram.layout import layout
from pgasrob.render.diagram.model import Diagram, numbered, shown
from pgasrob.render.diagram.paint import Captions, Room, draw
from pgasrob.render.diagram.style import RADII, STROKES, STYLE
from pgasrob.render.run_json import Witness
from pgasrob.render.text import initially, steps_in
from pgasrob.render.verdict_json import Result

MARGIN = 20.0
ROOM = Room(620, 900, 7.1, 4)


def to_svg(
    result: Result, *, embedded: bool = False, captions: bool = True, cycle_only: bool = False, room: int | None = None
) -> str:
    """The run of ``result`` as one SVG element; without a run, what is known in a line.

    ``embedded``: as part of a page, so without the XML prolog and with ids of its own. ``captions``: with the headline,
    the legend and the sentences of the cycle around the diagram. ``cycle_only``: what the cycle does not pass is folded
    into bands. ``room``: the characters on a line of a box, as many as there is room for when None.
    """
    prefix = f"pg{sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:10]}" if embedded else "pg"
    pen = SvgPen(RADII, STROKES, prefix)
    witness = shown(result)
    headline, description = _headline(result), ""
    if witness is None:
        pen.text(MARGIN, 36, headline, "headline")
        width, height = 9 * len(headline) + 2 * MARGIN, 60.0
    else:
        diagram = layout(witness, cycle_only, room)
        with pen.group(at=(MARGIN, MARGIN)):
            size = draw(pen, diagram, witness, _captions(result, witness, diagram) if captions else None)
        width, height = (side + 2 * MARGIN for side in size)
        sentences = [f"{one_run.title(result, witness)}.", *words.cycle(numbered(witness), witness["computation"])]
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
    told: str = result["verdict"] or one_run.kind(result)
    return f"{file}{where}" if told == "a run" else f"{file}{where}: {told}"


def _captions(result: Result, witness: Witness, diagram: Diagram) -> Captions:
    least = " None of its events can be left out." if witness["irreducible"] else ""
    above = [(_headline(result), "headline")]
    if late := words.diagnosis(witness):
        above.append((late, "sentence strong"))
    above += [
        (f"{one_run.title(result, witness)}.{least} {initially(witness)}", "sentence"),
    ]
    if witness["fault"]:
        above.append((words.fault(PurePath(result["file"]).name, witness["fault"]), "sentence strong"))
    ending = [
        (told, "sentence strong" if style == "bad" else "sentence")
        for told, style in one_run.sentences(result, witness)
    ]
    if repair := result.get("repair"):
        ending.append((f"Repair: {visible(repair['told'])}.", "sentence strong"))
    return Captions(ROOM, above, list(_notes(witness, diagram)), ending)


def _notes(witness: Witness, diagram: Diagram) -> Iterator[str]:
    """What the steps are, and which ranks have no lane."""
    if any(box.kind == "step" for box in diagram.boxes):
        yield from steps_in(witness["computation"])
    if len(diagram.parts) > 1:
        yield "τ₁ is what comes in the order of the programs; behind it stand steps that are delayed."
    if witness["cycle_type"] is not None:
        ranks = " ".join(map(str, witness["cycle_type"]))
        yield f"{{enter}} and {{leave}} mark where the cycle enters and leaves each rank; its cycle type is {ranks}."
    absent = witness["nodes"] - len(diagram.lanes)
    if absent:
        have = "rank has" if absent == 1 else "ranks have"
        yield f"{absent} other {have} no event {'outside the bands' if diagram.bands else 'here'} and no lane."
