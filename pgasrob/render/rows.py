"""The rows of a table of a run: one for an operation, however many cells it has, and one for folded events.

A barrier is a row of all ranks, with what its calls do before where that comes right before it. Of a C program, the
events of one call of one rank are a row while nothing comes between them; of a `.pgas` text every event has its
own, for commands and steps are what it is about. Rows in a row that have nothing to do with the cycle are folded into
one. What lies on the cycle keeps its own number: a row has at most one event on it, and an access that is shown by
which the cycle goes from command to command shares its row with no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.render import summary, words
from pgasrob.render.run_json import Event, Witness

FEWEST_FOLDED = 2
"""Rows that are worth folding."""
SHORT_WAY = 16
"""Rows up to which all of the way to a race is shown, as nothing says which of them it needs."""


@dataclass(frozen=True, slots=True)
class Row:
    """The events at ``places``, which are consecutive, in one row; ``folded``: they are counted and no more."""

    places: range
    folded: bool = False

    @property
    def number(self) -> str:
        """The step numbers of the row: ``3``, ``3-10``."""
        first, last = self.places[0] + 1, self.places[-1] + 1
        return str(first) if first == last else f"{first}-{last}"


def every_event(witness: Witness) -> list[Row]:
    """A row for each event, and for each barrier."""
    return [Row(places) for places in words.rows(witness["computation"])]


def in_short(witness: Witness) -> list[Row]:
    """A row for each operation; events that neither the cycle nor the race needs are folded."""
    rows = _with_barriers(list(_by_call(witness)), witness)
    long_way = len(rows) > SHORT_WAY and bool(words.cycle_steps(witness))
    return list(_folded(rows, witness)) if witness["cycle"] or long_way else rows


def _by_call(witness: Witness) -> Iterator[Row]:
    """The rows of :func:`every_event`, those of one call together."""
    events = witness["computation"]
    on_cycle = words.cycle_steps(witness)
    ends = [(edge["from"], edge["to"]) for edge in witness["cycle"] or () if edge["relation"] == "cf"]
    in_conflict = {place for both in ends for place in both if _is_shown_access(events[place])}
    row_of_issue: dict[tuple[int, int], int] = {}  # by rank and operation: the first place of its row

    def is_step(place: int) -> bool:
        return events[place]["event"] in words.STEPS

    def fits(place: int, row: range) -> bool:
        """Whether the event at ``place`` continues the call of ``row``."""
        before, event = events[row[0]], events[place]
        if not words.is_c(event) or "barrier" in (before["event"], event["event"]) or "access" in event:
            return False
        if _call(before) != _call(event) or before["part"] != event["part"]:
            return False
        if is_step(place):
            operation = row_of_issue[event["rank"], event["operation"]]
            if is_step(row[0]):  # a row of steps: all do the same for the same call
                first = row_of_issue[before["rank"], before["operation"]]
                if operation != first or _done(place, events) != _done(row[0], events):
                    return False
            elif operation != row[0]:
                return False
        elif is_step(row[0]):
            return False
        marks, exact = marked + (place in on_cycle), alone or place in in_conflict
        return marks < 2 and not (exact and accesses + _is_shown_access(event) > 1)

    row, marked, accesses, alone = range(0), 0, 0, False
    for places in words.rows(events):
        if row and len(places) == 1 and fits(places[0], row):
            row = range(row[0], places[-1] + 1)
        else:
            if row:
                yield Row(row)
            row, marked, accesses, alone = range(places[0], places[-1] + 1), 0, 0, False
        marked += sum(place in on_cycle for place in places)
        accesses += sum(_is_shown_access(events[place]) for place in places)
        alone = alone or any(place in in_conflict for place in places)
        for place in places:
            if not is_step(place):
                row_of_issue[events[place]["rank"], events[place]["operation"]] = row[0]
    if row:
        yield Row(row)


def _call(event: Event) -> tuple[int, int]:
    return event["rank"], event["piece"]


def _is_shown_access(event: Event) -> bool:
    return event["address"] is not None and not words.is_hidden(event["address"])


def _done(place: int, events: list[Event]) -> str:
    """What a step does: the steps of a row all do the same."""
    return words.step_name(place, events).rstrip(":")


def _with_barriers(rows: list[Row], witness: Witness) -> list[Row]:
    """``rows``, with each barrier joined to rows before it that belong to its call and show nothing."""
    events, on_cycle = witness["computation"], words.cycle_steps(witness)
    kept: list[Row] = []
    for row in rows:
        of_barrier = [events[place] for place in row.places]
        start = row.places[0]
        if of_barrier[0]["event"] == "barrier" and words.is_c(of_barrier[0]):
            calls = set(map(_call, of_barrier))
            while kept and (first := kept[-1].places)[-1] == start - 1 and on_cycle.isdisjoint(first):
                before = [events[place] for place in first]
                same_part = before[0]["part"] == of_barrier[0]["part"]
                is_own = all(_call(event) in calls and event["event"] not in words.STEPS for event in before)
                if not (same_part and is_own) or summary.effects(before):
                    break
                start = kept.pop().places[0]
        kept.append(Row(range(start, row.places[-1] + 1)))
    return kept


def _folded(rows: list[Row], witness: Witness) -> Iterator[Row]:
    events, shown = witness["computation"], _speaks_of(witness)
    waiting: list[Row] = []

    def fold() -> Iterator[Row]:
        if len(waiting) < FEWEST_FOLDED:
            yield from waiting
        else:
            yield Row(range(waiting[0].places[0], waiting[-1].places[-1] + 1), folded=True)
        waiting.clear()

    for row in rows:
        if waiting and events[waiting[0].places[0]]["part"] != events[row.places[0]]["part"]:
            yield from fold()
        if shown.isdisjoint(row.places):
            waiting.append(row)
        else:
            yield from fold()
            yield row
    yield from fold()


def _speaks_of(witness: Witness) -> set[int]:
    """The places that are always shown: those on the cycle, with the issues of their steps; those of the diagnosis, and
    of the effect; failing assertions."""
    events = witness["computation"]
    found = words.shown_steps(witness)
    for late in witness.get("late", []):
        found |= {late["issue"], late["step"], late["ahead"], late["next"], *late["between"]}
    found |= {words.issue_of(place, events) for place in found}
    return found | {place for place, event in enumerate(events) if event["holds"] is False}
