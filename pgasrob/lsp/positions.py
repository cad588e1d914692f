"""Converts places in a text between editors, which count lines and UTF-16 code units from 0, and reports, which count
lines and characters from 1."""

from __future__ import annotations

import re

from lsprotocol.types import Position, Range

NOWHERE = Range(Position(0, 0), Position(0, 0))
WORD = re.compile(r"\w+|\S")
UNIT = "utf-16-le"


class Places:
    """The places of a ``text``, in which lines end with a newline."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def position(self, line: int, column: int) -> Position:
        """The editor's position of ``column`` of ``line``, as reports count."""
        before = self._line(line - 1)[: column - 1]
        return Position(line - 1, _units(before) + max(0, column - 1 - len(before)))

    def column(self, position: Position) -> tuple[int, int]:
        """The line and column of the editor's ``position``, as reports count."""
        before = self._line(position.line).encode(UNIT)[: 2 * position.character]
        return position.line + 1, len(before.decode(UNIT, errors="ignore")) + 1

    def word(self, start: Position) -> Range:
        """The range of the word that begins at ``start``."""
        rest = self._line(start.line).encode(UNIT)[2 * start.character :].decode(UNIT, errors="ignore")
        word = WORD.match(rest)
        return Range(start, Position(start.line, start.character + (_units(word[0]) if word else 0)))

    def _line(self, number: int) -> str:
        return self._lines[number] if 0 <= number < len(self._lines) else ""


def _units(text: str) -> int:
    return len(text.encode(UNIT)) // 2
