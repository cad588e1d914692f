"""Lays out the diagram of a run: the places of its boxes and the points of its lines.

A line leaves a box sideways, runs down between two lanes and enters a box sideways. The lanes that it crosses in its
last row have no other box in that row (`shared_rows`), and there is no box between two lanes, so it crosses none. Only
these run inside a lane: program order, along the axis, which the steps of the lane leave free; and identity from a box
straight down to the next one of its lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgasrob.drawing.channels import Channel, Track, apart, settle, snapped
from pgasrob.drawing.labels import HEAD, Line, clear_place, label_width, numbered_lines
from pgasrob.drawing.lanes import GAP, HEADING
from pgasrob.drawing.measure import width_of
from pgasrob.drawing.pen import Point
from pgasrob.render import words
from pgasrob.render.diagram.boxes import bands, boxes, ends
from pgasrob.render.diagram.folding import Fold, beside, fold
from pgasrob.render.diagram.model import AXIS, BADGE_GAP, INNER, Box, Diagram, Lane, Part, Row, edges
from pgasrob.render.diagram.shared_rows import rows
from pgasrob.render.run_json import Witness, processes_of

MOST_LANES = 8
"""Ranks up to which each has a lane, even without an event."""

PART_GAP = 8.0
GUTTER = 30.0
"""Room at the left for the names of the parts."""
APART = (4, 2, 1)
"""The least distance of two lines that meet boxes of one row, the best first."""

Port = tuple[int, str, int, str, int]
"""Where a line meets a box: the place of the box, its side, 1 for leaving, the relation, the number in the cycle."""


@dataclass(slots=True)
class _Route:
    """An edge that becomes a line. ``first`` is the box of the earlier event and ``last`` that of the later."""

    source: int
    target: int
    relation: str
    number: int | None
    first: Box
    last: Box
    way: str = "side"  # or: axis, inner (down inside a lane), row (between neighbours at a barrier), under (it)
    channel: int = 0
    track: Track | None = None

    @property
    def trunk(self) -> tuple[object, ...]:
        """A key of lines that share their way down."""
        alone = self.target if self.number or self.relation != "cf" else None
        return self.channel, self.first.place, self.relation, self.number, alone


def layout(witness: Witness, cycle_only: bool = False, room: int | None = None) -> Diagram:
    """The diagram of ``witness``; ``cycle_only``: what its cycle does not pass is folded into bands. ``room``: the
    characters on a line of a box; None: the fewer lanes, the more."""
    folded = fold(witness, cycle_only)
    ranks = ranks_of(witness, folded)
    lane_of = {rank: lane for lane, rank in enumerate(ranks)}
    groups = rows(witness, folded, lane_of)
    drawn, folds = boxes(witness, groups, folded, lane_of, room), list(bands(witness, groups, folded, room))
    endings = list(ends(witness, len(groups), lane_of, room))
    routes = _routes(witness, folded, drawn, {band.row for band in folds})
    places, height = _rows(witness, groups, [*drawn, *folds], routes)

    # First the heights: the tracks depend on where lines meet boxes.
    drawn, folds = ([replace(box, y=places[box.row].top(box.height)) for box in those] for those in (drawn, folds))
    endings = [replace(end, y=height) for end in endings]
    height += max((end.height + GAP for end in endings), default=0.0)
    by_place = {box.place: box for box in drawn}
    for route in routes:
        route.first, route.last = by_place[route.first.place], by_place[route.last.place]
    ports = _ports(routes)

    # Then the places across, which depend on the tracks that lines take.
    badge = label_width(f"{len(witness['cycle'] or ())} cf")
    channels = _channels(routes, ports, len(ranks), badge)
    gutter = GUTTER if any(row.part is not None for row in places) else 0.0
    widths = [max(width_of("rank 00"), AXIS + width_of(f"rank {rank}")) for rank in ranks]
    for box in drawn + folds + endings:
        widths[box.lane] = max(widths[box.lane], box.x + box.width)
    lefts = settle(channels, widths, gutter + 10, _room_for_numbers(routes, len(channels), badge))
    lanes = [Lane(*each) for each in zip(ranks, lefts, widths, strict=True)]
    drawn, folds, endings = (
        [replace(box, x=box.x + lefts[box.lane]) for box in those] for those in (drawn, folds, endings)
    )
    by_place = {box.place: box for box in drawn}
    lines = _lines(routes, by_place, [places[band.row] for band in folds], lanes, channels, ports, badge)
    return Diagram(
        width=channels[-1].end,
        height=height,
        gutter=gutter,
        badge=badge,
        lanes=tuple(lanes),
        rows=tuple(places),
        boxes=tuple(drawn),
        bands=tuple(folds),
        ends=tuple(endings),
        parts=tuple(_parts(places)),
        lines=tuple(lines),
    )


def ranks_of(witness: Witness, folded: Fold) -> list[int]:
    """The ranks that have a lane: all of a few ranks, else those that have an event or on whose memory one acts."""
    processes = processes_of(witness)
    if len(processes) <= MOST_LANES and not folded.bands:
        return processes
    events = [witness["computation"][place] for place in folded.kept]
    found = {event["rank"] for event in events} | {beside(event) for event in events}
    if witness["fault"]:
        found.add(witness["fault"]["rank"])
    if words.stands(witness):
        found |= {each["rank"] for each in witness["standing"] if not each["ended"]}
    return sorted(found or {0})


def _routes(witness: Witness, folded: Fold, drawn: Sequence[Box], band_rows: set[int]) -> list[_Route]:
    """The routes of all edges between the boxes ``drawn``."""
    routes = []
    by_place = {box.place: box for box in drawn}
    neighbours = _neighbours(drawn)
    for edge, number in edges(witness, folded):
        source, target, relation = edge["from"], edge["to"], edge["relation"]
        first, last = by_place[min(source, target)], by_place[max(source, target)]
        route = _Route(source, target, relation, number, first, last)
        if relation == "po" and neighbours.get((first.place, "issued")) == last.place:
            route.way = "axis"
        elif first.row == last.row:
            route.way = "row" if abs(first.lane - last.lane) == 1 else "under"
        elif (
            relation == "id"
            and neighbours.get((first.place, "any")) == last.place
            and band_rows.isdisjoint(range(first.row, last.row))
            and first.x + first.width > INNER + 6
            and last.x + last.width > INNER + 6
        ):
            route.way = "inner"
        elif first.lane == last.lane:
            route.channel = first.lane + (relation != "po")
        else:
            route.channel = first.lane + (last.lane > first.lane)
        routes.append(route)
    return routes


def _neighbours(drawn: Sequence[Box]) -> dict[tuple[int, str], int]:
    """The next box down the same lane, and the next issued one, by place."""
    found: dict[tuple[int, str], int] = {}
    last: dict[tuple[int, str], int] = {}
    for box in sorted(drawn, key=lambda box: box.row):
        for kind in ("any", "issued") if box.kind != "step" else ("any",):
            if (box.lane, kind) in last:
                found[last[box.lane, kind], kind] = box.place
            last[box.lane, kind] = box.place
    return found


def _rows(
    witness: Witness, groups: Sequence[tuple[int, ...]], drawn: Sequence[Box], routes: Sequence[_Route]
) -> tuple[list[Row], float]:
    """The rows, and where they end. There is more room where a number of the cycle is between two rows."""
    events = witness["computation"]
    band_rows = {box.row for box in drawn if box.kind == "band"}
    heights: dict[int, float] = defaultdict(float)
    for box in drawn:
        heights[box.row] = max(heights[box.row], box.height)
    badges = {
        route.last.row
        for route in routes
        if route.number and route.way in ("axis", "inner")
        if band_rows.issuperset(range(route.first.row + 1, route.last.row))  # of which there are often none
    }
    badges |= {route.last.row + 1 for route in routes if route.way == "under"}
    found: list[Row] = []
    y = HEADING + GAP
    for index, places in enumerate(groups):
        parts = {events[place]["part"] for place in places}
        part = parts.pop() if len(parts) == 1 else None  # a band may begin in one and end in another
        if index:
            y += BADGE_GAP if index in badges else GAP
            y += PART_GAP * (part != found[-1].part)
        found.append(Row(places, y, heights[index], part))
        y += heights[index]
    return found, y + (BADGE_GAP if len(groups) in badges else GAP)


def _parts(places: Sequence[Row]) -> list[Part]:
    """The parts of the normal form that have an event, and where each begins and ends."""
    found: list[Part] = []
    half = (GAP + PART_GAP) / 2
    for row in places:
        if row.part is None:
            continue
        end = row.y + row.height + half
        if found and found[-1].number == row.part:
            found[-1] = replace(found[-1], height=end - found[-1].y)
        else:
            found.append(Part(row.part, row.y - half, end - row.y + half))
    return found


# --- Sides, tracks ---------------------------------------------------------------------------------------------------


def _sides(route: _Route) -> tuple[str, str]:
    """The sides at which a line leaves the earlier box and enters the later one."""
    if route.first.lane == route.last.lane:
        side = "left" if route.relation == "po" else "right"
        return side, side
    return ("right", "left") if route.last.lane > route.first.lane else ("left", "right")


def _port_keys(route: _Route) -> tuple[Port, Port]:
    leave, enter = _sides(route)
    heavy = route.number or 0
    return (
        (route.first.place, leave, 1, route.relation, heavy),
        (route.last.place, enter, 0, route.relation, heavy),
    )


def _ports(routes: Sequence[_Route]) -> dict[Port, float]:
    """The height at which lines meet the side of a box: entering ones above those that leave."""
    sides: dict[tuple[int, str], set[Port]] = defaultdict(set)
    box_of: dict[int, Box] = {}
    channels: dict[Port, set[int]] = defaultdict(set)
    """The channels into which the lines of a port run in the row of its box."""
    for route in routes:
        if route.way == "side":
            for key, box in zip(_port_keys(route), (route.first, route.last), strict=True):
                sides[key[:2]].add(key)
                box_of[box.place] = box
                beside = box.lane + (key[1] == "right")
                channels[key].update(range(min(beside, route.channel), max(beside, route.channel) + 1))
    found: dict[Port, float] = {}
    taken: dict[tuple[int, int], list[float]] = defaultdict(list)
    """The heights at which lines run sideways, by row and channel."""
    for (place, _), keys in sorted(sides.items()):
        box = box_of[place]
        # In the middle a barrier has the lines to its neighbours, and an atomic the one to the memory of another rank.
        halves = [[key for key in keys if key[2] == leaving] for leaving in (0, 1)]
        free = box.kind == "barrier" or box.reach is not None
        for start, size, group in ((0.05, 0.4, halves[0]), (0.55, 0.4, halves[1])) if free else ((0.1, 0.8, [*keys]),):
            for index, key in enumerate(sorted(group)):
                wanted = snapped(box.y + box.height * (start + size * (index + 0.5) / len(group)))
                others = [height for channel in channels[key] for height in taken[box.row, channel]]
                if free:
                    others.append(snapped(box.y + box.height / 2))
                inside = box.y + 2, box.y + box.height - 2
                found[key] = apart(wanted, inside, others, APART) if others else wanted
                for channel in channels[key]:
                    taken[box.row, channel].append(found[key])
    return found


def _channels(routes: Sequence[_Route], ports: dict[Port, float], lanes: int, badge: float) -> list[Channel]:
    """The channels from left to right. Each route that runs down in one gets its track, short ones the nearest."""
    trunks: dict[tuple[object, ...], list[_Route]] = defaultdict(list)
    for route in routes:
        if route.way == "side":
            trunks[route.trunk].append(route)
    spans = []
    for members in trunks.values():
        heights = [ports[key] for route in members for key in _port_keys(route)]
        spans.append((min(heights), max(heights), members))
    channels = [Channel(badge) for _ in range(lanes + 1)]
    for top, bottom, members in sorted(spans, key=lambda span: (span[1] - span[0], span[0])):
        route = members[0]
        left = route.first.lane < route.channel
        track = channels[route.channel].take(left, route.number is not None, top, bottom)
        for each in members:
            each.track = track
    return channels


def _room_for_numbers(routes: Sequence[_Route], channels: int, badge: float) -> list[float]:
    """The least width of each channel: there is room for a number of the cycle on or under a barrier."""
    least = [0.0] * channels
    for route in routes:
        if route.number and route.way in ("row", "under"):
            for channel in range(*sorted((route.first.lane + 1, route.last.lane + 1))):
                least[channel] = badge + 8
    return least


# --- Lines -----------------------------------------------------------------------------------------------------------


def _lines(
    routes: Sequence[_Route],
    box_of: Mapping[int, Box],
    band_rows: Sequence[Row],
    lanes: Sequence[Lane],
    channels: Sequence[Channel],
    ports: dict[Port, float],
    badge: float,
) -> list[Line]:
    found: list[Line] = []
    spots: list[tuple[Line, Point, Point]] = []
    for route in sorted(routes, key=lambda route: route.way == "side"):  # the others' numbers have but one place
        first, last = box_of[route.first.place], box_of[route.last.place]
        if route.track:
            points = _around(route, first, last, channels[route.channel].x(route.track), ports)
            spot = points[1], points[2]
        elif route.way in ("axis", "inner"):
            x = lanes[first.lane].axis if route.way == "axis" else lanes[first.lane].x + INNER
            points = [(x, first.y + first.height), (x, last.y)]
            spot = points[0], (x, last.y - HEAD)
        else:
            left, right = sorted((first, last), key=lambda box: box.lane)
            points = _along(route.way, left, right)
            channel = channels[left.lane + 1]
            room = (left.x + left.width, right.x) if route.way == "row" else (channel.start, channel.end)
            x = clear_place(channel.lines, *room, badge)
            spot = (x, points[1][1]), (x, points[1][1])
            points = points if left is first else points[::-1]
        if route.source != first.place:
            points = points[::-1]
        line = Line(route.source, route.target, route.relation, tuple(points), route.number)
        if route.number:
            spots.append((line, *spot))
        else:
            found.append(line)
    plain = sorted(found, key=lambda line: (line.source, line.target, line.relation))
    # No number may be on a band.
    across = [
        Line(-1, -1, "band", ((lanes[0].x, y), (channels[-1].end, y)))
        for band in band_rows
        for y in (band.y, band.y + band.height / 2, band.y + band.height)
    ]
    return plain + numbered_lines(spots, [*plain, *across], badge)


def _around(route: _Route, first: Box, last: Box, x: float, ports: dict[Port, float]) -> list[Point]:
    leave, enter = _sides(route)
    above, below = (ports[key] for key in _port_keys(route))
    return [
        (first.x + first.width * (leave == "right"), above),
        (x, above),
        (x, below),
        (last.x + last.width * (enter == "right"), below),
    ]


def _along(way: str, left: Box, right: Box) -> list[Point]:
    """The points of a line from one event of a barrier to another, through the middle or below."""
    if way == "row":
        y = left.y + left.height / 2
        return [(left.x + left.width, y), (right.x, y)]
    y = left.y + left.height + BADGE_GAP / 2
    middle, other = left.x + left.width / 2, right.x + right.width / 2
    return [(middle, left.y + left.height), (middle, y), (other, y), (other, right.y + right.height)]
