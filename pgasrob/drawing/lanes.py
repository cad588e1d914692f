"""Lays out graphs with lanes: the places of boxes and the points of edges.

The nodes of one lane and row share a box, with their heading above them. An edge leaves the line of its node sideways
and runs down between two lanes. To a lane farther away it goes across in the row of its target if that has no other
box, and otherwise between two rows. So no edge crosses a box, and its label has a place of its own on the way down. A
tight edge to the next box of its lane runs straight down there and has no label.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgasrob.drawing.channels import PITCH, Channel, Track, apart, settle, snapped
from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.labels import BADGE, Line, label_width, numbered_lines
from pgasrob.drawing.measure import LINE, PADDING, fitted, width_of
from pgasrob.drawing.pen import Point

HEADING = 30.0
"""Room for the titles of lanes."""
GAP = 12.0
"""Between two rows."""
LONGEST = 44
"""Characters on a line of a box."""
INDENT = 2
"""Blanks before the text of a node in a box with a heading."""
APART = (7, 5, 4, 3, 2, 1)
"""The least distance of two edges that run sideways beside each other, the best first."""
SPREAD = 5.0
"""Between two edges that meet one node."""
AXIS = 13.0
"""How far right of a lane's left side tight edges run."""
BESIDE = 18.0
"""Room beside a label, for the head of an arrow."""
NARROWEST = 8.0
"""Least width of the room between two lanes."""


@dataclass(frozen=True, slots=True)
class Box:
    """The nodes of one lane and one row, a line for each, below their heading."""

    lane: int
    row: int
    heading: str
    nodes: tuple[Node, ...]
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0

    @property
    def lines(self) -> list[str]:
        """The texts of the nodes, indented below a heading."""
        indent = INDENT * bool(self.heading)
        return [" " * indent + fitted(" ".join(node.lines), LONGEST - indent) for node in self.nodes]

    @property
    def least_width(self) -> float:
        return max(map(width_of, [self.heading, *self.lines])) + 2 * PADDING

    @property
    def height(self) -> float:
        return (len(self.nodes) + bool(self.heading)) * LINE + 9

    def line_of(self, name: str) -> float:
        """The height of the line of the node with this ``name``."""
        place = next(place for place, node in enumerate(self.nodes) if node.name == name)
        return self.y + 4.5 + (place + bool(self.heading) + 0.5) * LINE


