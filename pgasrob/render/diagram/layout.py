"""The layout of a diagram: which ranks have a lane, what stands in which row, and then where (`routes`)."""

from __future__ import annotations

from pgasrob.render import words
from pgasrob.render.diagram.boxes import boxes, ends
from pgasrob.render.diagram.model import AXIS, Diagram, width_of
from pgasrob.render.diagram.routes import routed
from pgasrob.render.json import Witness

MOST_LANES = 8
"""Ranks up to which those that take no part have a lane too."""


def layout(witness: Witness) -> Diagram:
    """The diagram of ``witness``."""
    events = witness["computation"]
    ranks = _ranks(witness)
    lane_of = {rank: lane for lane, rank in enumerate(ranks)}
    rows = [tuple(places) for places in words.rows(events)]
    found = list(boxes(witness, rows, lane_of))
    endings = list(ends(witness, len(rows), lane_of))
    widths = [max(width_of("rank 00"), AXIS + width_of(f"rank {rank}")) for rank in ranks]
    for box in found + endings:
        widths[box.lane] = max(widths[box.lane], box.x + box.width)
    return routed(witness, ranks, rows, found, endings, widths)


def _ranks(witness: Witness) -> list[int]:
    """The ranks that have a lane: all of a few, else those that have an event or in whose memory something happens."""
    if witness["nodes"] <= MOST_LANES:
        return list(range(witness["nodes"]))
    events = witness["computation"]
    found = {event["rank"] for event in events} | {event["address"]["rank"] for event in events if event["address"]}
    if witness["fault"]:
        found.add(witness["fault"]["rank"])
    if words.stands(witness):
        found |= {each["rank"] for each in witness["standing"] if not each["ended"]}
    return sorted(found or {0})
