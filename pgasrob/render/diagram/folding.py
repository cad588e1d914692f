"""What of a run is drawn when only its cycle is to be seen; the rest is folded into bands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from pgasrob.render import words
from pgasrob.render.json import Edge, Event, Witness


@dataclass(frozen=True, slots=True)
class Fold:
    """The places of a run, in its order, that each stand for a row: one event, one barrier, or a band of several.

    A run without a cycle has no band, for nothing says which of its events matter less.
    """

    groups: tuple[tuple[int, ...], ...]
    bands: frozenset[tuple[int, ...]]
    kept: frozenset[int]

    def edges(self, witness: Witness) -> Iterator[Edge]:
        """Program order past a band: from each event that is drawn to the next one of its rank."""
        before: dict[int, int] = {}
        last: dict[int, int] = {}
        for place, event in enumerate(witness["computation"]):
            if event["event"] in words.STEPS:
                continue
            rank = event["rank"]
            if place in self.kept:
                if rank in before and last[rank] not in self.kept:
                    yield {"from": before[rank], "to": place, "relation": "po"}
                before[rank] = place
            last[rank] = place


def fold(witness: Witness, cycle_only: bool) -> Fold:
    """How ``witness`` is drawn: all of it, or with ``cycle_only`` what its cycle passes and bands for the rest.

    An operation is drawn with its issue and all its steps, and a barrier with all its ranks.
    """
    events = witness["computation"]
    rows = [tuple(places) for places in words.rows(events)]
    cycle = words.cycle_steps(witness)
    if not cycle_only or not cycle:
        return Fold(tuple(rows), frozenset(), frozenset(range(len(events))))
    operations = {(events[place]["rank"], events[place]["operation"]) for place in cycle}

    def passes(places: tuple[int, ...]) -> bool:
        return any((events[place]["rank"], events[place]["operation"]) in operations for place in places)

    groups: list[tuple[int, ...]] = []
    bands: set[tuple[int, ...]] = set()
    for kept, together in groupby(rows, passes):
        if kept:
            groups += together
        else:
            groups.append(tuple(place for places in together for place in places))
            bands.add(groups[-1])
    return Fold(
        tuple(groups),
        frozenset(bands),
        frozenset(place for places in groups if places not in bands for place in places),
    )


def told(band: tuple[int, ...], events: list[Event]) -> str:
    """What a band stands for: ``steps 1–12: 12 events of ranks 0–3``."""
    numbers = f"steps {band[0] + 1}–{band[-1] + 1}" if len(band) > 1 else f"step {band[0] + 1}"
    return f"{numbers}: {words.count(len(band), 'event')} of {_ranks(sorted({events[p]['rank'] for p in band}))}"


def told_in_full(band: tuple[int, ...], events: list[Event]) -> str:
    """The same, and how many events of which rank."""
    by_rank = Counter(events[place]["rank"] for place in band)
    each = ", ".join(f"rank {rank} {number:,}" for rank, number in sorted(by_rank.items()))
    return f"{told(band, events)} ({each}); the cycle passes none of them"


def _ranks(numbers: list[int]) -> str:
    """``rank 1``, ``ranks 0–3``, ``ranks 0, 2, 5–7``."""
    starts = [number for before, number in pairwise([-2, *numbers]) if number != before + 1]
    pieces = []
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        end = max(number for number in numbers if following is None or number < following)
        pieces += [str(start)] if end == start else [f"{start}–{end}"] if end > start + 1 else [f"{start}, {end}"]
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(pieces)}"
