"""Makes the JSON object of one race: the run that leads to it, and the two accesses that are both next there."""

from __future__ import annotations

from dataclasses import replace

from pgasrob.program.control import Transition
from pgasrob.program.core import steps_of
from pgasrob.render.run_json import Event, Witness, event_to_json, witness_to_json
from pgasrob.render.source_commands import Calls, WrittenCommands
from pgasrob.robustness.verdict import Witness as FoundWitness
from pgasrob.semantics.computation import POPS, EventKind
from pgasrob.semantics.computation import Event as StepOrIssue
from pgasrob.semantics.race import Race as FoundRace
from pgasrob.semantics.race import RaceKind
from pgasrob.semantics.race import RacingAccess as FoundAccess
from pgasrob.semantics.replay import ReplayedEvent


class RacingAccess(Event):
    """One of two accesses that are both next after the run of a race: the event that it would be there.

    ``access`` is what it would do to the ``cell`` (``x@1``), ``atomic`` the type in which it is atomic, null if it is
    plain. ``pending``: it is a step of an operation that has been issued; else its rank stands before the command.
    """

    cell: str
    atomic: str | None
    pending: bool


class Race(Witness):
    """Two accesses that race, in the order of the source, and the run that leads to them; ``lines`` are theirs.

    ``computation`` is an SC run in which some operations stop before their last steps; it ``shows`` "race".
    """

    kind: RaceKind
    lines: list[int]
    accesses: list[RacingAccess]


def race_to_json(race: FoundRace) -> Race:
    """One race, with its run."""
    run = witness_to_json(FoundWitness("race", race.run))
    assert run is not None
    ordered = sorted(race.accesses, key=lambda each: (each.span.line, each.span.column, each.rank))
    accesses = [_access(race, access, run) for access in ordered]
    return {**run, "kind": race.kind, "lines": list(race.lines), "accesses": accesses}


def _access(race: FoundRace, access: FoundAccess, witness: Witness) -> RacingAccess:
    """An access of ``race`` as the event that it would be next: a new command, or the next step of an operation."""
    run, rank = race.run, access.rank
    transition = next(edge for edge in run.instance.automata[rank].transitions if edge.occurrence == access.occurrence)
    own = [replayed for replayed in run.events if replayed.event.rank == rank]
    issued = sum(not replayed.event.is_step for replayed in own)
    pending = access.operation is not None
    number = issued if access.operation is None else access.operation
    of_operation = [replayed for replayed in own if replayed.event.operation == number]
    kind = _next_step(transition, of_operation) if of_operation else transition.command.kind
    issue = of_operation[0] if of_operation else None
    event = StepOrIssue(kind, rank, number, access.cell, access.occurrence)
    texts = WrittenCommands(run.instance)
    text = texts.text(rank, access.occurrence)
    made = ReplayedEvent(event, text, access.span)
    if issue:
        made = replace(made, queue=issue.queue, target=issue.target)
    event_object = event_to_json(run.instance, made, text)
    if not run.instance.program.source.shows_commands:
        event_object["call"] = Calls(run.instance, texts).of(issue.event if issue else event)
        pieces = [each["piece"] for each in witness["computation"]]
        event_object["piece"] = pieces[run.events.index(issue)] if issue else max(pieces, default=-1) + 1
    address = event_object["address"]
    assert address is not None
    return {
        **event_object,
        "access": access.access,
        "cell": f"{address['name']}@{address['rank']}",
        "atomic": access.atomic or None,
        "pending": pending,
    }


def _next_step(transition: Transition, events: list[ReplayedEvent]) -> EventKind:
    """The kind of the next step of the operation of ``events``."""
    happened = {replayed.event.kind for replayed in events}
    return next(step.kind for step in steps_of(transition.form) if step.kind not in happened)


def with_accesses(race: Race) -> Witness:
    """The run of ``race`` with the two accesses added at its end, as it is drawn.

    An edge "race" joins them.
    """
    events: list[Event] = [*race["computation"], *race["accesses"]]
    edges = list(race["happens_before"])
    length = len(race["computation"])
    for place, access in enumerate(race["accesses"], start=length):
        before = [
            earlier
            for earlier, event in enumerate(race["computation"])
            if event["rank"] == access["rank"]
            and (event["operation"] == access["operation"] if access["pending"] else event["event"] not in POPS)
        ]
        if before:
            edges.append({"from": before[-1], "to": place, "relation": "id" if access["pending"] else "po"})
    edges.append({"from": length, "to": length + 1, "relation": "race"})
    run: Witness = race
    return {**run, "computation": events, "happens_before": edges}
