"""Verdicts in lines as compilers print them: file, line, column, severity, and what is wrong in a sentence.

What an editor takes to the place of the mistake. Each finding has a line of its own; where there is none, or
robustness is asked alone, the answer has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pgasrob.diagnostics import visible
from pgasrob.render import count_note_json, english, every_count_text, synchronised_text, words
from pgasrob.render.errors import in_one_line
from pgasrob.render.one_race_text import sentence
from pgasrob.render.source_places import located
from pgasrob.render.strict_waits_json import because as stuck_because
from pgasrob.render.synchronised_json import HARMLESS, NOT_ROBUST, is_harmless, left_open, line_of
from pgasrob.render.verdict_json import RaceResult, Result


def brief(result: Result, several: bool = False) -> Iterator[str]:
    """The lines of ``result``; ``several``: each names the node count, because several were checked."""
    file = visible(result["file"])
    on = every_count_text.on(result) if result["nodes"] else ""
    where, wrong = on if several else "", words.not_as_expected(result)
    found, witness = result.get("synchronised"), result["witness"]
    match result["verdict"]:
        case "error":
            yield from (f"{line}{wrong}" for line in _errors(result))
        case "unknown":
            yield f"{file}: unknown{where}: {visible(result['reason'] or 'no reason is known')}{wrong}"
        case "not robust" if not found or line_of(found, "robust"):
            harmless = found is not None and is_harmless(found)
            what = f"note: {HARMLESS}" if harmless else f"error: {NOT_ROBUST}"
            if witness and witness.get("late"):
                event = witness["computation"][words.main_place(witness)]
                place = located(result["file"], event["line"], event["column"])
                yield f"{place}: {what}{where}: {words.diagnosis(witness)}{wrong}"
            else:
                yield f"{file}: {what}{on}{wrong}"
        case _ if wrong or not (found and found["whole"] and found["answer"] == "no"):
            but = f", but {visible(result['reason'] or '')}" if result.get("faults") == "unknown" else ""
            yield f"{file}: {_answer(result, on)}{but}{wrong}"
    yield from count_note_json.brief(result["file"], result.get("count_note"))
    yield from _of_sc_runs(result, where)
    yield from _of_races(result, where)
    if found and result["verdict"] in ("robust", "not robust") and (open_ := left_open(found)):
        reason = visible(synchronised_text.because(result))
        yield f"{file}: warning: {english.listed(open_)} could not be decided{where}{reason and ': '}{reason}"
    if races := result.get("races"):
        from pgasrob.render.races_text import brief as brief_of_races

        said = cast(RaceResult, {key: value for key, value in races.items() if key != "count_note"})
        yield from brief_of_races(said, several)
    if asked := result.get("why"):
        yield from (
            f"{located(result['file'], asked['lines'][0], 1)}: note{where}: {visible(sentence)}"
            for sentence in asked["sentences"]
        )


def _answer(result: Result, on: str) -> str:
    """The answer in short, without what has a line of its own."""
    found = result.get("synchronised")
    robust = found and line_of(found, "robust")
    if not found or (robust and robust["asked"] and not (found["whole"] and found["answer"] == "yes")):
        return f"{result['verdict']}{on}"
    return found["summary"] + on


def _errors(result: Result) -> Iterator[str]:
    file, fault = visible(result["file"]), result["witness"] and result["witness"]["fault"]
    yield from (in_one_line(result["file"], error) for error in result["errors"])
    if fault:
        reason = visible(f"rank {fault['rank']}: {fault['reason']}")
        yield f"{located(result['file'], fault['line'], fault['column'])}: error[{fault['code']}]: {reason}"
    elif not result["errors"]:
        yield f"{file}: error: {visible(result['reason'] or 'no reason is known')}"


def _of_sc_runs(result: Result, where: str) -> Iterator[str]:
    """Illegal calls, failing assertions and deadlocks, which are wrong already in SC runs."""
    for call in result.get("illegal_calls", []):
        place = located(result["file"], call["line"], call["column"])
        severity = synchronised_text.severity(result, "legal")
        yield f"{place}: {severity}: illegal call{where}: {synchronised_text.illegal_call(call)}"
    if run := result["assertion_run"]:
        where = every_count_text.where(result, run) or where
        failing = [event for event in run["computation"] if event["holds"] is False]
        for event in failing[-1:]:
            severity = synchronised_text.severity(result, "assertions")
            assertion = f"assertion of rank {event['rank']} fails{where}: {visible(event['command'])}"
            yield f"{located(result['file'], event['line'], event['column'])}: {severity}: {assertion}"
    if run := result["deadlock_run"]:
        where = every_count_text.where(result, run) or where
        waits = result.get("deadlock_by", [])
        for rank in words.stuck(run["standing"], waits)[:1]:
            at = words.stuck_at(rank)
            severity = synchronised_text.severity(result, "progress")
            standing = visible(words.standing(rank, run["standing"]))
            place = located(result["file"], at["line"], at["column"])
            yield f"{place}: {severity}: deadlock{where}{stuck_because(waits)}: rank {rank['rank']} {standing}"


def _of_races(result: Result, where: str) -> Iterator[str]:
    """The races that matter, and those that do not."""
    consequences = result.get("consequences")
    if not consequences:
        return
    if open_ := synchronised_text.races_left(result):
        yield f"{visible(result['file'])}: note{where}: {visible(open_)}"
    where = synchronised_text.where_they_race(result) or where
    for race in consequences["matters"]:
        first = race["race"]["accesses"][0]
        place = located(result["file"], first["line"], first["column"])
        yield f"{place}: error: race{where}: {synchronised_text.consequential(race)}"
    for harmless in consequences["harmless"]:
        first = harmless["accesses"][0]
        place = located(result["file"], first["line"], first["column"])
        yield f"{place}: note: race{where} that changes nothing: {sentence(harmless)}"
