"""Graphs in the layered layout as SVG, drawn without Graphviz.

Nodes are as round as they can be unless their look says "room"; a "final" one has a second line, and what is "taken" is
drawn heavy. Colours are CSS variables that a page around the picture can set (`drawing.palette`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import inf

from pgasrob.drawing.graph_to_draw import Graph
from pgasrob.drawing.layered import LINE, Item, Layout, Loop, Route, layout
from pgasrob.drawing.palette import coloured, variables
from pgasrob.drawing.svg_pen import PAPER, Frame, SvgPen, document

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

WIDEST = 1100
"""Width of a row of graphs, unless one graph alone is wider."""
GAP = 28
TITLE = 26
LETTER = 7.8
"""Room for a letter of a title."""
SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
TITLE_RULES = """
.pg-stage .paper{fill:@paper}
.pg-stage .title{font:bold 13px system-ui,"DejaVu Sans","Liberation Sans",sans-serif;fill:@ink}
"""
TITLE_STYLE = f"{variables('pg-stage', ('paper', 'ink'))}{coloured(TITLE_RULES)}\n"


def graphs_svg(title: str, graphs: Sequence[Graph], *, embedded: bool = False) -> str:
    """``graphs`` as one SVG element, their titles above them, side by side while they fit.

    ``embedded``: as part of a page, without the XML prolog.
    """
    titles, drawings = SvgPen(), list[str]()
    x = y = GAP
    row = width = 0
    for graph in graphs:
        drawing = graph_svg(graph, embedded=True)
        size = SIZE.search(drawing)
        across, down = (int(size[1]), int(size[2])) if size else (0, 0)
        room = max(across, round(LETTER * len(graph.title)))
        if x > GAP and x + room + GAP > WIDEST:
            x, y, row = GAP, y + row + GAP, 0
        titles.text(x, y + 13, graph.title, "title")
        drawings.append(drawing.replace("<svg ", f'<svg x="{x}" y="{y + TITLE}" ', 1))
        x += room + GAP
        row, width = max(row, TITLE + down), max(width, x)
    body = PAPER + titles.drawn + "".join(drawings)
    return document("pg-stage", title, body, TITLE_STYLE, Frame(width, y + row + GAP), embedded=embedded)


def graph_svg(graph: Graph, *, embedded: bool = False) -> str:
    """``graph`` as one SVG element. ``embedded``: as part of a page, without the XML prolog."""
    placed = layout(graph)
    pen = SvgPen({"state": inf, "room state": 5.0})
    for item in placed.nodes:
        if item.node and item.node.name == graph.start:
            _start(pen, item)
    for route in placed.routes:
        _route(pen, placed, route)
    for loop in placed.loops:
        _loop(pen, loop)
    for item in placed.nodes:
        _node(pen, item)
    width, height = round(placed.width + 2 * MARGIN), round(placed.height + START + 2 * MARGIN)
    frame = Frame(width, height, (-MARGIN, -MARGIN - START))
    return document("pg-graph", graph.title, pen.drawn, STYLE, frame, embedded=embedded)


def _start(pen: SvgPen, item: Item) -> None:
    top = item.y - _half_height(item)
    with pen.group("start"):
        pen.line(((item.x, top - START), (item.x, top - 6)), "way")
        _tip(pen, item.x, top, True)


def _half_height(item: Item) -> float:
    return max(15.0, (len(item.lines) * LINE + 10) / 2)


def _node(pen: SvgPen, item: Item) -> None:
    looks = item.node.look.split() if item.node else []
    half, tall = item.left, _half_height(item)
    with pen.group(" ".join(["node", *(look for look in looks if look != "final")])):
        for inset in (0, 3.2)[: 1 + ("final" in looks)]:
            left, top = half - inset, tall - inset
            pen.box(item.x - left, item.y - top, 2 * left, 2 * top, "state")
        _text(pen, item.lines, item.x, item.y)


def _text(pen: SvgPen, lines: list[str], x: float, y: float) -> None:
    top = y - (len(lines) - 1) * LINE / 2 + 4
    for index, line in enumerate(lines):
        pen.text(x, top + index * LINE, line)


def _port(node: Item, others: list[Item], other: Item) -> float:
    """Where the edge to ``other`` leaves ``node``: edges leave in the order of what they lead to, at points apart."""
    order = sorted(range(len(others)), key=lambda index: others[index].x)
    rank = next(place for place, index in enumerate(order) if others[index] is other)
    reach = min(node.left * 0.55, 6.0 * (len(others) - 1))
    return node.x if len(others) == 1 else node.x - reach + 2 * reach * rank / (len(others) - 1)


def _edge_of(node: Item, x: float) -> float:
    """How far above or below its middle the outline of ``node`` is at ``x``."""
    tall = _half_height(node)
    beyond = max(0.0, abs(x - node.x) - (node.left - tall))
    return float((max(tall * tall - beyond * beyond, 1.0)) ** 0.5)


def _route(pen: SvgPen, placed: Layout, route: Route) -> None:
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
    with pen.group(f"edge {route.edge.look}".strip()):
        pen.path(path, "way")
        _tip(pen, *((start, begin_y, False) if route.upwards else (end, end_y, True)))
        for item in passing:
            if item.lines:
                with pen.group("label"):
                    _text(pen, item.lines, item.x + 6, item.y)


def _loop(pen: SvgPen, loop: Loop) -> None:
    item = loop.item
    x, y = item.x + item.left, item.y
    with pen.group(f"edge loop {loop.edge.look}".strip()):
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
