"""Makes the JSON object of an answer about races, from which all outputs about races are made.

It is made like that of a verdict (`render.verdict_json`): each race holds the run that leads to it, as a witness does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.render.count_note_json import count_note_to_json
from pgasrob.render.one_race_json import race_to_json
from pgasrob.render.run_json import witness_to_json
from pgasrob.render.shared_json import SCHEMA, assumptions_to_json, errors_to_json, stats_to_json, unicode_name
from pgasrob.render.verdict_json import RaceResult, Result, checked_to_json, to_json
from pgasrob.robustness.reasons import NotAsked

if TYPE_CHECKING:
    from pgasrob.batch.job import Checked

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
        "waits": verdict.reading.waits,
        "assumptions": assumptions_to_json(verdict.assumptions),
        "stats": stats_to_json(verdict.stats),
        "errors": errors_to_json(verdict.errors, verdict.file),
        "robustness": None if verdict.robustness is None else to_json(verdict.robustness),
    }
    if verdict.fault:
        found["witness"] = witness_to_json(verdict.fault)
    if verdict.alike:
        found["alike"] = {"elements": verdict.alike[0], "shown": verdict.alike[1]}
    if verdict.count_note:
        found["count_note"] = count_note_to_json(verdict.count_note)
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
