"""Says of the runs of a violation what is to be seen in which: the one that ends in the effect, and the violation that
this goes on from, or another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pgasrob.render.english import listed

if TYPE_CHECKING:
    from pgasrob.render.effect_json import EffectDetail, EffectValue
    from pgasrob.render.run_json import Event, Witness

LIKE_NONE = "A run on the network that no SC run looks like"
OTHER = "Another run on the network, which no SC run looks like: the one that the first sentence is about"
ENDS: dict[str, str] = {
    "ended": "with all ranks at their ends",
    "exited": "with a rank that ends the run of all",
    "deadlock": "in a deadlock",
    "stopped": "with ranks that are stopped before false assumes",
    "fault": "before a command that has no value",
}


def title_runs(violation: Witness | None, effect_run: Witness | None, detail: EffectDetail | None) -> None:
    """Give the runs of a violation their titles, and mark in ``effect_run`` where ``detail`` is to be seen.

    Where it goes on from the ``violation``, it has the cycle of that, and what is known of its events and of SC runs.
    """
    if violation is None or effect_run is None or detail is None:
        return
    length = len(violation["computation"]) if _goes_on(violation, effect_run) else None
    places = sorted(set(_places(effect_run, detail)))
    effect_run["effect"] = {"places": places, "ending": detail["ending"], "beyond": length}
    seen = clause(detail)
    if _is_in(violation, effect_run, detail):
        violation["effect"] = effect_run["effect"]
        violation["title"] = effect_run["title"] = f"{LIKE_NONE}, in which {seen}"
    elif length is not None:
        for event, known in zip(effect_run["computation"], violation["computation"], strict=False):
            event["part"], event["marks"] = known["part"], known["marks"]
        effect_run["cycle"], effect_run["cycle_type"] = violation["cycle"], violation["cycle_type"]
        effect_run["late"], effect_run["sequential"] = violation.get("late", []), violation["sequential"]
        effect_run["title"] = f"{LIKE_NONE}, in which {seen}"
    else:
        effect_run["title"], violation["title"] = f"A run on the network in which {seen}", OTHER


def _is_in(violation: Witness, effect_run: Witness, detail: EffectDetail) -> bool:
    """Whether the effect is to be seen in the ``violation`` already: they are one run, or values that are read and
    assertions make it, and come there."""
    places, length = effect_run["effect"]["places"], effect_run["effect"]["beyond"]
    if length is None:
        return False
    by_end = detail["place"] or detail["ending"] or detail["failed"] is not None
    in_events = not by_end and all(value["line"] is not None for value in detail["values"])
    return length == len(effect_run["computation"]) or (in_events and bool(places) and places[-1] < length)


def _goes_on(violation: Witness, effect_run: Witness) -> bool:
    return all(
        (one["rank"], one["operation"], one["event"], one["address"], one["line"])
        == (other["rank"], other["operation"], other["event"], other["address"], other["line"])
        for one, other in zip(violation["computation"], effect_run["computation"], strict=False)
    ) and len(violation["computation"]) <= len(effect_run["computation"])


def clause(detail: EffectDetail) -> str:
    """What a run on the network does and no SC run: ``the assertion of rank 0 in line 9 fails``."""
    if assertion := detail["assertion"]:
        return f"the assertion of rank {assertion['rank']} in line {assertion['line']} fails"
    if place := detail["place"]:
        way = "ends behind" if place.get("ended") else "comes to"
        return f"rank {place['rank']} {way} line {place['line']}"
    pieces = [_value(value) for value in detail["values"]]
    if detail["failed"] is not None:
        pieces += [
            f"the assertion of rank {each['rank']} in line {each['line']} fails" for each in detail["failed"]
        ] or ["no assertion fails"]
    if detail["ending"] is not None:
        pieces.append(f"the end comes {ENDS[detail['ending']]}")
    return listed(pieces)


def _value(value: EffectValue) -> str:
    if value["line"] is None:
        return f"{of_rank(value['name'])} ends as {value['value']}"
    return f"rank {value['rank']} {reading(value, 's')}"


def reading(value: EffectValue, ending: str = "") -> str:
    """What a command reads, or what it receives within a library; ``ending``: of the verb."""
    if is_unnamed(value):
        return f"receive{ending} {value['value']} in line {value['line']}"
    name = of_rank(value["name"], value["rank"])
    return f"read{ending} {value['value']} from {name} in line {value['line']}"


def _places(run: Witness, detail: EffectDetail) -> Iterator[int]:
    """The events in which ``detail`` is to be seen, the last of their kind."""
    events = run["computation"]

    def last(*wanted: bool) -> Iterator[int]:
        yield from [place for place, each in enumerate(wanted) if each][-1:]

    for failing in (detail["assertion"], *(detail["failed"] or ())):
        if failing is not None:
            yield from last(
                *(_is_at(event, failing["rank"], failing["line"]) and not event["holds"] for event in events)
            )
    if place := detail["place"]:
        yield from last(*(event["rank"] == place["rank"] for event in events))
    for value in detail["values"]:
        if value["line"] is None:
            yield from last(*(_sets(event, value["name"]) for event in events))
        else:
            yield from last(
                *(
                    _is_at(event, value["rank"], value["line"])
                    and event["read"] is not None
                    and (address := event["address"]) is not None
                    and f"{address['name']}@{address['rank']}" == value["name"]
                    for event in events
                )
            )


def _is_at(event: Event, rank: int, line: int) -> bool:
    return event["rank"] == rank and event["line"] == line


def _sets(event: Event, name: str) -> bool:
    """Whether the event changes the cell or the register ``name``."""
    written, register = event["written"], event["register"]
    return bool((written and written["cell"] == name) or (register and f"{register['name']}@{event['rank']}" == name))


def is_unnamed(value: EffectValue) -> bool:
    """Whether it is within a library, such as a message."""
    return bool(value.get("made_up")) and value["name"].rpartition("@")[0].isidentifier()


def of_rank(name: str, own: int | None = None) -> str:
    """``x of rank 1`` for ``x@1``; ``x`` where that is the ``own`` rank of who reads it."""
    cell, at, rank = name.rpartition("@")
    return (cell or rank) if not at or rank == str(own) else f"{cell} of rank {rank}"
