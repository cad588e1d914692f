"""The chapters of an explanation for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.render.explanation.blocks import (
    MOST_ROWS,
    Block,
    Drawing,
    Points,
    Remark,
    Rows,
    ShownRun,
    Text,
    Word,
    witness_of,
)
from pgasrob.render.explanation.chapters import Chapter
from pgasrob.render.lines import UNICODE, Glyphs, Line, paragraph, together, wrap
from pgasrob.render.run_table import table
from pgasrob.render.verdict_text import PAIRS

INDENT = "  "
GAP = "  "
LEAST = 9
"""Characters below which no column is made narrower."""


def explanation_lines(title: str, chapters: Sequence[Chapter], width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """``chapters`` under ``title`` in lines of at most ``width`` characters, as far as their words allow."""
    lines: list[Line] = paragraph(title, width, "heading")
    for chapter in chapters:
        rule = glyphs.horizontal * 2
        heading = f"{rule} {chapter.number}. {chapter.title} "
        lines += [[], [(heading + glyphs.horizontal * max(width - len(heading), 0), "heading")]]
        for block in chapter.blocks:
            shown = _block(block, width, glyphs)
            lines += [[], *shown] if shown else []
    if glyphs.digits:
        return lines
    return [[(_plain(text), style) for text, style in line] for line in lines]


def _plain(text: str) -> str:
    return text.replace("τ", "tau").replace("∅", "{}")


def _block(block: Block, width: int, glyphs: Glyphs) -> list[Line]:
    match block:
        case Text(text):
            return paragraph(_kept(text), width)
        case Remark(text):
            return paragraph(text, width, "faint", INDENT)
        case Points(points):
            return _points(points, width)
        case Rows(header, rows):
            return rows_lines(header, rows, width)
        case Word(letters):
            return paragraph(" ".join(map(together, letters)), width, "", INDENT)
        case ShownRun(result, form):
            return [] if form == "graph" else table(witness_of(result), width, glyphs)
        case Drawing(graph, caption, _, in_text):
            rows = [
                (str(graph.nodes[source]), label, str(graph.nodes[target])) for source, target, label in graph.edges
            ]
            rest = len(rows) - MOST_ROWS
            more = [[(f"{INDENT}and {rest} more", "faint")]] if rest > 0 else []
            table_ = rows_lines(("from", "command", "to"), rows[:MOST_ROWS], width) if rows else []
            return [*paragraph(f"{caption}.", width), *([[]] if rows else []), *table_, *more] if in_text else []


def _kept(text: str) -> str:
    """``text`` with no-break spaces inside pairs such as `step 7`."""
    return PAIRS.sub("\u00a0", text)


def _points(points: Sequence[tuple[str, str]], width: int) -> list[Line]:
    margin = max(len(label) for label, _ in points) + 2
    lines: list[Line] = []
    for label, text in points:
        first, *rest = wrap(_kept(text), width - len(INDENT) - margin)
        lines.append([(f"{INDENT}{label:<{margin}}", "heading"), (first, "")])
        lines += [[(" " * (len(INDENT) + margin) + line, "")] for line in rest]
    return lines


def rows_lines(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """A table; its widest columns are wrapped to fit into ``width``."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    # Words are broken only where there is no other way.
    words = [max(len(word) for cell in column for word in cell.split() or [""]) for column in columns]
    room = width - len(INDENT) - len(GAP) * (len(columns) - 1)
    for least in (words, [LEAST] * len(columns)):
        while sum(widths) > room and any(wide > bound for wide, bound in zip(widths, least, strict=True)):
            widest = max(range(len(widths)), key=lambda index: (widths[index] > least[index], widths[index]))
            widths[widest] -= 1
    lines = _row(header, widths, "faint")
    for row in rows:
        lines += _row(row, widths, "")
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], style: str) -> list[Line]:
    wrapped = [wrap(cell, width, "", "  ") for cell, width in zip(cells, widths, strict=True)]
    height = max(map(len, wrapped))
    lines: list[Line] = []
    for index in range(height):
        texts = [
            f"{lines_[index] if index < len(lines_) else '':<{width}}"
            for lines_, width in zip(wrapped, widths, strict=True)
        ]
        lines.append([(INDENT + GAP.join(texts), style)])
    return lines
