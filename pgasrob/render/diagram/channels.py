"""The channels of a diagram, between lanes and beside the outer ones, and the tracks in which lines run down there."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, field
from math import floor

PITCH = 9.0
"""From one line to the next."""
MOST_TRACKS = 12
"""Lines side by side that are not of the cycle: any more share the last place."""
CLEAR = 8.0
"""From the end of a line to the next one in its track."""
MARGIN = 14.0
"""Between a lane and the first line beside it."""


def snapped(coordinate: float) -> float:
    """The middle of a pixel, where a thin line is sharp."""
    return floor(coordinate) + 0.5


@dataclass(frozen=True, slots=True)
class Track:
    """A place in a channel, counted from its left or right side. Tracks of the cycle lie beyond the others."""

    left: bool
    cycle: bool
    index: int


@dataclass(slots=True)
class Channel:
    """``badge`` is the width of a number, for which there is room beside each track of the cycle.

    ``taken`` has for each track the stretches of y that are in use, by their beginnings.
    """

    badge: float
    start: float = 0.0
    width: float = 0.0
    taken: dict[Track, list[tuple[float, float]]] = field(default_factory=dict)

    def take(self, left: bool, cycle: bool, top: float, bottom: float) -> Track:
        """The track nearest to its side that is free from ``top`` to ``bottom``, which it then is no more."""
        index = 0
        while not self._free(track := Track(left, cycle, index), top, bottom):
            index += 1
            if index == MOST_TRACKS and not cycle:
                break
        insort(self.taken.setdefault(track, []), (top, bottom))
        return track

    def _free(self, track: Track, top: float, bottom: float) -> bool:
        taken = self.taken.get(track, [])
        before = bisect_right(taken, (bottom + CLEAR, float("inf")))
        return before == 0 or taken[before - 1][1] + CLEAR < top

    def settle(self, start: float, between: bool, least: float) -> None:
        """The place of the channel, of at least a width, once all tracks are taken; ``between``: between two lanes."""
        sides = [
            max(reach)
            for left in (True, False)
            if (reach := [self._reach(track) for track in self.taken if track.left is left])
        ]
        margins = MARGIN * (1 + (between and not sides))
        self.start, self.width = start, max(sum(sides) + margins, least)

    def _reach(self, track: Track) -> float:
        return self._offset(track) + (self.badge / 2 if track.cycle else 0)

    def _offset(self, track: Track) -> float:
        """How far a track is from its side."""
        if not track.cycle:
            return MARGIN + track.index * PITCH
        plain = sum(each.left is track.left and not each.cycle for each in self.taken)
        beyond = MARGIN + (plain - 1) * PITCH if plain else 0
        return beyond + (track.index + 0.5) * (self.badge + 4) + 2

    def x(self, track: Track) -> float:
        """Where the line in a track runs."""
        offset = self._offset(track)
        return snapped(self.start + offset if track.left else self.start + self.width - offset)

    @property
    def end(self) -> float:
        return self.start + self.width

    @property
    def lines(self) -> list[float]:
        """Where lines run, from left to right."""
        return sorted(self.x(track) for track in self.taken)
