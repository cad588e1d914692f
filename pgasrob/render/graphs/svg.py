"""A graph of a stage (`robustness.stages.Graph`) as SVG, drawn without Graphviz: `render.graph_layout` says where.

Control states are circles, final ones with a second line, an arrow leads to the first. Colours are CSS classes with
variables (`--pg-ink`, `--pg-faint`, `--pg-accent`, `--pg-paper`), so that a page around it can set them.
"""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from itertools import pairwise

from pgasrob.render.graphs.layout import LINE, Item, Layout, Loop, Route, layout
from pgasrob.robustness.stages import Graph

MARGIN = 8.0
START = 20.0
"""Room for the arrow to the first node."""
# Every colour stands there twice, for programs that do not know variables.
STYLE = """
.pg-graph{--ink:var(--pg-ink,#1a1d21);--faint:var(--pg-faint,#5b6470);--accent:var(--pg-accent,#b3261e);
--paper:var(--pg-paper,#ffffff)}
@media (prefers-color-scheme:dark){.pg-graph{--ink:var(--pg-ink,#e6e8eb);--faint:var(--pg-faint,#9aa4b0);
--accent:var(--pg-accent,#ff8a80);--paper:var(--pg-paper,#14171a)}}
.pg-graph text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#1a1d21;fill:var(--ink)}
.pg-graph .label text{fill:#5b6470;fill:var(--faint)}
.pg-graph .state{fill:#ffffff;fill:var(--paper);stroke:#1a1d21;stroke:var(--ink);stroke-width:1.3}
.pg-graph .way{fill:none;stroke:#5b6470;stroke:var(--faint);stroke-width:1.2}
.pg-graph .tip{fill:#5b6470;fill:var(--faint)}
.pg-graph .taken .way{stroke:#b3261e;stroke:var(--accent);stroke-width:2.4}
.pg-graph .taken .tip{fill:#b3261e;fill:var(--accent)}
.pg-graph .taken .label text{fill:#b3261e;fill:var(--accent);font-weight:bold}
.pg-graph .taken .state{stroke:#b3261e;stroke:var(--accent);stroke-width:2.2}
"""


def to_svg(graph: Graph, *, taken: Collection[tuple[int, int]] = (), embedded: bool = False) -> str:
    """``graph`` as one SVG element. Edges in ``taken``, pairs of nodes, are drawn heavy: a run of the automaton.

    ``embedded``: as part of a page, without the XML prolog.
    """
    placed = layout(graph)
    width, height = placed.width + 2 * MARGIN, placed.height + START + 2 * MARGIN
    ways = set(taken)
    met = {node for pair in ways for node in pair}
    body = [_start(placed.nodes[0])] if placed.nodes else []
    body += [_route(placed, route, ways) for route in placed.routes]
    body += [_loop(loop, ways) for loop in placed.loops]
    body += [_node(item, graph, met) for item in placed.nodes]
    drawing = "\n".join(body)
    prolog = "" if embedded else '<?xml version="1.0" encoding="UTF-8"?>\n'
    return (
        f'{prolog}<svg xmlns="http://www.w3.org/2000/svg" class="pg-graph" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="{-MARGIN:g} {-MARGIN - START:g} {width:.0f} {height:.0f}">\n'
        f"<title>{escape(graph.title)}</title>\n<style>{STYLE}</style>\n{drawing}\n</svg>\n"
    )


def _start(item: Item) -> str:
    top = item.y - _half_height(item)
    x = item.x
    return f'<g class="start"><path class="way" d="M{x:.1f} {top - START:.1f}V{top - 6:.1f}"/>{_tip(x, top, True)}</g>'


def _half_height(item: Item) -> float:
    return max(15.0, (len(item.lines) * LINE + 10) / 2)


def _node(item: Item, graph: Graph, met: set[int]) -> str:
    number = item.node or 0
    half, tall = item.left, _half_height(item)

    def outline(inset: float) -> str:
        return (
            f'<rect class="state" x="{item.x - half + inset:.1f}" y="{item.y - tall + inset:.1f}" '
            f'width="{2 * (half - inset):.1f}" height="{2 * (tall - inset):.1f}" rx="{tall - inset:.1f}"/>'
        )

    shape = outline(0) + (outline(3.2) if number in graph.finals else "")
    taken = " taken" if number in met else ""
    return f'<g class="node{taken}">{shape}{_text(item.lines, item.x, item.y, "middle")}</g>'


def _text(lines: list[str], x: float, y: float, anchor: str = "start") -> str:
    top = y - (len(lines) - 1) * LINE / 2 + 4
    return "".join(
        f'<text x="{x:.1f}" y="{top + index * LINE:.1f}" text-anchor="{anchor}" xml:space="preserve">'
        f"{escape(line)}</text>"
        for index, line in enumerate(lines)
    )


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


def _route(placed: Layout, route: Route, ways: set[tuple[int, int]]) -> str:
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
    tip = _tip(start, begin_y, False) if route.upwards else _tip(end, end_y, True)
    labels = "".join(f'<g class="label">{_text(item.lines, item.x + 6, item.y)}</g>' for item in passing if item.lines)
    ends = (first.node or 0, last.node or 0)
    taken = " taken" if (ends[::-1] if route.upwards else ends) in ways else ""
    return f'<g class="edge{taken}"><path class="way" d="{path}"/>{tip}{labels}</g>'


def _loop(loop: Loop, ways: set[tuple[int, int]]) -> str:
    item = loop.item
    x, y = item.x + item.left, item.y
    path = f"M{x - 1.5:.1f} {y - 6:.1f}C{x + 22:.1f} {y - 16:.1f} {x + 22:.1f} {y + 16:.1f} {x + 4:.1f} {y + 7.5:.1f}"
    tip = f'<path class="tip" d="M{x - 2:.1f} {y + 6:.1f}L{x + 7:.1f} {y + 4.5:.1f}L{x + 4:.1f} {y + 12:.1f}Z"/>'
    taken = " taken" if (item.node, item.node) in ways else ""
    label = f'<g class="label">{_text(loop.lines, x + 22, y)}</g>'
    return f'<g class="edge loop{taken}"><path class="way" d="{path}"/>{tip}{label}</g>'


def _tip(x: float, y: float, down: bool) -> str:
    back = -8 if down else 8
    return f'<path class="tip" d="M{x:.1f} {y:.1f}L{x - 4:.1f} {y + back:.1f}L{x + 4:.1f} {y + back:.1f}Z"/>'
