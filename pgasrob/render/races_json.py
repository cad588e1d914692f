"""Makes the JSON object of an answer about races, from which all outputs about races are made.

It is made like that of a verdict (`render.verdict_json`): each race holds the run that leads to it, as a witness does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from pgasrob.program.core import steps_of
from pgasrob.races.race_verdict import Race as FoundRace
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.render.run_json import Event, Witness, event_to_json, witness_to_json
from pgasrob.render.shared_json import SCHEMA, assumptions_to_json, errors_to_json, stats_to_json, unicode_name
from pgasrob.render.source_commands import Calls, WrittenCommands
from pgasrob.render.verdict_json import Race, RaceResult, RacingAccess, Result, checked_to_json, to_json
from pgasrob.robustness.reasons import NotAsked
from pgasrob.robustness.verdict import Witness as FoundWitness
from pgasrob.semantics.computation import POPS, EventKind
from pgasrob.semantics.computation import Event as StepOrIssue
from pgasrob.semantics.replay import ReplayedEvent

if TYPE_CHECKING:
    from pgasrob.batch.job import Checked
    from pgasrob.program.control import Transition
    from pgasrob.races.race_verdict import RacingAccess as FoundAccess

NO_RACES, ONE_PAIR = "none", "1 pair"


def is_about_races(result: Result | RaceResult) -> TypeGuard[RaceResult]:
    """Whether ``result`` is an answer about races, and not a verdict on robustness."""
    return isinstance(result.get("races"), list)


def races_to_json(verdict: RaceVerdict, every: bool = False) -> RaceResult:
    """``verdict`` as an object that `json.dumps` can write; ``every``: all races were asked for."""
    reason = verdict.reason
    found: RaceResult = {
        "schema": SCHEMA,
        "file": unicode_name(verdict.file),
        "program": None if verdict.program is None else unicode_name(verdict.program),
        "nodes": verdict.nodes,
        "engine": verdict.engine,
        "verdict": verdict.verdict,
        "reason": None if reason is None else str(reason),
        "reason_code": None if reason is None else reason.code,
        "limit": None if reason is None else reason.option,
        "strict": verdict.strict,
        "all": every,
        "races": [race_to_json(race) for race in verdict.races],
        "failed_polls": verdict.reading.failed_polls,
        "conflicts": verdict.reading.conflicts,
        "assumptions": assumptions_to_json(verdict.assumptions),
        "stats": stats_to_json(verdict.stats),
        "errors": errors_to_json(verdict.errors, verdict.file),
        "robustness": None if verdict.robustness is None else to_json(verdict.robustness),
    }
    if verdict.fault:
        found["witness"] = witness_to_json(verdict.fault)
    if verdict.alike:
        found["alike"] = {"elements": verdict.alike[0], "shown": verdict.alike[1]}
    return found


def checked_races(checked: Checked, strict: bool = False, every: bool = False) -> RaceResult:
    """The answer of ``checked`` about races, with its verdict on robustness if that was asked, and the comparison with
    the header if there was one."""
    robustness = checked.verdict
    found = checked.races
    races = (
        found
        if isinstance(found, RaceVerdict)
        else RaceVerdict(
            robustness.file,
            robustness.program,
            robustness.nodes,
            "races",
            "error" if robustness.verdict == "error" else "unknown",
            reason=robustness.reason,
            strict=strict,
            reading=robustness.reading,
            errors=robustness.errors,
        )
    )
    asked = found is not None and not isinstance(robustness.reason, NotAsked)
    result = races_to_json(replace(races, robustness=robustness if asked else None), every)
    if robustness.units:
        result["units"] = list(map(unicode_name, robustness.units))
    if checked.compared:
        result["errors"] += errors_to_json(checked.header_errors, checked.file)
        result["expected"] = checked.expected_races
        result["as_expected"] = counted(result) == checked.expected_races
    return result


def checked_with_races(checked: Checked) -> Result:
    """The verdict of ``checked``, with its answer about races."""
    result = checked_to_json(checked)
    if checked.races is not None:
        races = checked_races(replace(checked, compared=False))
        races.pop("robustness", None)
        result["races"] = races
    return result


def counted(result: RaceResult) -> str:
    """The number of racing pairs as a header gives it; "unknown" or "error" where there is no number."""
    match result["verdict"]:
        case "race" if result["reason"] is None:
            return number_of_pairs(result)
        case "no race":
            return NO_RACES
        case "error":
            return "error"
    return "unknown"


def number_of_pairs(result: RaceResult) -> str:
    """How many pairs are listed."""
    count = len(result["races"])
    return ONE_PAIR if count == 1 else f"{count} pairs" if count else NO_RACES


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
