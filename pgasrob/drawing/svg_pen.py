"""A pen for SVG. Styles become classes of a style sheet; `Sheet`s have corners and arrow heads, which CSS cannot
set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape

from pgasrob.diagnostics import visible
from pgasrob.drawing.pen import NO_DATA, Data, Point, Sheet

PAPER = '<rect class="paper" width="100%" height="100%"/>\n'


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line with round corners, and its head: how long that is (0: none), and whether it is filled."""

    corner: float
    head: float = 0.0
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a picture, and the coordinates of its upper left corner."""

    width: float
    height: float
    corner: Point = (0, 0)


class SvgPen:
    """A `Pen`. ``radii`` are those of the corners of boxes; lines that ``strokes`` does not know are plain.

    ``prefix`` comes before names, which must be unique on a page.
    """

    def __init__(
        self, radii: Mapping[str, float] | None = None, strokes: Mapping[str, Stroke] | None = None, prefix: str = "pg"
    ) -> None:
        self._radii, self._strokes, self._prefix = Sheet(radii or {}), Sheet(strokes or {}), prefix
        self._words: list[str] = []
        self._inside = 0
        """How many of the open groups are written on one line of the file."""
        self._pieces: list[str] = []

    @property
    def drawn(self) -> str:
        """All that was drawn."""
        return "".join(self._pieces)

    @contextmanager
    def group(
        self, style: str = "", *, at: Point | None = None, name: str = "", title: str = "", data: Data = NO_DATA
    ) -> Iterator[None]:
        attributes = _class(style)
        if at is not None:
            attributes += f' transform="translate({_n(at[0])} {_n(at[1])})"'
        for key, value in data.items():
            attributes += f' data-{key}="{_n(value) if isinstance(value, float) else escape(str(value))}"'
        if name:
            attributes += f' id="{self._prefix}-{name}"'
        words = style.split()
        self._words += words
        inline = at is None
        self._put(f"<g{attributes}>" + (f"<title>{escaped(title)}</title>" if title else ""), inline)
        self._inside += inline
        yield
        self._inside -= inline
        self._put("</g>")
        del self._words[len(self._words) - len(words) :]

    def box(self, left: float, top: float, width: float, height: float, style: str = "") -> None:
        radius = self._radii.look(self._all(style))
        corners = f' rx="{_n(min(radius, height / 2))}"' if radius else ""
        size = f'width="{_n(width)}" height="{_n(height)}"'
        self._put(f'<rect{_class(style)} x="{_n(left)}" y="{_n(top)}" {size}{corners}/>')

    def line(self, points: Sequence[Point], style: str = "") -> None:
        stroke = self._strokes.look(self._all(style))
        self.path(_rounded(points, stroke.corner) if stroke else _straight(points), style)
        if stroke and stroke.head:
            self.path(_head(points[-2], points[-1], stroke.head) + "Z" * stroke.filled, "head")

    def path(self, path: str, style: str = "") -> None:
        """Any path, as SVG writes it."""
        self._put(f'<path{_class(style)} d="{path}"/>')

    def ring(self, x: float, y: float, radius: float, style: str = "") -> None:
        self._put(f'<circle{_class(style)} cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')

    def text(self, x: float, y: float, text: str | Sequence[tuple[str, str]], style: str = "") -> None:
        if not isinstance(text, str):
            inside = "".join(f"<tspan{_class(kind)}>{escaped(piece)}</tspan>" for piece, kind in text)
        else:
            inside = escaped(text)
        self._put(f'<text{_class(style)} x="{_n(x)}" y="{_n(y)}">{inside}</text>')

    def _all(self, style: str) -> frozenset[str]:
        return frozenset((*self._words, *style.split()))

    def _put(self, piece: str, inline: bool = False) -> None:
        self._pieces.append(piece if inline or self._inside else f"{piece}\n")


def document(
    kind: str, title: str, body: str, style: str, frame: Frame, *, description: str = "", embedded: bool = False
) -> str:
    """The SVG element of the class ``kind`` with ``body`` in it and ``style`` as its style sheet.

    ``embedded``: as part of a page, without the XML prolog.
    """
    prolog = "" if embedded else '<?xml version="1.0" encoding="UTF-8"?>\n'
    width, height, (left, top) = _n(frame.width), _n(frame.height), frame.corner
    heading = f"<title>{escaped(title)}</title>\n" + f"<desc>{escaped(description)}</desc>\n" * bool(description)
    return (
        f'{prolog}<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" width="{width}" '
        f'height="{height}" viewBox="{_n(left)} {_n(top)} {width} {height}" xml:space="preserve">\n'
        f"{heading}<style>{style}</style>\n{body}</svg>\n"
    )


def escaped(text: str) -> str:
    """``text`` escaped for XML, also the characters that XML forbids."""
    return escape(visible(text))


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


def _straight(points: Sequence[Point]) -> str:
    """A path through ``points``."""
    (x, y), *others = points
    path = f"M{_n(x)} {_n(y)}"
    for to_x, to_y in others:
        path += f"H{_n(to_x)}" if to_y == y else f"V{_n(to_y)}" if to_x == x else f"L{_n(to_x)} {_n(to_y)}"
        x, y = to_x, to_y
    return path


def _rounded(points: Sequence[Point], corner: float) -> str:
    """A path through ``points`` with round corners; its pieces are horizontal or vertical."""
    path = f"M{_n(points[0][0])} {_n(points[0][1])}"
    for before, (x, y), after in zip(points, points[1:], points[2:], strict=False):
        radius = min(corner, _length(before, (x, y)) / 2, _length((x, y), after) / 2)
        (bx, by), (ax, ay) = _towards((x, y), before, radius), _towards((x, y), after, radius)
        path += f"L{_n(bx)} {_n(by)}Q{_n(x)} {_n(y)} {_n(ax)} {_n(ay)}"
    return path + f"L{_n(points[-1][0])} {_n(points[-1][1])}"


def _head(before: Point, tip: Point, size: float) -> str:
    """The head of an arrow from ``before`` to ``tip``."""
    (x, y), (fx, fy) = tip, _towards(tip, before, 1)
    dx, dy = x - fx, y - fy  # of length 1
    left = f"{_n(x - size * dx - size * 0.55 * dy)} {_n(y - size * dy + size * 0.55 * dx)}"
    right = f"{_n(x - size * dx + size * 0.55 * dy)} {_n(y - size * dy - size * 0.55 * dx)}"
    return f"M{left}L{_n(x)} {_n(y)}L{right}"


def _length(start: Point, end: Point) -> float:
    return abs(start[0] - end[0]) + abs(start[1] - end[1])  # lines are horizontal or vertical


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = _length(start, end) or 1
    share = distance / length
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _n(number: float) -> str:
    """A coordinate in as few characters as possible."""
    return f"{number:.1f}".removesuffix(".0")
