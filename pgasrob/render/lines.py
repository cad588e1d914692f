"""Styled lines, which all reports consist of, and how they are printed with or without colour.

A line is a list of (text, style) pairs. Without colour the styles are dropped, so both outputs have the same text.
"""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import TextIO

from pgasrob.diagnostics import on_screen

Segment = tuple[str, str]
Line = list[Segment]

NARROWEST, WIDEST = 40, 200

# The names the renderers use for their styles, as rich writes them.
STYLES = {
    "": "",
    "robust": "bold green",
    "not robust": "bold red",
    "no race": "bold green",
    "race": "bold red",
    "unknown": "bold yellow",
    "error": "bold red",
    "good": "green",
    "bad": "red",
    "open": "yellow",
    "heading": "bold",
    "cycle": "bold red",
    "change": "cyan",
    "faint": "dim",
}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that a terminal without Unicode has to do without."""

    horizontal: str
    vertical: str
    cross: str
    tau: str
    empty: str
    ellipsis: str
    digits: str  # subscripts 0..9, or nothing for `_0`

    def subscript(self, number: int) -> str:
        """``number`` below the line; that of a thread as its name, whose point stays where it is."""
        below = {str(digit): glyph for digit, glyph in enumerate(self.digits)}
        return "".join(below.get(char, char) for char in str(number)) if below else f"_{number}"


UNICODE = Glyphs("─", "│", "┼", "τ", "∅", "…", "₀₁₂₃₄₅₆₇₈₉")
ASCII = Glyphs("-", "|", "+", "tau", "{}", "...", "")


def glyphs_for(stream: TextIO) -> Glyphs:
    """The glyphs that ``stream`` can write."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        "".join(astuple(UNICODE)).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def terminal_width() -> int:
    """Columns of the terminal, 80 without one; COLUMNS overrides both."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, NARROWEST), WIDEST)


def wants_colour(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal that shows colour and NO_COLOR is not set (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def plain(lines: Iterable[Line]) -> str:
    """``lines`` without styles; every line ends in a newline, none in blanks."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Print ``lines``, coloured where the stream shows colour; nothing in them moves the cursor."""
    lines = [[(on_screen(text), style) for text, style in _trimmed(line)] for line in lines]
    if wants_colour(stream):
        from rich.console import Console
        from rich.text import Text

        # The lines are laid out already: rich must neither wrap nor highlight.
        console = Console(file=stream, force_terminal=True, highlight=False, soft_wrap=True, emoji=False, markup=False)
        for line in lines:
            console.print(Text.assemble(*((text, STYLES[style]) for text, style in line)))
    else:
        stream.write(plain(lines))
    stream.flush()


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """``text`` in lines of at most ``width`` characters, ``first`` before the first one and ``rest`` before others.

    A no-break space keeps words together, as far as they have room on one line, and is printed as a space.
    """
    room = width - max(len(first), len(rest))
    text = " ".join(word if len(word) <= room else word.replace("\u00a0", " ") for word in text.split(" "))
    lines = textwrap.wrap(
        text, max(width, len(first) + 1, len(rest) + 1), initial_indent=first, subsequent_indent=rest,
        break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\u00a0", " ") for line in lines] or [first.rstrip()]


def paragraph(text: str, width: int, style: str = "", first: str = "", rest: str | None = None) -> list[Line]:
    """``text`` wrapped, as lines of one style; lines after the first begin with ``rest``, or with ``first``."""
    return [[(line, style)] for line in wrap(text, width, first, first if rest is None else rest)]


def paragraphs(sentences: Iterable[tuple[str, str]], width: int, first: str = "  ") -> list[Line]:
    """Each of ``sentences``, which come with their styles, as a :func:`paragraph`."""
    return [line for text, style in sentences for line in paragraph(text, width, style, first)]


def headline(file: str, rest: Line, width: int) -> list[Line]:
    """``file`` and the ``rest`` of a headline on one line; the rest below it, wrapped, where that is too long."""
    line: Line = [(file, "heading"), *rest]
    if sum(len(text) for text, _ in line) <= width:
        return [line]
    lines: list[Line] = [[(file.rstrip(), "heading")], [("  ", "")]]
    used = 2
    for text, style in rest:
        for word in re.findall(r"\s*\S+", text):
            if used > 2 and used + len(word) > width:
                lines.append([("  ", "")])
                used = 2
            word = word.lstrip() if used == 2 else word
            lines[-1].append((word, style))
            used += len(word)
    return lines


def together(text: str) -> str:
    """``text`` with no-break spaces, so that :func:`wrap` keeps it on one line."""
    return text.replace(" ", "\u00a0")


def shorten(path: str, width: int, glyphs: Glyphs) -> str:
    """``path`` in at most ``width`` characters: without its `.pgas` if need be, and without its middle."""
    if len(path) <= width:
        return path
    path = path.removesuffix(".pgas")
    if len(path) <= width:
        return path
    # More of its end, which tells programs of a folder apart.
    room = max(width - len(glyphs.ellipsis), 1)
    begin = room // 3
    return path[:begin] + glyphs.ellipsis + path[len(path) - (room - begin) :]


def _trimmed(line: Line) -> Line:
    """``line`` without blanks at its end."""
    line = list(line)
    while line and not line[-1][0].rstrip():
        line.pop()
    if line:
        line[-1] = (line[-1][0].rstrip(), line[-1][1])
    return line
