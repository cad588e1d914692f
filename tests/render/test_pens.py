"""Pens: a drawing says the same to each of them, and the sheets of a format say how that looks."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from pgasrob.render.diagram.drawing import Captions, Room, draw
from pgasrob.render.diagram.layout import layout
from pgasrob.render.diagram.model import shown
from pgasrob.render.diagram.style import RADII, STROKES
from pgasrob.render.pens import Pen, Sheet
from pgasrob.render.pens.svg import Stroke, SvgPen, coloured, document
from pgasrob.render.pens.tikz import Letters, TikzPen
from pgasrob.render.tikz import PIECES, SHAPES, TEXTS
from tests.render.diagram.test_model import result_of
from tests.render.test_json import DEADLOCK, ONE_TO_ONE


def test_the_last_look_of_which_all_words_are_there_counts() -> None:
    sheet = Sheet({"": 0, "a": 1, "a b": 2, "c": 3})
    assert [sheet.look(frozenset(words)) for words in ("", "b", "ax", "bax", "abc")] == [0, 0, 1, 2, 3]
    assert Sheet({"a": 1}).look(frozenset("b")) is None


def strokes(pen: Pen) -> None:
    with pen.group("outer", at=(10, 5)):
        pen.box(0, 1, 20, 8)
        with pen.group("inner", name="x", title="<&>", data={"from": 3}):
            pen.line([(0, 0), (10, 0), (10, 20)], "way")
            pen.line([(0, 0), (10, 0), (10, 20)])
    pen.ring(1.25, 2, 3.5, "dot")
    pen.text(0, 9, [("a_", "faint"), (" ", "faint"), ("<", "")])


def test_svg() -> None:
    pen = SvgPen({"outer": 6}, {"inner way": Stroke(4, 5, filled=True)}, "own")
    strokes(pen)
    group, ring, text = ElementTree.fromstring(f"<svg>{pen.drawn}</svg>")
    box, inner = group
    assert group.get("transform") == "translate(10 5)" and (box.get("rx"), box.get("height")) == ("4", "8")
    assert (inner.get("id"), inner.get("data-from"), inner[0].text) == ("own-x", "3", "<&>")
    ways = [(path.get("class"), path.get("d")) for path in inner[1:]]
    assert ways == [
        ("way", "M0 0L6 0Q10 0 10 4L10 20"),
        ("head", "M7.2 15L10 20L12.8 15Z"),
        (None, "M0 0H10V20"),
    ]
    assert (ring.get("class"), ring.get("cx")) == ("dot", "1.2")
    assert [(piece.get("class"), piece.text) for piece in text] == [("faint", "a_"), ("faint", " "), (None, "<")]
    assert document("k", "<", "", "", width=1, height=2, embedded=True).startswith("<svg ")


def test_tikz_draws_what_has_a_style() -> None:
    pen = TikzPen(0.5, {"outer": "O", "inner way": "W"}, {"": Letters("T", str.upper)}, {"faint": r"\f"})
    strokes(pen)
    assert pen.lines == [
        r"\begin{scope}[shift={(5,2.5)}] % outer",
        r"\path[O] (0,0.5) rectangle (10,4.5);",
        r"\path[W] (0,0) -- (5,0) -- (5,10);",
        r"\path[O] (0,0) -- (5,0) -- (5,10);",
        r"\end{scope}",
        r"\node[T] at (0,4.5) {\f{A_} <};",
    ]


def test_colours_come_plain_and_as_variables() -> None:
    assert coloured(".a{fill:@ink;x:1}\n.b{x:2}") == ".a{fill:#1a1d21;fill:var(--ink);x:1}\n.b{x:2}"


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
