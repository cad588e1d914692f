"""Verdicts in lines as compilers print them: file, line, column, and what is wrong in a sentence.

What an editor takes to the place of the mistake. A failing assertion and a deadlock have lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pgasrob.diagnostics import visible
from pgasrob.render import count_note_json, every_count_text, words
from pgasrob.render.errors import in_one_line
from pgasrob.render.source_places import located
from pgasrob.render.verdict_json import RaceResult, Result


def brief(result: Result, several: bool = False) -> Iterator[str]:
    """The lines of ``result``; ``several``: each names the node count, because several were checked."""
    file = visible(result["file"])
    on = every_count_text.on(result) if result["nodes"] else ""
    verdict = result["verdict"]
    where, wrong = on if several else "", words.not_as_expected(result)
    witness = result["witness"]
    match verdict:
        case "robust":
            but = f", but {visible(result['reason'] or '')}" if result.get("faults") == "unknown" else ""
            yield f"{file}: robust{on}{but}{wrong}"
        case "not robust":
            if witness and witness.get("late"):
                event = witness["computation"][words.main_place(witness)]
                place = located(result["file"], event["line"], event["column"])
                yield f"{place}: not robust{where}: {words.diagnosis(witness)}{wrong}"
            else:
                yield f"{file}: not robust{on}{wrong}"
        case "unknown":
            yield f"{file}: unknown{where}: {visible(result['reason'] or 'no reason is known')}{wrong}"
        case "error":
            yield from (f"{line}{wrong}" for line in _errors(result))
    yield from count_note_json.brief(result["file"], result.get("count_note"))
    yield from _of_sc_runs(result, where)
    if races := result.get("races"):
        from pgasrob.render.races_text import brief as brief_of_races

        said = cast(RaceResult, {key: value for key, value in races.items() if key != "count_note"})
        yield from brief_of_races(said, several)
    if asked := result.get("why"):
        yield from (
            f"{located(result['file'], asked['lines'][0], 1)}: note{where}: {visible(sentence)}"
            for sentence in asked["sentences"]
        )


def _errors(result: Result) -> Iterator[str]:
    file, fault = visible(result["file"]), result["witness"] and result["witness"]["fault"]
    yield from (in_one_line(result["file"], error) for error in result["errors"])
    if fault:
        reason = visible(f"rank {fault['rank']}: {fault['reason']}")
        yield f"{located(result['file'], fault['line'], fault['column'])}: error[{fault['code']}]: {reason}"
    elif not result["errors"]:
        yield f"{file}: error: {visible(result['reason'] or 'no reason is known')}"


def _of_sc_runs(result: Result, where: str) -> Iterator[str]:
    """Failing assertions and deadlocks, which are wrong already in SC runs."""
    if run := result["assertion_run"]:
        where = every_count_text.where(result, run) or where
        failing = [event for event in run["computation"] if event["holds"] is False]
        for event in failing[-1:]:
            assertion = f"of rank {event['rank']} fails{where}: {visible(event['command'])}"
            yield f"{located(result['file'], event['line'], event['column'])}: assertion {assertion}"
    if run := result["deadlock_run"]:
        where = every_count_text.where(result, run) or where
        for rank in words.stuck(run["standing"])[:1]:
            at = rank["next"][0]
            standing = visible(words.standing(rank, run["standing"]))
            place = located(result["file"], at["line"], at["column"])
            yield f"{place}: deadlock{where}: rank {rank['rank']} {standing}"
