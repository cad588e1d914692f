"""Where the boxes of a diagram stand and where its lines run.

A line leaves a box sideways, runs down between two lanes and enters a box sideways. In the lanes that it crosses in its
last row stands nothing else (`rows`), and no box stands between two lanes, so that it meets none. Only these run inside
a lane: program order, along the axis, which the steps of the lane leave free; and identity from a box straight down to
the next one of its lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgasrob.render.diagram.badges import HEAD, badge_width, clear_place, numbered_lines
from pgasrob.render.diagram.channels import Channel, Track, snapped
from pgasrob.render.diagram.folding import Fold
from pgasrob.render.diagram.model import (
    BADGE_GAP,
    GAP,
    HEADING,
    INNER,
    Box,
    Diagram,
    Lane,
    Line,
    Part,
    Row,
    edges,
)
from pgasrob.render.run_json import Witness

PART_GAP = 8.0
GUTTER = 30.0
"""Room at the left for the names of the parts."""
APART = (4, 2, 1)
"""The least distance of two lines that meet boxes of one row, the best first."""

Point = tuple[float, float]
Port = tuple[int, str, int, str, int]
"""Where a line meets a box: the place of the box and its side, 1 for leaving, and what sort of line it is."""


@dataclass(slots=True)
class _Route:
    """An edge on its way to become a line. ``first`` is the box of the earlier event and ``last`` that of the later."""

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
        """Lines with the same one share their way down."""
        alone = self.target if self.number or self.relation != "cf" else None
        return self.channel, self.first.place, self.relation, self.number, alone


def routed(
    witness: Witness,
    folded: Fold,
    ranks: Sequence[int],
    groups: Sequence[tuple[int, ...]],
    boxes: Sequence[Box],
    bands: Sequence[Box],
    ends: Sequence[Box],
    widths: Sequence[float],
) -> Diagram:
    """The diagram of ``boxes`` and ``bands``, which are given with x from the side of their lane; y is not known yet.

    ``groups`` are the places of each row, ``ends`` the boxes below the last row, ``widths`` those of the lanes.
    """
    routes = _routes(witness, folded, boxes, {band.row for band in bands})
    rows, height = _rows(witness, groups, [*boxes, *bands], routes)
    boxes, bands = ([replace(box, y=rows[box.row].top(box.height)) for box in those] for those in (boxes, bands))
    ends = [replace(end, y=height) for end in ends]
    height += max((end.height + GAP for end in ends), default=0.0)
    by_place = {box.place: box for box in boxes}
    for route in routes:
        route.first, route.last = by_place[route.first.place], by_place[route.last.place]
    badge = badge_width(len(witness["cycle"] or ()))
    ports = _ports(routes)
    channels = _channels(routes, ports, len(ranks), badge)
    gutter = GUTTER if any(row.part is not None for row in rows) else 0.0
    least = _room_for_numbers(routes, badge)
    lanes: list[Lane] = []
    channels[0].settle(gutter + 10, False, 0.0)
    for index, (rank, width) in enumerate(zip(ranks, widths, strict=True), start=1):
        lanes.append(Lane(rank, channels[index - 1].end, width))
        channels[index].settle(lanes[-1].x + width, index < len(ranks), least.get(index, 0.0))
    boxes = [replace(box, x=box.x + lanes[box.lane].x) for box in boxes]
    bands = [replace(band, x=band.x + lanes[band.lane].x) for band in bands]
    ends = [replace(end, x=end.x + lanes[end.lane].x) for end in ends]
    lines = _lines(
        routes, {box.place: box for box in boxes}, [rows[band.row] for band in bands], lanes, channels, ports, badge
    )
    return Diagram(
        width=channels[-1].end,
        height=height,
        gutter=gutter,
        badge=badge,
        lanes=tuple(lanes),
        rows=tuple(rows),
        boxes=tuple(boxes),
        bands=tuple(bands),
        ends=tuple(ends),
        parts=tuple(_parts(rows)),
        lines=tuple(lines),
    )


def _routes(witness: Witness, folded: Fold, boxes: Sequence[Box], bands: set[int]) -> list[_Route]:
    """The routes of all edges; ``bands`` are the rows of bands."""
    routes = []
    by_place = {box.place: box for box in boxes}
    neighbours = _neighbours(boxes)
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
            and bands.isdisjoint(range(first.row, last.row))
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


def _neighbours(boxes: Sequence[Box]) -> dict[tuple[int, str], int]:
    """The next box down the same lane, and the next issued one, by place."""
    found: dict[tuple[int, str], int] = {}
    last: dict[tuple[int, str], int] = {}
    for box in sorted(boxes, key=lambda box: box.row):
        for kind in ("any", "issued") if box.kind != "step" else ("any",):
            if (box.lane, kind) in last:
                found[last[box.lane, kind], kind] = box.place
            last[box.lane, kind] = box.place
    return found


def _rows(
    witness: Witness, groups: Sequence[tuple[int, ...]], boxes: Sequence[Box], routes: Sequence[_Route]
) -> tuple[list[Row], float]:
    """The rows, and where they end. There is more room where a number of the cycle stands between two rows."""
    events = witness["computation"]
    bands = {box.row for box in boxes if box.kind == "band"}
    heights: dict[int, float] = defaultdict(float)
    for box in boxes:
        heights[box.row] = max(heights[box.row], box.height)
    badges = {
        route.last.row
        for route in routes
        if route.number and route.way in ("axis", "inner")
        if bands.issuperset(range(route.first.row + 1, route.last.row))  # of which there are often none
    }
    badges |= {route.last.row + 1 for route in routes if route.way == "under"}
    rows: list[Row] = []
    y = HEADING + GAP
    for index, places in enumerate(groups):
        parts = {events[place]["part"] for place in places}
        part = parts.pop() if len(parts) == 1 else None  # a band may begin in one and end in another
        if index:
            y += BADGE_GAP if index in badges else GAP
            y += PART_GAP * (part != rows[-1].part)
        rows.append(Row(places, y, heights[index], part))
        y += heights[index]
    return rows, y + (BADGE_GAP if len(groups) in badges else GAP)


def _parts(rows: Sequence[Row]) -> list[Part]:
    """Where each part of the normal form begins and ends; parts without an event have no place."""
    found: list[Part] = []
    half = (GAP + PART_GAP) / 2
    for row in rows:
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
    boxes: dict[int, Box] = {}
    channels: dict[Port, set[int]] = defaultdict(set)
    """The channels into which the lines of a port run in the row of its box."""
    for route in routes:
        if route.way == "side":
            for key, box in zip(_port_keys(route), (route.first, route.last), strict=True):
                sides[key[:2]].add(key)
                boxes[box.place] = box
                beside = box.lane + (key[1] == "right")
                channels[key].update(range(min(beside, route.channel), max(beside, route.channel) + 1))
    found: dict[Port, float] = {}
    taken: dict[tuple[int, int], list[float]] = defaultdict(list)
    """The heights at which lines run sideways, by row and channel."""
    for (place, _), keys in sorted(sides.items()):
        box = boxes[place]
        # In the middle a barrier has the lines to its neighbours, and an atomic the one to the memory of another rank.
        halves = [[key for key in keys if key[2] == leaving] for leaving in (0, 1)]
        free = box.kind == "barrier" or box.reach is not None
        for start, size, group in ((0.05, 0.4, halves[0]), (0.55, 0.4, halves[1])) if free else ((0.1, 0.8, [*keys]),):
            for index, key in enumerate(sorted(group)):
                wanted = snapped(box.y + box.height * (start + size * (index + 0.5) / len(group)))
                others = [height for channel in channels[key] for height in taken[box.row, channel]]
                if free:
                    others.append(snapped(box.y + box.height / 2))
                found[key] = _apart(wanted, others, box)
                for channel in channels[key]:
                    taken[box.row, channel].append(found[key])
    return found


def _apart(wanted: float, others: Sequence[float], box: Box) -> float:
    """The height at a side of ``box`` that is nearest to the ``wanted`` one and apart from the ``others``.

    Lines of two boxes of a row could lie on one another else, where they come to them through one channel.
    """
    if not others:
        return wanted
    heights = [wanted + sign * move for move in range(int(box.height)) for sign in (1, -1)]
    inside = [height for height in heights if box.y + 2 < height < box.y + box.height - 2]
    for distance in APART:
        for height in inside:
            if min(abs(height - other) for other in others) >= distance:
                return height
    return wanted


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


def _room_for_numbers(routes: Sequence[_Route], badge: float) -> dict[int, float]:
    """The least width of channels with a number of the cycle on or under a barrier."""
    least = {}
    for route in routes:
        if route.number and route.way in ("row", "under"):
            for channel in range(*sorted((route.first.lane + 1, route.last.lane + 1))):
                least[channel] = badge + 8
    return least


# --- Lines -----------------------------------------------------------------------------------------------------------


def _lines(
    routes: Sequence[_Route],
    boxes: Mapping[int, Box],
    bands: Sequence[Row],
    lanes: Sequence[Lane],
    channels: Sequence[Channel],
    ports: dict[Port, float],
    badge: float,
) -> list[Line]:
    found: list[Line] = []
    spots: list[tuple[Line, Point, Point]] = []
    for route in sorted(routes, key=lambda route: route.way == "side"):  # the others' numbers have but one place
        first, last = boxes[route.first.place], boxes[route.last.place]
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
    # No number stands on a band.
    across = [
        Line(-1, -1, "band", ((lanes[0].x, y), (channels[-1].end, y)))
        for band in bands
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
    """From one event of a barrier to another, through the middle or below."""
    if way == "row":
        y = left.y + left.height / 2
        return [(left.x + left.width, y), (right.x, y)]
    y = left.y + left.height + BADGE_GAP / 2
    middle, other = left.x + left.width / 2, right.x + right.width / 2
    return [(middle, left.y + left.height), (middle, y), (other, y), (other, right.y + right.height)]
