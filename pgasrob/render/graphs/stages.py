"""The graphs of a stage as one SVG: drawn by `graphs.svg`, titles above them, side by side while they fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pgasrob.render.graphs.svg import to_svg
from pgasrob.render.pens.svg import PAPER, SvgPen, coloured, document, variables
from pgasrob.robustness.stages import Graph

WIDEST = 1100
"""Width of a row, unless one graph alone is wider."""
GAP = 28
TITLE = 26
LETTER = 7.8
"""Room for a letter of a title."""
SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
RULES = """
.pg-stage .paper{fill:@paper}
.pg-stage .title{font:bold 13px system-ui,"DejaVu Sans","Liberation Sans",sans-serif;fill:@ink}
"""
STYLE = f"{variables('pg-stage', ('paper', 'ink'))}{coloured(RULES)}\n"


def stage_svg(title: str, graphs: Sequence[Graph], *, embedded: bool = False) -> str:
    """``graphs`` as one SVG element with ``title``; ``embedded``: as part of a page, without the XML prolog."""
    titles, drawings = SvgPen(), list[str]()
    x = y = GAP
    row = width = 0
    for graph in graphs:
        drawing = to_svg(graph, embedded=True)
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
    return document("pg-stage", title, body, STYLE, width=width, height=y + row + GAP, embedded=embedded)
