"""Graphs drawn without Graphviz: nothing lies on anything else, everything is there, a run is drawn heavy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgasrob.drawing import layered
from pgasrob.drawing.layered import OPENS, Item, Layout
from pgasrob.program.instance import Instance
from pgasrob.render.stage_pictures import automaton, automaton_svg
from pgasrob.robustness.load import load
from pgasrob.robustness.stages import Graph, Stage, control, cycle_type_automata, normal_form, state_space

PROGRAMS = Path(__file__).parents[2] / "programs"
SVG = "{http://www.w3.org/2000/svg}"
TINY = 0.01

Box = tuple[float, float, float, float]


def layout(graph: Graph) -> Layout:
    return layered.layout(automaton(graph))


def corpus() -> Iterator[Graph]:
    for path in sorted(PROGRAMS.glob("*/*.pgas"))[::5]:
        instance = load(path).instantiate(None)
        yield from control(instance).graphs
        yield from cycle_type_automata(instance).graphs[:2]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 9))
    numbers = st.integers(0, size - 1)
    labels = st.sampled_from(["a", "write(x, 1, y, q)", "assume(!(n != 0 && (n < m || n == m && me <= 0)))"])
    edges = draw(st.lists(st.tuples(numbers, numbers, labels), max_size=16))
    return Graph("drawn", [str(number) for number in range(size)], frozenset(draw(st.sets(numbers))), edges)


def number(item: Item) -> int:
    assert item.node is not None
    return int(item.node.name)


def boxes(placed: Layout) -> list[Box]:
    """The rooms of all nodes, with their loops, and of all places where an edge passes a layer, with their labels."""
    items: dict[int, Item] = {id(item): item for route in placed.routes for item in route.items}
    items |= {id(item): item for item in placed.nodes}
    return [
        (item.x - item.left, item.y - item.height / 2, item.x + item.right, item.y + item.height / 2)
        for item in items.values()
    ]


def assert_nothing_overlaps(placed: Layout) -> None:
    for one, other in combinations(boxes(placed), 2):
        apart = (
            one[2] <= other[0] + TINY
            or other[2] <= one[0] + TINY
            or one[3] <= other[1] + TINY
            or other[3] <= one[1] + TINY
        )
        assert apart, (one, other)
    for left, top, right, bottom in boxes(placed):
        assert left >= -TINY and top >= -TINY and right <= placed.width + TINY and bottom <= placed.height + TINY


def test_nothing_overlaps_on_the_corpus() -> None:
    for graph in corpus():
        assert_nothing_overlaps(layout(graph))


@given(graphs())
def test_nothing_overlaps(graph: Graph) -> None:
    assert_nothing_overlaps(layout(graph))


@given(graphs())
def test_everything_is_drawn(graph: Graph) -> None:
    root = ElementTree.fromstring(automaton_svg(graph))
    kinds = [element.get("class", "").split() for element in root.iter(f"{SVG}g")]
    assert sum("node" in names for names in kinds) == len(graph.nodes)
    assert sum("edge" in names for names in kinds) == len({edge[:2] for edge in graph.edges})
    doubled = sum(len(element.findall(f"{SVG}rect")) == 2 for element in root.iter(f"{SVG}g"))
    assert doubled == len(graph.finals)


@given(graphs())
def test_edges_lead_downwards_but_for_cycles(graph: Graph) -> None:
    placed = layout(graph)
    assert all(route.items[0].y < route.items[-1].y for route in placed.routes)
    ways = {(number(route.items[0]), number(route.items[-1]), route.upwards) for route in placed.routes}
    drawn = {(lower, upper) if up else (upper, lower) for upper, lower, up in ways}
    assert drawn == {edge[:2] for edge in graph.edges if edge[0] != edge[1]}
    acyclic = Graph("", graph.nodes, frozenset(), [edge for edge in graph.edges if edge[0] < edge[1]])
    assert not any(route.upwards for route in layout(acyclic).routes)


def test_labels_of_edges_with_the_same_ends_stand_together() -> None:
    graph = Graph("", ["0", "1"], frozenset(), [(0, 1, "a"), (0, 1, "b"), (1, 0, "c"), (1, 1, "d")])
    texts = [element.text for element in ElementTree.fromstring(automaton_svg(graph)).iter(f"{SVG}text")]
    assert sorted(filter(None, texts)) == ["0", "1", "a", "b", "c", "d"]


def test_a_run_is_drawn_heavy() -> None:
    graph = Graph("", ["0", "1", "2"], frozenset([2]), [(0, 1, "a"), (1, 2, "b"), (2, 0, "c")])
    root = ElementTree.fromstring(automaton_svg(graph, {(2, 0)}))
    heavy = [element for element in root.iter(f"{SVG}g") if "taken" in element.get("class", "").split()]
    assert [element.get("class") for element in heavy] == ["edge taken", "node taken", "node taken"]
    assert "c" in "".join(heavy[0].itertext())


def test_texts_are_escaped_and_long_ones_cut() -> None:
    graph = Graph("<a & b>", ["<0>"], frozenset(), [(0, 0, f"x < {number} && " * 9) for number in range(9)])
    root = ElementTree.fromstring(automaton_svg(graph))
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert "<0>" in texts and any("9 in all" in text for text in texts)
    assert max(map(len, texts)) <= 40


@pytest.mark.parametrize("stage", [state_space, normal_form])
def test_a_wide_drawing_opens_on_its_start(stage: Callable[[Instance], Stage]) -> None:
    """What shows it begins at the left, where nothing was to be seen of a start in the middle."""
    (graph,) = stage(load(PROGRAMS / "one_to_one" / "one_to_one.pgas").instantiate(None)).graphs
    placed = layout(graph)
    assert placed.width > 3 * OPENS
    assert placed.nodes[0].x <= OPENS + TINY and placed.nodes[0].y < 50
    items = {id(item): item for route in placed.routes for item in route.items} | {id(n): n for n in placed.nodes}
    by_layer: dict[int, list[Item]] = {}
    for item in items.values():
        by_layer.setdefault(item.layer, []).append(item)
    for layer in by_layer.values():
        layer.sort(key=lambda item: item.x)
        assert all(one.x + one.right <= other.x - other.left + TINY for one, other in pairwise(layer))
        assert layer[0].x - layer[0].left >= -TINY


def test_a_narrow_drawing_has_its_start_in_the_middle() -> None:
    placed = layout(Graph("", ["0", "1", "2"], frozenset(), [(0, 1, "a"), (0, 2, "b")]))
    first, left, right = (item.x for item in placed.nodes)
    assert left < first < right and first == pytest.approx((left + right) / 2, abs=12)


@pytest.mark.parametrize("size", [1, 40, 150])
def test_a_long_chain_is_straight(size: int) -> None:
    graph = Graph("", [str(n) for n in range(size)], frozenset(), [(n, n + 1, "skip") for n in range(size - 1)])
    assert len({round(item.x, 3) for item in layout(graph).nodes}) == 1


def test_a_graph_without_nodes_is_drawn_too() -> None:
    ElementTree.fromstring(automaton_svg(Graph("", [], frozenset(), [])))


def test_the_indent_of_a_continued_label_is_kept() -> None:
    """Browsers drop blanks unless the style sheet says otherwise, other programs unless the element does."""
    text = automaton_svg(
        Graph("", ["0", "1"], frozenset(), [(0, 1, "assume(!(n != 0 && (n < m || n == m && me <= 0)))")])
    )
    labels = [element.text or "" for element in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert any(label.startswith("  ") for label in labels)
    assert ".pg-graph text{" in text and "white-space:pre" in text and 'xml:space="preserve"' in text
