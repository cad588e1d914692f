"""A graph of a stage (`robustness.stages.Graph`) as SVG, drawn without Graphviz: `graphs.layout` says where.

Control states are circles, final ones with a second line, an arrow leads to the first. Colours are CSS classes with
variables (`--pg-ink`, `--pg-faint`, `--pg-accent`, `--pg-paper`), so that a page around it can set them.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from math import inf

from pgasrob.render.graphs.layout import LINE, Item, Layout, Loop, Route, layout
from pgasrob.render.pens.svg import SvgPen, coloured, document, variables
from pgasrob.robustness.stages import Graph

MARGIN = 8.0
START = 20.0
"""Room for the arrow to the first node."""
RULES = """
.pg-graph text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre;fill:@ink}
.pg-graph .node text{text-anchor:middle}
.pg-graph .label text{fill:@faint}
.pg-graph .state{fill:@paper;stroke:@ink;stroke-width:1.3}
.pg-graph .way{fill:none;stroke:@faint;stroke-width:1.2}
.pg-graph .tip{fill:@faint}
.pg-graph .taken .way{stroke:@accent;stroke-width:2.4}
.pg-graph .taken .tip{fill:@accent}
.pg-graph .taken .label text{fill:@accent;font-weight:bold}
.pg-graph .taken .state{stroke:@accent;stroke-width:2.2}
"""
STYLE = f"{variables('pg-graph', ('ink', 'faint', 'accent', 'paper'))}{coloured(RULES)}\n"


def to_svg(graph: Graph, *, taken: Collection[tuple[int, int]] = (), embedded: bool = False) -> str:
    """``graph`` as one SVG element. Edges in ``taken``, pairs of nodes, are drawn heavy: a run of the automaton.

    ``embedded``: as part of a page, without the XML prolog.
    """
    placed = layout(graph)
    ways = set(taken)
    met = {node for pair in ways for node in pair}
    pen = SvgPen({"state": inf})  # as round as it can be
    if placed.nodes:
        _start(pen, placed.nodes[0])
    for route in placed.routes:
        _route(pen, placed, route, ways)
    for loop in placed.loops:
        _loop(pen, loop, ways)
    for item in placed.nodes:
        _node(pen, item, graph, met)
    return document(
        "pg-graph",
        graph.title,
        pen.drawn,
        STYLE,
        width=round(placed.width + 2 * MARGIN),
        height=round(placed.height + START + 2 * MARGIN),
        corner=(-MARGIN, -MARGIN - START),
        embedded=embedded,
    )


def _start(pen: SvgPen, item: Item) -> None:
    top = item.y - _half_height(item)
    with pen.group("start"):
        pen.line(((item.x, top - START), (item.x, top - 6)), "way")
        _tip(pen, item.x, top, True)


def _half_height(item: Item) -> float:
    return max(15.0, (len(item.lines) * LINE + 10) / 2)


def _node(pen: SvgPen, item: Item, graph: Graph, met: set[int]) -> None:
    number = item.node or 0
    half, tall = item.left, _half_height(item)
    with pen.group(f"node{' taken' * (number in met)}"):
        for inset in (0, 3.2)[: 1 + (number in graph.finals)]:
            left, top = half - inset, tall - inset
            pen.box(item.x - left, item.y - top, 2 * left, 2 * top, "state")
        _text(pen, item.lines, item.x, item.y)


def _text(pen: SvgPen, lines: list[str], x: float, y: float) -> None:
    top = y - (len(lines) - 1) * LINE / 2 + 4
    for index, line in enumerate(lines):
        pen.text(x, top + index * LINE, line)


def _port(node: Item, others: list[Item], other: Item) -> float:
    """Where the edge to ``other`` leaves ``node``: in the order of what it leads to, not all at one point."""
    order = sorted(range(len(others)), key=lambda index: others[index].x)
    rank = next(place for place, index in enumerate(order) if others[index] is other)
    reach = min(node.left * 0.55, 6.0 * (len(others) - 1))
    return node.x if len(others) == 1 else node.x - reach + 2 * reach * rank / (len(others) - 1)


def _edge_of(node: Item, x: float) -> float:
    """How far above or below its middle the outline of ``node`` is at ``x``."""
    tall = _half_height(node)
    beyond = max(0.0, abs(x - node.x) - (node.left - tall))
    return float((max(tall * tall - beyond * beyond, 1.0)) ** 0.5)


def _route(pen: SvgPen, placed: Layout, route: Route, ways: set[tuple[int, int]]) -> None:
    first, *passing, last = route.items
    start = _port(first, first.below, route.items[1])
    end = _port(last, last.above, route.items[-2])
    begin_y = first.y + _edge_of(first, start)
    end_y = last.y - _edge_of(last, end)
    points = [(start, begin_y + (6 if route.upwards else 0))]
    for item in passing:
        upper, lower = placed.bands[item.layer]
        points += [(item.x, upper), (item.x, lower)]
    points.append((end, end_y - (0 if route.upwards else 6)))
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) / 2
        straight = abs(x - to_x) < 0.05
        path += f"V{to_y:.1f}" if straight else f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    ends = (first.node or 0, last.node or 0)
    with pen.group(f"edge{' taken' * ((ends[::-1] if route.upwards else ends) in ways)}"):
        pen.path(path, "way")
        _tip(pen, *((start, begin_y, False) if route.upwards else (end, end_y, True)))
        for item in passing:
            if item.lines:
                with pen.group("label"):
                    _text(pen, item.lines, item.x + 6, item.y)


def _loop(pen: SvgPen, loop: Loop, ways: set[tuple[int, int]]) -> None:
    item = loop.item
    x, y = item.x + item.left, item.y
    with pen.group(f"edge loop{' taken' * ((item.node, item.node) in ways)}"):
        pen.path(
            f"M{x - 1.5:.1f} {y - 6:.1f}C{x + 22:.1f} {y - 16:.1f} {x + 22:.1f} {y + 16:.1f} {x + 4:.1f} {y + 7.5:.1f}",
            "way",
        )
        pen.path(f"M{x - 2:.1f} {y + 6:.1f}L{x + 7:.1f} {y + 4.5:.1f}L{x + 4:.1f} {y + 12:.1f}Z", "tip")
        with pen.group("label"):
            _text(pen, loop.lines, x + 22, y)


def _tip(pen: SvgPen, x: float, y: float, down: bool) -> None:
    back = -8 if down else 8
    pen.path(f"M{x:.1f} {y:.1f}L{x - 4:.1f} {y + back:.1f}L{x + 4:.1f} {y + back:.1f}Z", "tip")
