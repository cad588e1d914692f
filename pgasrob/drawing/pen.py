"""Pens, by which code draws in any format: boxes, lines, rings, texts and groups, each with a style.

Code that draws calls the methods of a `Pen` with places and with styles, each of one word or several. How a style looks
is in the `Sheet` of the format. So a pen does not depend on what it draws, and drawing code does not depend on formats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

Point = tuple[float, float]
Data = Mapping[str, object]
NO_DATA: Data = MappingProxyType({})
Look = TypeVar("Look")


class Pen(Protocol):
    """Draws one thing over another, x to the right, y downwards. The style of a group applies to all that is in it."""

    def group(
        self, style: str = "", *, at: Point | None = None, name: str = "", title: str = "", data: Data = NO_DATA
    ) -> AbstractContextManager[None]:
        """What is drawn inside belongs together; ``at`` is where its own coordinates begin.

        ``name``, ``title`` and ``data`` are for formats in which a reader or a script can ask for them.
        """

    def box(self, left: float, top: float, width: float, height: float, style: str = "") -> None:
        """A rectangle."""

    def line(self, points: Sequence[Point], style: str = "") -> None:
        """A line through ``points``: an arrow where its style has a head."""

    def ring(self, x: float, y: float, radius: float, style: str = "") -> None:
        """A circle around a point."""

    def text(self, x: float, y: float, text: str | Sequence[tuple[str, str]], style: str = "") -> None:
        """A line of text on the height ``y``: as it is, or in pieces with a style each."""


class Sheet(Generic[Look]):
    """Maps styles to looks: the last entry counts all words of which are in the style."""

    def __init__(self, looks: Mapping[str, Look]) -> None:
        self._looks = [(frozenset(words.split()), look) for words, look in looks.items()]
        self._found: dict[frozenset[str], Look | None] = {}

    def look(self, words: frozenset[str]) -> Look | None:
        """The look of a style with these ``words``; None where no entry fits."""
        if words not in self._found:
            self._found[words] = next((look for needed, look in reversed(self._looks) if needed <= words), None)
        return self._found[words]
