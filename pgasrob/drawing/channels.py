"""Channels, the room between lanes and beside the outer ones, and the tracks in which lines run down there."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import floor

PITCH = 9.0
"""Distance of neighbouring tracks of lines without labels."""
MOST_TRACKS = 12
"""How many lines without a label run side by side; more of them share the last track."""
CLEAR = 8.0
"""Least distance between two lines in one track."""
MARGIN = 14.0
"""Distance from a lane to the first track beside it."""


def snapped(coordinate: float) -> float:
    """``coordinate``, moved to the middle of its pixel, where a thin line is sharp."""
    return floor(coordinate) + 0.5


def apart(wanted: float, between: tuple[float, float], others: Sequence[float], distances: Iterable[float]) -> float:
    """The height nearest to ``wanted`` that lies ``between`` two heights and is apart from the ``others`` by the first
    of ``distances`` that is possible, so that the lines of two boxes beside one channel do not lie on each other."""
    low, high = between
    heights = [wanted + sign * move for move in range(int(high - low) + 4) for sign in (1, -1)]
    inside = [height for height in heights if low < height < high]
    for distance in distances:
        for height in inside:
            if all(abs(height - other) >= distance for other in others):
                return height
    return wanted


@dataclass(frozen=True, slots=True)
class Track:
    """A place in a channel, counted from its left or right side. Tracks of lines with a label lie beyond the others."""

    left: bool
    labelled: bool
    index: int


@dataclass(slots=True)
class Channel:
    """The room between two lanes. Tracks of lines with a label are so far apart that labels of width ``badge`` fit.

    ``taken`` has for each track the stretches of y that are in use, sorted.
    """

    badge: float
    start: float = 0.0
    width: float = 0.0
    taken: dict[Track, list[tuple[float, float]]] = field(default_factory=dict)

    def take(self, left: bool, labelled: bool, top: float, bottom: float) -> Track:
        """Take the track nearest to its side that is free from ``top`` to ``bottom``."""
        index = 0
        while not self._free(track := Track(left, labelled, index), top, bottom):
            index += 1
            if index == MOST_TRACKS and not labelled:
                break
        insort(self.taken.setdefault(track, []), (top, bottom))
        return track

    def _free(self, track: Track, top: float, bottom: float) -> bool:
        taken = self.taken.get(track, [])
        before = bisect_right(taken, (bottom + CLEAR, float("inf")))
        return before == 0 or taken[before - 1][1] + CLEAR < top

    def settle(self, start: float, between: bool, least: float) -> None:
        """Set the place and the width of the channel once all tracks are taken. ``between``: it has lanes on both
        sides."""
        sides = [
            max(reach)
            for left in (True, False)
            if (reach := [self._reach(track) for track in self.taken if track.left is left])
        ]
        margins = MARGIN * (1 + (between and not sides))
        self.start, self.width = start, max(sum(sides) + margins, least)

    def _reach(self, track: Track) -> float:
        return self._offset(track) + (self.badge / 2 if track.labelled else 0)

    def _offset(self, track: Track) -> float:
        """How far a track is from its side."""
        if not track.labelled:
            return MARGIN + track.index * PITCH
        plain = sum(each.left is track.left and not each.labelled for each in self.taken)
        beyond = MARGIN + (plain - 1) * PITCH if plain else 0
        return beyond + (track.index + 0.5) * (self.badge + 4) + 2

    def x(self, track: Track) -> float:
        """The x of the line in a track."""
        offset = self._offset(track)
        return snapped(self.start + offset if track.left else self.start + self.width - offset)

    @property
    def end(self) -> float:
        return self.start + self.width

    @property
    def lines(self) -> list[float]:
        """The x of all lines, from left to right."""
        return sorted(self.x(track) for track in self.taken)


def settle(channels: Sequence[Channel], widths: Sequence[float], start: float, least: Sequence[float]) -> list[float]:
    """Give each of ``channels`` its place once all tracks are taken. The first one begins at ``start``; ``least`` has
    the least width of each.

    Returns the left sides of the lanes between them, which have these ``widths``."""
    found = []
    channels[0].settle(start, False, least[0])
    for number, width in enumerate(widths, 1):
        found.append(channels[number - 1].end)
        channels[number].settle(found[-1] + width, number < len(widths), least[number])
    return found
