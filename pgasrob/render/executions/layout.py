"""Where the events of an execution stand and where its edges run.

A lane per thread, and one for the initial writes where the cycle passes one. A box for each instruction, from the top
in program order, has its text and a line for each of its events. An edge leaves the line of its event sideways and runs
down between two lanes; to a lane that is farther away it goes across between two rows. No box stands there, so an edge
meets none, and its label has a place of its own on the way down.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgasrob.diagnostics import visible
from pgasrob.render.diagram.badges import BADGE, numbered_lines
from pgasrob.render.diagram.channels import PITCH, Channel, Track, snapped
from pgasrob.render.diagram.model import CHARACTER, GAP, HEADING, LINE, PADDING, Line, cut, width_of
from pgasrob.render.executions.edges import Edge, edges
from pgasrob.render.litmus import is_constant, told
from pgasrob.render.litmus_json import ExecutionObject

LONGEST = 44
"""Characters on a line of a box."""
NAME = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
SHORTEST = 8
"""Characters of a name that is shortened."""
INDENT = 2
"""Blanks before an event in the box of its instruction."""
APART = (7, 5, 4, 3, 2, 1)
"""The least distance of two edges that run sideways beside each other, the best first."""
SPREAD = 5.0
"""Between two edges that meet one event."""
BESIDE = 18.0
"""Room beside a label, for the head of an arrow."""
INITIALLY = "initially"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """An instruction: its text, and its events with what is said of each."""

    lane: int
    row: int
    text: str
    events: tuple[tuple[int, str], ...]
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0

    @property
    def height(self) -> float:
        return (len(self.events) + bool(self.text)) * LINE + 9

    def line_of(self, event: int) -> float:
        """The height of the line of ``event``."""
        place = next(place for place, (number, _) in enumerate(self.events) if number == event)
        return self.y + 4.5 + (place + bool(self.text) + 0.5) * LINE


@dataclass(frozen=True, slots=True)
class Lane:
    title: str
    x: float
    width: float
    first: float
    """Where program order begins, and where it ends."""
    last: float


@dataclass(frozen=True, slots=True)
class Way:
    """An edge as a line through ``points``, with the middle of the place of its label."""

    edge: Edge
    points: tuple[Point, ...]
    badge: Point


@dataclass(frozen=True, slots=True)
class Picture:
    width: float
    height: float
    lanes: tuple[Lane, ...]
    boxes: tuple[Box, ...]
    ways: tuple[Way, ...]


def label_width(label: str) -> float:
    return 7.2 * len(label) + 9


def layout(execution: ExecutionObject) -> Picture:
    drawn = edges(execution)
    titles, boxes = _boxes(execution, drawn)
    box_of = {number: box for box in boxes for number, _ in box.events}
    crossing = _crossing(drawn, box_of)
    boxes, gaps, height = _rows(boxes, crossing)
    box_of = {number: box for box in boxes for number, _ in box.events}
    return _placed(titles, boxes, box_of, drawn, crossing, gaps, height)


def _boxes(execution: ExecutionObject, drawn: Sequence[Edge]) -> tuple[list[str], list[Box]]:
    events = execution["events"]
    needed = [
        number
        for number, event in enumerate(events)
        if event["thread"] is None and any(number in (edge.source, edge.target) for edge in drawn)
    ]
    titles = [INITIALLY] if needed else []
    boxes = [
        Box(0, row, "", ((number, fitted(told(events[number]).removeprefix("init "), LONGEST)),))
        for row, number in enumerate(needed)
    ]
    for thread, about in enumerate(execution["threads"]):
        lane = len(titles)
        titles.append(f"thread {thread + 1} on node {about['node']}")
        operations: dict[int, list[int]] = defaultdict(list)
        for number, event in enumerate(events):
            if event["thread"] == thread:
                operations[event["operation"]].append(number)
        for row, (_, numbers) in enumerate(sorted(operations.items())):
            text = fitted(visible(events[numbers[0]]["text"]), LONGEST)
            lines = tuple((number, fitted(told(events[number]), LONGEST - INDENT)) for number in numbers)
            boxes.append(Box(lane, row, text, lines))
    return titles, boxes


def fitted(text: str, room: int) -> str:
    """``text`` in at most ``room`` places: long names lose their middle, so that values are there in full; only then
    its end is cut."""
    longest = max(map(len, NAME.findall(text)), default=0)
    for most in range(longest, SHORTEST - 1, -1):
        shorter = NAME.sub(lambda name: _middle_out(name[0], most), text)  # noqa: B023
        if width_of(shorter) <= room * CHARACTER:
            return shorter
        text = shorter if most == SHORTEST else text
    return cut(text, room)


def _middle_out(name: str, most: int) -> str:
    """``name`` in at most ``most`` places, an ellipsis for what is left out of its middle."""
    end = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


@dataclass(frozen=True, slots=True)
class _Across:
    """Between which two rows an edge goes across lanes, and in which place there."""

    gap: int
    place: int


def _crossing(drawn: Sequence[Edge], box_of: Mapping[int, Box]) -> dict[int, _Across]:
    """For each edge, by its place among all, that goes to a lane that is not beside its own."""
    found: dict[int, _Across] = {}
    taken: dict[int, list[list[tuple[int, int]]]] = defaultdict(list)
    for number, edge in enumerate(drawn):
        source, target = box_of[edge.source], box_of[edge.target]
        if abs(source.lane - target.lane) < 2:
            continue
        gap = target.row if source.row <= target.row else target.row + 1
        low, high = sorted((source.lane, target.lane))
        places = taken[gap]
        place = next(
            (place for place, spans in enumerate(places) if all(high <= one or other <= low for one, other in spans)),
            len(places),
        )
        if place == len(places):
            places.append([])
        places[place].append((low, high))
        found[number] = _Across(gap, place)
    return found


def _rows(boxes: Sequence[Box], crossing: Mapping[int, _Across]) -> tuple[list[Box], list[float], float]:
    """The boxes with their heights, where what goes across above each row begins, and where all ends."""
    rows = 1 + max((box.row for box in boxes), default=0)
    heights = [max((box.height for box in boxes if box.row == row), default=0.0) for row in range(rows)]
    places = [
        1 + max((each.place for each in crossing.values() if each.gap == gap), default=-1) for gap in range(rows + 1)
    ]
    tops, gaps = [], []
    y = HEADING
    for row in range(rows):
        gaps.append(y + GAP)
        y += GAP + (places[row] * PITCH + GAP) * bool(places[row])
        tops.append(y)
        y += heights[row]
    gaps.append(y + GAP)
    y += GAP + (places[rows] * PITCH + GAP) * bool(places[rows])
    moved = [Box(box.lane, box.row, box.text, box.events, 0.0, tops[box.row], 0.0) for box in boxes]
    return moved, gaps, y


@dataclass(slots=True)
class _Route:
    """An edge on its way: in which channels it runs down, the second one where it goes across."""

    edge: Edge
    start: float
    end: float
    sides: tuple[bool, bool]
    """Whether it leaves, and enters, on the left."""
    channels: tuple[int, ...]
    across: float | None
    tracks: list[Track]


def _placed(
    titles: Sequence[str],
    boxes: list[Box],
    box_of: Mapping[int, Box],
    drawn: Sequence[Edge],
    crossing: Mapping[int, _Across],
    gaps: Sequence[float],
    height: float,
) -> Picture:
    routes = _routes(drawn, box_of, crossing, gaps)
    widths = [
        max(
            width_of(title),
            *(
                width_of(text) + 2 * PADDING
                for box in boxes
                if box.lane == lane
                for text in (box.text, *(" " * INDENT * bool(box.text) + told for _, told in box.events))
            ),
            0.0,
        )
        for lane, title in enumerate(titles)
    ]
    badges = [
        max((label_width(route.edge.label) for route in routes if number in route.channels), default=0.0)
        for number in range(len(titles) + 1)
    ]
    channels = [Channel(badge + BESIDE if badge else 0.0) for badge in badges]
    for route in sorted(routes, key=lambda route: abs(route.end - route.start)):
        stops = [route.start, route.end] if route.across is None else [route.start, route.across, route.end]
        for place, number in enumerate(route.channels):
            top, bottom = sorted((stops[place], stops[place + 1]))
            middle, half = (top + bottom) / 2, max((bottom - top) / 2, BADGE / 2)
            left = not route.sides[0] if place == 0 else not route.sides[1]
            route.tracks.append(channels[number].take(left, True, middle - half, middle + half))
    lanes: list[Lane] = []
    channels[0].settle(0.0, False, 8.0)
    for lane, (title, width) in enumerate(zip(titles, widths, strict=True)):
        x = channels[lane].end
        mine = [box for box in boxes if box.lane == lane]
        first, last = (min(box.y for box in mine), max(box.y + box.height for box in mine)) if mine else (0.0, 0.0)
        lanes.append(Lane(title, x, width, first, last))
        channels[lane + 1].settle(x + width, lane + 1 < len(titles), 8.0)
    boxes = [
        Box(box.lane, box.row, box.text, box.events, lanes[box.lane].x, box.y, lanes[box.lane].width) for box in boxes
    ]
    ways = _ways(routes, {number: box for box in boxes for number, _ in box.events}, channels)
    return Picture(channels[-1].end, height, tuple(lanes), tuple(boxes), tuple(ways))


def _routes(
    drawn: Sequence[Edge], box_of: Mapping[int, Box], crossing: Mapping[int, _Across], gaps: Sequence[float]
) -> list[_Route]:
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = defaultdict(list)
    about: list[tuple[tuple[bool, bool], tuple[int, ...]]] = []
    for number, edge in enumerate(drawn):
        source, target = box_of[edge.source].lane, box_of[edge.target].lane
        if source == target:
            left = source == 0
            both = (left, left)
            channels: tuple[int, ...] = (source + (not left),)
        else:
            both = (target < source, source < target)
            channels = (source + (source < target),)
            if number in crossing:
                channels = (*channels, target + (target < source))
        about.append((both, channels))
        sides[edge.source, both[0]].append((number, 1))
        sides[edge.target, both[1]].append((number, 0))
    heights: dict[tuple[int, int], float] = {}
    taken: dict[int, list[float]] = defaultdict(list)
    """The heights at which edges run sideways in each channel."""
    for (event, left), ports in sides.items():
        box = box_of[event]
        middle = box.line_of(event)
        step = min(SPREAD, (LINE - 3) / len(ports))
        others = taken[box.lane + (not left)]
        # What enters stands above what leaves.
        for place, port in enumerate(sorted(ports, key=lambda port: (port[1], port[0]))):
            height = _apart(middle, snapped(middle + (place - (len(ports) - 1) / 2) * step), others)
            heights[port] = height
            others.append(height)
    routes = []
    for number, (edge, (both, channels)) in enumerate(zip(drawn, about, strict=True)):
        across = crossing.get(number)
        y = None if across is None else snapped(gaps[across.gap] + across.place * PITCH)
        routes.append(_Route(edge, heights[number, 1], heights[number, 0], both, channels, y, []))
    return routes


def _apart(middle: float, wanted: float, others: Sequence[float]) -> float:
    """The height nearest to the ``wanted`` one, on the line around ``middle``, that is apart from the ``others``: lines
    of two boxes beside one channel could lie on one another else."""
    around = [wanted + sign * move for move in range(int(LINE)) for sign in (1, -1)]
    inside = [height for height in around if abs(height - middle) < LINE / 2]
    for distance in APART:
        for height in inside:
            if all(abs(height - other) >= distance for other in others):
                return height
    return wanted


def _ways(routes: Sequence[_Route], box_of: Mapping[int, Box], channels: Sequence[Channel]) -> list[Way]:
    spots: list[tuple[Line, Point, Point]] = []
    for number, route in enumerate(routes, 1):
        source, target = box_of[route.edge.source], box_of[route.edge.target]
        start = (source.x if route.sides[0] else source.x + source.width, route.start)
        end = (target.x if route.sides[1] else target.x + target.width, route.end)
        xs = [channels[channel].x(track) for channel, track in zip(route.channels, route.tracks, strict=True)]
        if route.across is None:
            points = [start, (xs[0], start[1]), (xs[0], end[1]), end]
            stretch = points[1], points[2]
        else:
            points = [start, (xs[0], start[1]), (xs[0], route.across), (xs[1], route.across), (xs[1], end[1]), end]
            longer = abs(route.across - start[1]) >= abs(end[1] - route.across)
            stretch = (points[1], points[2]) if longer else (points[3], points[4])
        line = Line(route.edge.source, route.edge.target, route.edge.relation, tuple(points), number)
        spots.append((line, *stretch))
    widest = max((label_width(route.edge.label) for route in routes), default=0.0)
    placed = numbered_lines(spots, [], widest)
    return [
        Way(route.edge, line.points, line.badge or line.points[1]) for route, line in zip(routes, placed, strict=True)
    ]


__all__ = ["Box", "Lane", "Picture", "Way", "is_constant", "label_width", "layout"]
