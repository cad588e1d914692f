"""Chooses the events of a run to draw when only its cycle is asked for, and folds all others into bands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgasrob.render import english, words
from pgasrob.render.process_numbers import home_of
from pgasrob.render.run_json import Edge, Event, Witness

MOST_STRETCHES = 4
"""Stretches of steps that a band names one by one."""


@dataclass(frozen=True, slots=True)
class Fold:
    """How the events of a run are grouped: each of ``groups`` is one event, one barrier, or a band of several. ``kept``
    are the events to draw: all but those in ``bands``, and those of a barrier of which the cycle needs no more.

    The order of ``groups`` is one in which the run could have happened, with as few bands as possible. A run without a
    cycle has no band, for all of its events may matter.
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


def beside(event: Event) -> int:
    """The rank in whose lane the memory is on which ``event`` acts: where threads share it, its own one or the first
    thread's; its own rank where it acts on none."""
    address = event["address"]
    return event["rank"] if not address or address["rank"] == home_of(event["rank"]) else address["rank"]


def fold(witness: Witness, cycle_only: bool) -> Fold:
    """Group the events of ``witness``: each by itself, or with ``cycle_only`` those that its cycle passes, and bands
    for the rest.

    An operation is drawn with its issue and all its steps, and a barrier with all ranks that have another event there
    or take part in the cycle.
    """
    events = witness["computation"]
    rows = [tuple(places) for places in words.rows(events)]
    cycle = words.shown_steps(witness)
    if not cycle_only or not cycle:
        return Fold(tuple(rows), frozenset(), frozenset(range(len(events))))
    operations = {(events[place]["rank"], events[place]["operation"]) for place in cycle}

    def passes(places: tuple[int, ...]) -> bool:
        return any((events[place]["rank"], events[place]["operation"]) in operations for place in places)

    passed = frozenset(place for places in rows if passes(places) for place in places)
    ranks = {events[place]["rank"] for place in cycle}
    for place in passed:
        if events[place]["event"] != "barrier":
            ranks |= {events[place]["rank"], beside(events[place])}
    kept = frozenset(place for place in passed if events[place]["rank"] in ranks)
    layers: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for layer, places in zip(_layers(rows, events, passed), rows, strict=True):
        layers[layer].append(places)
    bands = {
        layer: tuple(place for places in together for place in places)
        for layer, together in layers.items()
        if layer % 2 == 0
    }
    groups = [group for layer in sorted(layers) for group in ([bands[layer]] if layer in bands else layers[layer])]
    return Fold(tuple(groups), frozenset(bands.values()), kept)


def _layers(rows: Sequence[tuple[int, ...]], events: Sequence[Event], kept: frozenset[int]) -> Iterator[int]:
    """For each row the number of its layer: even for bands, odd for what is drawn, and as small as possible.

    Rows keep the order that they have in a rank, at a cell, around a barrier and from part to part, so a run in
    the order of layers has the same happens-before relation.
    """
    reached: dict[object, int] = defaultdict(int)
    floor, highest, part = 0, 0, None
    for places in rows:
        first = events[places[0]]
        address = first["address"]
        if first["part"] != part or first["event"] == "barrier":
            floor, part = highest, first["part"]
        passed = (first["rank"], (address["rank"], address["index"]) if address else first["rank"])
        layer = max(floor, *(reached[each] for each in passed))
        layer += layer % 2 != (places[0] in kept)
        reached.update(dict.fromkeys(passed, layer))
        highest = max(highest, layer)
        if first["event"] == "barrier":
            floor = layer
        yield layer


def band_text(band: tuple[int, ...], events: Sequence[Event]) -> str:
    """The text of a band: ``steps 1–12: 12 events of ranks 0–3``."""
    ranks = sorted({events[place]["rank"] for place in band})
    steps = _stretches([place + 1 for place in band])
    if len(steps) > MOST_STRETCHES:
        steps = [f"{band[0] + 1}–{band[-1] + 1} (not all)"]
    whose = _several("rank", ranks, _stretches(ranks))
    return f"{_several('step', band, steps)}: {english.count(len(band), 'event')} of {whose}"


def band_in_full(band: tuple[int, ...], events: Sequence[Event]) -> str:
    """The full text of a band, with the number of events of each rank."""
    by_rank = Counter(events[place]["rank"] for place in band)
    each = ", ".join(f"rank {rank} {number:,}" for rank, number in sorted(by_rank.items()))
    racing = any("access" in event for event in events)
    return f"{band_text(band, events)} ({each}); the {'race is about' if racing else 'cycle passes'} none of them"


def _several(thing: str, those: Sequence[int], stretches: Sequence[str]) -> str:
    return f"{thing}{'s' * (len(those) > 1)} {', '.join(stretches)}"


def _stretches(numbers: Sequence[int]) -> list[str]:
    """``0–3`` or ``5`` for each stretch of ``numbers``, which are sorted."""
    starts = [index for index, number in enumerate(numbers) if not index or number != numbers[index - 1] + 1]
    ends = [*(start - 1 for start in starts[1:]), len(numbers) - 1]
    pairs = [(numbers[start], numbers[end]) for start, end in zip(starts, ends, strict=True)]
    return [str(start) if start == end else f"{start}–{end}" for start, end in pairs]
