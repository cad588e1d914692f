"""What events say to each other in a run in which accesses take effect one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pgasrob.models.model import Event, Pairs


def communication(events: Sequence[Event], order: Sequence[int]) -> dict[str, Pairs]:
    """rf, mo and rb among ``events`` that take effect in ``order``: a read takes from the latest write to its location,
    and comes before the later ones. mo has its immediate pairs. Initial writes are events, too, and come first."""
    writes: dict[int, list[int]] = {}
    read: list[tuple[int, int, int]] = []  # event, location, how many writes there had been
    for number in order:
        event = events[number]
        if event.location is None:
            continue
        there = writes.setdefault(event.location, [])
        if event.reads is not None:
            read.append((number, event.location, len(there)))
        if event.writes is not None:
            there.append(number)
    return {
        "rf": frozenset((writes[location][count - 1], number) for number, location, count in read if count),
        "mo": frozenset(pair for each in writes.values() for pair in pairwise(each)),
        "rb": frozenset(
            (number, later) for number, location, count in read for later in writes[location][count:] if later != number
        ),
    }
