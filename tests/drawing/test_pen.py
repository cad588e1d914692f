"""Pens: a drawing says the same to each of them, and the sheets of a format say how that looks."""

from __future__ import annotations

from xml.etree import ElementTree

from pgasrob.drawing.pen import Pen, Sheet
from pgasrob.drawing.svg_pen import Frame, Stroke, SvgPen, document
from pgasrob.drawing.tikz_pen import Letters, TikzPen


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
    assert document("k", "<", "", "", Frame(1, 2), embedded=True).startswith("<svg ")


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
