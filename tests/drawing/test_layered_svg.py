"""Several graphs in one SVG: all there, none on another, readable by an XML parser."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

from pgasrob.drawing.layered_svg import TITLE, WIDEST
from pgasrob.render.stage_pictures import stage_svg
from pgasrob.robustness import stages
from pgasrob.robustness.stages import Graph, Stage
from tests.support import one_to_one

SVG = "{http://www.w3.org/2000/svg}"


def drawn(graphs: list[Graph], title: str = "title") -> ElementTree.Element:
    return ElementTree.fromstring(stage_svg(Stage(title, [], graphs)).encode())


def boxes(picture: ElementTree.Element) -> list[tuple[int, int, int, int]]:
    """Left, top, right and bottom of every graph, its title included."""
    return [
        (x, y - TITLE, x + int(graph.attrib["width"]), y + int(graph.attrib["height"]))
        for graph in picture.findall(f"{SVG}svg")
        for x, y in [(int(graph.attrib["x"]), int(graph.attrib["y"]))]
    ]


def test_every_graph_has_its_place_and_its_title() -> None:
    graphs = stages.cycle_type_automata(one_to_one(nodes=3)).graphs
    picture = drawn(graphs)
    found = boxes(picture)
    assert len(found) == len(graphs) == 9
    assert [text.text for text in picture.findall(f"{SVG}text")] == [graph.title for graph in graphs]
    width, height = int(picture.attrib["width"]), int(picture.attrib["height"])
    assert width <= WIDEST < sum(right - left for left, _, right, _ in found)
    assert all(min(left, top) >= 0 and right <= width and bottom <= height for left, top, right, bottom in found)
    for one, other in combinations(found, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_a_graph_wider_than_a_row_has_a_row_of_its_own() -> None:
    wide = Graph("wide", ["0", *"12345678"], frozenset(), [(0, n, f"a label of some length {n}") for n in range(1, 9)])
    small = Graph("small", ["0"], frozenset([0]), [])
    first, second, third = boxes(drawn([small, wide, small]))
    assert second[2] - second[0] > WIDEST
    assert first[3] < second[1] and second[3] < third[1]


def test_text_is_escaped() -> None:
    graph = Graph("<a & b>", ["<script>", "&"], frozenset(), [(0, 1, "a < b && c > d")])
    picture = drawn([graph], 'a "title" & <more>')
    texts = {element.text for element in picture.iter(f"{SVG}text")} | {picture.findtext(f"{SVG}title")}
    assert texts == {"<a & b>", "<script>", "&", "a < b && c > d", 'a "title" & <more>'}


def test_a_part_of_a_page_has_no_prolog() -> None:
    stage = stages.control(one_to_one())
    prolog = '<?xml version="1.0" encoding="UTF-8"?>\n'
    assert stage_svg(stage) == prolog + stage_svg(stage, embedded=True)
