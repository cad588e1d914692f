"""Places the labels of lines: on their line, off other labels, and off crossings where that is possible."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pgasrob.drawing.pen import Point

BADGE = 17.0
"""Height of a label."""
HEAD = 9.0
"""Length of the head of an arrow of the cycle."""


@dataclass(frozen=True, slots=True)
class Line:
    """An edge as a line through ``points``, each piece of which is horizontal or vertical.

    ``number`` is its place in a cycle, counted from 1, and ``badge`` is the middle of the place for its label.
    """

    source: int
    target: int
    relation: str
    points: tuple[Point, ...]
    number: int | None = None
    badge: Point | None = None


def label_width(label: str) -> float:
    """Width of the place for ``label``."""
    return 7.2 * len(label) + 9


def clear_place(lines: Sequence[float], left: float, right: float, width: float) -> float:
    """The middle of a place for a label from ``left`` to ``right``, where the ``lines`` across are farthest apart."""
    stops = [left, *(x for x in lines if left < x < right), right]
    before, after = max(pairwise(stops), key=lambda gap: gap[1] - gap[0])
    half = width / 2 + 3
    return min(max((before + after) / 2, left + half), right - half)


def numbered_lines(spots: Sequence[tuple[Line, Point, Point]], others: Sequence[Line], badge: float) -> list[Line]:
    """The lines of ``spots`` in the order of their numbers, each with a place for its label, ``badge`` wide, on the
    stretch that comes with it.

    ``others`` are the lines without a label.
    """
    crossing = [
        (line, min(start[0], end[0]), max(start[0], end[0]), start[1])
        for line in (*(line for line, _, _ in spots), *others)
        for start, end in pairwise(line.points)
        if start[1] == end[1]  # horizontal
    ]
    found: list[Line] = []
    for line, start, end in spots:
        taken = [other.badge for other in found if other.badge]
        low, high = start[0] - badge / 2, start[0] + badge / 2
        across = sorted(y for other, left, right, y in crossing if other is not line and left < high and right > low)
        found.append(replace(line, badge=_badge(start, end, taken, across, badge)))
    return sorted(found, key=lambda line: line.number or 0)


def _badge(start: Point, end: Point, others: Sequence[Point], across: Sequence[float], width: float) -> Point:
    """A place between ``start`` and ``end``, near the middle, off the other labels and off the lines ``across``, which
    are sorted."""
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    room = max(abs(end[1] - start[1]) / 2 - BADGE / 2, 0)
    moves = [sign * turn * 4.0 for turn in range(int(room / 4) + 1) for sign in (1, -1)]
    half = BADGE / 2 + 2

    def trouble(move: float) -> tuple[bool, bool, float]:
        met = any(abs(x - left) < width + 2 and abs(y + move - top) < BADGE + 5 for left, top in others)
        above, below = bisect_left(across, y + move - half), bisect_right(across, y + move + half)
        return met, start[0] == end[0] and above < below, abs(move)

    return x, y + min(moves[:200], key=trouble)
