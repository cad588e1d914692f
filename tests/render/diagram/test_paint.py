"""What is drawn of a diagram is the same with every pen."""

from __future__ import annotations

import re

import pytest

from pgasrob.drawing.svg_pen import SvgPen
from pgasrob.drawing.tikz_pen import TikzPen
from pgasrob.render.diagram.model import shown
from pgasrob.render.diagram.paint import Captions, Room, draw
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_svg import RADII, STROKES
from pgasrob.render.run_tikz import PIECES, SHAPES, TEXTS
from tests.render.diagram.test_model import result_of
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE


@pytest.mark.parametrize(("program", "nodes"), [(ONE_TO_ONE, 2), (DEADLOCK, 3)])
def test_both_pens_draw_all_of_a_diagram(program: str, nodes: int) -> None:
    """But for what TikZ has no style for: the paper behind a part, and the gap beside a line of the cycle."""
    witness = shown(result_of(program, nodes, "attack"))
    assert witness is not None
    diagram = layout(witness)
    captions = Captions(Room(600, 900, 7), [("above", "headline")], ["a note"], [("the ending", "sentence strong")])
    svg, tikz = SvgPen(RADII, STROKES), TikzPen(1, SHAPES, TEXTS, PIECES)
    assert draw(svg, diagram, witness, captions) == draw(tikz, diagram, witness, captions)
    drawn, written = svg.drawn, "\n".join(tikz.lines)
    plain = len([part for part in diagram.parts if part.number % 2 == 0])
    assert drawn.count("<rect") - plain == written.count(" rectangle ")
    lines = len(re.findall("<path(?! class=.(?:head|halo))", drawn))
    assert lines == len([line for line in tikz.lines if " -- " in line])
    assert drawn.count("<circle") == written.count(" circle[")
    assert drawn.count("<text") == written.count(r"\node[")
