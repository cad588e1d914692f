"""The graphs of a stage as one SVG: drawn by `render.graph_svg`, titles above them, side by side while they fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from pgasrob.render.graphs.svg import to_svg
from pgasrob.robustness.stages import Graph

WIDEST = 1100
"""Width of a row, unless one graph alone is wider."""
GAP = 28
TITLE = 26
LETTER = 7.8
"""Room for a letter of a title."""
SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
# The colours of `graph_svg`; each stands there twice, for programs that do not know variables.
STYLE = """
.pg-stage .paper{fill:#ffffff;fill:var(--pg-paper,#ffffff)}
.pg-stage .title{font:bold 13px system-ui,"DejaVu Sans","Liberation Sans",sans-serif;fill:#1a1d21;
fill:var(--pg-ink,#1a1d21)}
@media (prefers-color-scheme:dark){.pg-stage .paper{fill:var(--pg-paper,#14171a)}
.pg-stage .title{fill:var(--pg-ink,#e6e8eb)}}
"""


def stage_svg(title: str, graphs: Sequence[Graph], *, embedded: bool = False) -> str:
    """``graphs`` as one SVG element with ``title``; ``embedded``: as part of a page, without the XML prolog."""
    body: list[str] = []
    x = y = GAP
    row = width = 0
    for graph in graphs:
        drawing = to_svg(graph, embedded=True)
        size = SIZE.search(drawing)
        across, down = (int(size[1]), int(size[2])) if size else (0, 0)
        room = max(across, round(LETTER * len(graph.title)))
        if x > GAP and x + room + GAP > WIDEST:
            x, y, row = GAP, y + row + GAP, 0
        body.append(f'<text class="title" x="{x}" y="{y + 13}">{escape(graph.title)}</text>')
        body.append(drawing.replace("<svg ", f'<svg x="{x}" y="{y + TITLE}" ', 1).rstrip())
        x += room + GAP
        row, width = max(row, TITLE + down), max(width, x)
    height = y + row + GAP
    prolog = "" if embedded else '<?xml version="1.0" encoding="UTF-8"?>\n'
    return (
        f'{prolog}<svg xmlns="http://www.w3.org/2000/svg" class="pg-stage" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n' + "\n".join(body) + "\n</svg>\n"
    )
