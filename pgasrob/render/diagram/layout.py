"""The layout of a diagram: which ranks have a lane, what stands in which row, and then where (`routes`)."""

from __future__ import annotations

from pgasrob.render import words
from pgasrob.render.diagram.boxes import bands, boxes, ends
from pgasrob.render.diagram.folding import Fold, fold
from pgasrob.render.diagram.model import AXIS, Diagram, width_of
from pgasrob.render.diagram.routes import routed
from pgasrob.render.diagram.rows import rows
from pgasrob.render.run_json import Witness

MOST_LANES = 8
"""Ranks up to which those that take no part have a lane too."""


def layout(witness: Witness, cycle_only: bool = False, room: int | None = None) -> Diagram:
    """The diagram of ``witness``; ``cycle_only``: what its cycle does not pass is folded into bands. ``room``: the
    characters on a line of a box; None: the fewer lanes, the more."""
    folded = fold(witness, cycle_only)
    ranks = ranks_of(witness, folded)
    lanes = {rank: lane for lane, rank in enumerate(ranks)}
    groups = rows(witness, folded, lanes)
    found = boxes(witness, groups, folded, lanes, room)
    folds = list(bands(witness, groups, folded))
    endings = list(ends(witness, len(groups), lanes))
    widths = [max(width_of("rank 00"), AXIS + width_of(f"rank {rank}")) for rank in ranks]
    for box in found + folds + endings:
        widths[box.lane] = max(widths[box.lane], box.x + box.width)
    return routed(witness, folded, ranks, groups, found, folds, endings, widths)


def ranks_of(witness: Witness, folded: Fold) -> list[int]:
    """The ranks that have a lane: all of a few, else those that have an event or in whose memory something happens."""
    if witness["nodes"] <= MOST_LANES and not folded.bands:
        return list(range(witness["nodes"]))
    events = [witness["computation"][place] for place in folded.kept]
    found = {event["rank"] for event in events} | {event["address"]["rank"] for event in events if event["address"]}
    if witness["fault"]:
        found.add(witness["fault"]["rank"])
    if words.stands(witness):
        found |= {each["rank"] for each in witness["standing"] if not each["ended"]}
    return sorted(found or {0})
