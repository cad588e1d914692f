"""A pen for TikZ. Its sheets map styles to TikZ styles; shapes whose style is in none are not drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pgasrob.drawing.pen import NO_DATA, Data, Point, Sheet


@dataclass(frozen=True, slots=True)
class Letters:
    """The TikZ style of a text, and the function that escapes it for LaTeX."""

    style: str
    latex: Callable[[str], str]


class TikzPen:
    """A `Pen`, a unit of which becomes ``unit`` points.

    TeX knows no number above 16383, so the file has the points and not the units. ``shapes`` and ``texts`` map styles
    to those of TikZ, ``pieces`` maps those of pieces of a text to commands.
    """

    def __init__(
        self, unit: float, shapes: Mapping[str, str], texts: Mapping[str, Letters], pieces: Mapping[str, str]
    ) -> None:
        self._unit, self._shapes, self._texts, self._pieces = unit, Sheet(shapes), Sheet(texts), pieces
        self._words: list[str] = []
        self.lines: list[str] = []

    @contextmanager
    def group(
        self, style: str = "", *, at: Point | None = None, name: str = "", title: str = "", data: Data = NO_DATA
    ) -> Iterator[None]:
        words = style.split()
        self._words += words
        if at is not None:
            self.lines.append(rf"\begin{{scope}}[shift={{{self.at(*at)}}}]" + f" % {style}" * bool(style))
        yield
        if at is not None:
            self.lines.append(r"\end{scope}")
        del self._words[len(self._words) - len(words) :]

    def box(self, left: float, top: float, width: float, height: float, style: str = "") -> None:
        self._path(f"{self.at(left, top)} rectangle {self.at(left + width, top + height)}", style)

    def line(self, points: Sequence[Point], style: str = "") -> None:
        self._path(" -- ".join(self.at(*point) for point in points), style)

    def ring(self, x: float, y: float, radius: float, style: str = "") -> None:
        self._path(f"{self.at(x, y)} circle[radius={number(radius * self._unit)}]", style)

    def text(self, x: float, y: float, text: str | Sequence[tuple[str, str]], style: str = "") -> None:
        look = self._texts.look(self._all(style))
        if look is None:
            return
        pieces = [(text, "")] if isinstance(text, str) else text
        written = "".join(self._piece(look.latex(piece), piece, kind) for piece, kind in pieces)
        self.lines.append(rf"\node[{look.style}] at {self.at(x, y)} {{{written}}};")

    def at(self, x: float, y: float) -> str:
        """A place in points."""
        return f"({number(x * self._unit)},{number(y * self._unit)})"

    def _piece(self, latex: str, text: str, kind: str) -> str:
        command = self._pieces.get(kind)
        return f"{command}{{{latex}}}" if command and text.strip() else latex

    def _path(self, path: str, style: str) -> None:
        look = self._shapes.look(self._all(style))
        if look is not None:
            self.lines.append(rf"\path[{look}] {path};")

    def _all(self, style: str) -> frozenset[str]:
        return frozenset((*self._words, *style.split()))


def number(value: float) -> str:
    """A number of points in as few characters as it takes."""
    return f"{value:.2f}".rstrip("0").removesuffix(".")