@dataclass(frozen=True, slots=True)
class Lane:
    """``first`` and ``last`` are the upper end of its first box and the lower one of its last."""

    title: str
    x: float
    width: float
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Way:
    """An edge as a line through ``points``, with the middle of the place of its label."""

    edge: Edge
    points: tuple[Point, ...]
    badge: Point | None


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph that is laid out, and the room that it takes."""

    width: float
    height: float
    lanes: tuple[Lane, ...]
    boxes: tuple[Box, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class _Across:
    """An edge goes across lanes above row ``gap``, in the ``place``-th line there."""

    gap: int
    place: int


@dataclass(slots=True)
class _Route:
    """An edge with its way so far: whether it leaves and enters on the left, the channels in which it runs down (two
    where it goes across), and, once they are known, the heights of its ends."""

    edge: Edge
    sides: tuple[bool, bool]
    channels: tuple[int, ...]
    across: float | None
    start: float = 0.0
    end: float = 0.0
    tracks: list[Track] = field(default_factory=list)


def layout(graph: Graph) -> Picture:
    """Lay out ``graph``, whose nodes have lanes, numbered from 0, and rows."""
    together: dict[tuple[int, int], list[Node]] = defaultdict(list)
    for node in graph.nodes:
        assert node.lane is not None and node.row is not None
        together[node.lane, node.row].append(node)
    boxes = [Box(lane, row, fitted(nodes[0].heading, LONGEST), tuple(nodes)) for (lane, row), nodes in together.items()]
    edges = [edge for edge in graph.edges if edge.look != "order"]
    straight = [edge for edge in edges if edge.tight and _next_below(edge, boxes)]
    edges = [edge for edge in edges if edge not in straight]
    crossing = _crossing(edges, boxes)
    boxes, gaps, height = _rows(boxes, crossing)
    routes = _routes(edges, _by_node(boxes), crossing, gaps)
    channels = _channels(routes, len(graph.lanes))
    widths = [
        max([width_of(title), *(box.least_width for box in boxes if box.lane == lane)])
        for lane, title in graph.lanes.items()
    ]
    lefts = settle(channels, widths, 0.0, [NARROWEST] * len(channels))
    boxes = [replace(box, x=lefts[box.lane], width=widths[box.lane]) for box in boxes]
    lanes = []
    for (lane, title), x, width in zip(graph.lanes.items(), lefts, widths, strict=True):
        mine = [box for box in boxes if box.lane == lane]
        ends = (min(box.y for box in mine), max(box.y + box.height for box in mine)) if mine else (0.0, 0.0)
        lanes.append(Lane(title, x, width, *ends))
    box_of, ways = _by_node(boxes), []
    for edge in straight:
        source, target = box_of[edge.source], box_of[edge.target]
        ways.append(Way(edge, ((source.x + AXIS, source.y + source.height), (source.x + AXIS, target.y)), None))
    ways += _ways(routes, box_of, channels)
    return Picture(channels[-1].end, height, tuple(lanes), tuple(boxes), tuple(ways))


def _by_node(boxes: Sequence[Box]) -> dict[str, Box]:
    return {node.name: box for box in boxes for node in box.nodes}


def _next_below(edge: Edge, boxes: Sequence[Box]) -> bool:
    """Whether ``edge`` leads to the next box of its lane."""
    source, target = (_by_node(boxes)[end] for end in (edge.source, edge.target))
    rows = sorted(box.row for box in boxes if box.lane == source.lane)
    return source.lane == target.lane and rows.index(target.row) == rows.index(source.row) + 1


def _crossing(edges: Sequence[Edge], boxes: Sequence[Box]) -> dict[int, _Across]:
    """Where edges go across, by their number. Those do that lead to a lane that is not beside their own, and to a row
    with other boxes."""
    box_of, in_row = _by_node(boxes), Counter(box.row for box in boxes)
    found: dict[int, _Across] = {}
    taken: dict[int, list[list[tuple[int, int]]]] = defaultdict(list)
    for number, edge in enumerate(edges):
        source, target = box_of[edge.source], box_of[edge.target]
        if abs(source.lane - target.lane) < 2 or in_row[target.row] == 1:
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
    """The boxes with their y, the y of the first edge that goes across above each row, and the height of all."""
    rows = 1 + max((box.row for box in boxes), default=0)
    heights = [max((box.height for box in boxes if box.row == row), default=0.0) for row in range(rows)]
    heights.append(0.0)  # below the last row edges may go across too
    tops, gaps = [], []
    y = HEADING
    for row, height in enumerate(heights):
        places = 1 + max((each.place for each in crossing.values() if each.gap == row), default=-1)
        gaps.append(y + GAP)
        y += GAP + (places * PITCH + GAP) * bool(places)
        tops.append(y)
        y += height
    return [replace(box, y=tops[box.row]) for box in boxes], gaps, y


def _routes(
    edges: Sequence[Edge], box_of: Mapping[str, Box], crossing: Mapping[int, _Across], gaps: Sequence[float]
) -> list[_Route]:
    routes = []
    ports: dict[tuple[str, bool], list[tuple[int, int]]] = defaultdict(list)
    """The edges at each side of a node: their numbers, with 1 for those that leave and 0 for those that enter."""
    for number, edge in enumerate(edges):
        source, target = box_of[edge.source].lane, box_of[edge.target].lane
        if source == target:
            sides = (source == 0, source == 0)
            channels: tuple[int, ...] = (source + (source > 0),)
        else:
            sides = (target < source, source < target)
            channels = (source + (source < target),)
            if number in crossing:
                channels = (*channels, target + (target < source))
        across = crossing.get(number)
        y = None if across is None else snapped(gaps[across.gap] + across.place * PITCH)
        routes.append(_Route(edge, sides, channels, y))
        ports[edge.source, sides[0]].append((number, 1))
        ports[edge.target, sides[1]].append((number, 0))
    taken: dict[int, list[float]] = defaultdict(list)
    """The heights at which edges run sideways in each channel."""
    for (node, left), meeting in ports.items():
        box = box_of[node]
        middle = box.line_of(node)
        step = min(SPREAD, (LINE - 3) / len(meeting))
        others = taken[box.lane + (not left)]
        # Edges that enter are above those that leave.
        for place, (number, leaves) in enumerate(sorted(meeting, key=lambda port: (port[1], port[0]))):
            wanted = snapped(middle + (place - (len(meeting) - 1) / 2) * step)
            height = apart(wanted, (middle - LINE / 2, middle + LINE / 2), others, APART)
            others.append(height)
            if leaves:
                routes[number].start = height
            else:
                routes[number].end = height
    return routes


def _channels(routes: Sequence[_Route], lanes: int) -> list[Channel]:
    """The channels from left to right, in which each route has taken its tracks, short ones the nearest."""
    badges = [
        max((label_width(route.edge.label or "") for route in routes if number in route.channels), default=0.0)
        for number in range(lanes + 1)
    ]
    channels = [Channel(badge + BESIDE if badge else 0.0) for badge in badges]
    for route in sorted(routes, key=lambda route: abs(route.end - route.start)):
        stops = [route.start, route.end] if route.across is None else [route.start, route.across, route.end]
        for place, number in enumerate(route.channels):
            top, bottom = sorted((stops[place], stops[place + 1]))
            middle, half = (top + bottom) / 2, max((bottom - top) / 2, BADGE / 2)
            left = not route.sides[place]
            labelled = route.edge.label is not None
            route.tracks.append(channels[number].take(left, labelled, middle - half, middle + half))
    return channels


def _ways(routes: Sequence[_Route], box_of: Mapping[str, Box], channels: Sequence[Channel]) -> list[Way]:
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
        spots.append((Line(number, number, route.edge.look, tuple(points), number), *stretch))
    widest = max((label_width(route.edge.label or "") for route in routes), default=0.0)
    placed = numbered_lines(spots, [], widest)
    return [
        Way(route.edge, line.points, line.badge if route.edge.label else None)
        for route, line in zip(routes, placed, strict=True)
    ]
