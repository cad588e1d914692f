"""Puts the events of a run into the rows of its diagram; events that are not ordered may share a row.

Read row by row, a diagram is a run again, with the same happens-before relation. An event rises as far as it can
without passing an event of its rank or an access to its cell, a barrier, a band, or the beginning of a part of the
normal form. So a step stays after all that its rank did before it, and the accesses to each cell keep their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pgasrob.render import words
from pgasrob.render.diagram.folding import Fold, beside
from pgasrob.render.diagram.model import edges
from pgasrob.render.run_json import Event, Witness


def lane_of(event: Event, lanes: Mapping[int, int]) -> int:
    """The lane of ``event``: that of its rank, or, for a step, that of the memory on which it acts."""
    return lanes[beside(event) if event["event"] in words.STEPS else event["rank"]]


def rows(witness: Witness, folded: Fold, lanes: Mapping[int, int]) -> list[tuple[int, ...]]:
    """The places of each row, from the top: of one event or several, of one barrier, or of one band."""
    events = witness["computation"]
    across = _across(witness, folded, lanes)
    found: list[list[int]] = []
    taken: list[int] = []
    """For each row the lanes that are taken, as bits."""
    below: dict[object, int] = defaultdict(int)
    """The first row below all events of a rank, and below all accesses to a cell."""
    floor, part = 0, events[0]["part"] if events else None
    for places in folded.groups:
        first = events[places[0]]
        if first["part"] != part:
            floor, part = len(found), first["part"]
        if places in folded.bands or first["event"] == "barrier":
            found.append(list(places))
            taken.append(-1)
            floor = len(found)
            continue
        (place,) = places
        address = first["address"]
        passed = (first["rank"], (address["rank"], address["index"]) if address else first["rank"])
        row = max(floor, *(below[each] for each in passed))
        while row < len(found) and taken[row] & across[place]:
            row += 1
        if row == len(found):
            found.append([])
            taken.append(0)
        found[row].append(place)
        taken[row] |= across[place]
        below.update(dict.fromkeys(passed, row + 1))
    return list(map(tuple, found))


def _across(witness: Witness, folded: Fold, lanes: Mapping[int, int]) -> dict[int, int]:
    """For each event the lanes in which its row has no other event, as bits.

    Its own, that of the memory on which it acts at once, and those that a line to it has to cross.
    """
    events = witness["computation"]
    reach: dict[int, set[int]] = {}
    for place in folded.kept:
        event = events[place]
        reach[place] = {lane_of(event, lanes), lanes[beside(event)]}
    for edge, _ in edges(witness, folded):
        earlier, later = sorted((edge["from"], edge["to"]))
        start, end = (lane_of(events[place], lanes) for place in (earlier, later))
        if start != end:
            reach[later].add(start + 1 if start < end else start - 1)
    return {place: (2 << max(met)) - (1 << min(met)) for place, met in reach.items()}
