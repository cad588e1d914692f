"""The sentence of each finding: the same in every format, at most 300 characters, as compilers word theirs.

Where a finding has more to say than that, the steps of its cycle, the ranks that are stuck or the two accesses of a
race are in places of their own beside it (`sarif`), and so the longest wording that has room is taken.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from pgasrob.diagnostics import visible
from pgasrob.program.statements import Line
from pgasrob.render import english, synchronised_text, words
from pgasrob.render.illegal_calls_json import IllegalCall
from pgasrob.render.one_race_json import Race
from pgasrob.render.one_race_text import lines_race
from pgasrob.render.one_race_text import sentence as race_sentence
from pgasrob.render.run_json import Fault, Witness
from pgasrob.render.strict_waits_json import because as stuck_because
from pgasrob.render.synchronised_json import HARMLESS, NOT_ROBUST, ConsequentialRace, is_harmless
from pgasrob.render.verdict_json import Result

LONGEST = 300
"""Characters of a sentence."""
A_LINE = re.compile(r"\b(?:in|to|before|behind) line (?=\d+\b(?!:))")
"""Where a sentence names a line without its file."""
NO_SC_RUN = "a run on the network looks like no sequentially consistent run"


def fitting(*wordings: str) -> str:
    """The first of ``wordings`` that is no longer than :data:`LONGEST`; else the last, cut between two words."""
    text = ""
    for each in wordings:
        text = visible(each)
        if len(text) <= LONGEST:
            return text
    return f"{text[: LONGEST - 4].rpartition(' ')[0]} ..."


def violation(result: Result) -> str:
    """That a program is not robust, and by which access and operation."""
    found, run = result.get("synchronised"), result["witness"]
    what = HARMLESS if found and is_harmless(found) else NOT_ROBUST
    what += english.on_nodes(run["nodes"] if run else result["nodes"])
    if run and (why := words.diagnosis(run)):
        return fitting(f"{what}: {_with_first_file(why, result, run)}")
    reason = f"; {result['reason']}" if result["reason"] and not run else ""
    return fitting(f"{what}: {NO_SC_RUN}{reason}")


def _with_first_file(why: str, result: Result, run: Witness) -> str:
    """``why`` with the name of the program's first file at the lines of that file, if the place of the finding is in
    another one, where a reader would look for them."""
    if not isinstance(run["computation"][words.main_place(run)]["line"], Line):
        return why
    name = visible(PurePath(result["file"]).name)
    return A_LINE.sub(lambda found: f"{found[0]}{name}:", why)


def fault(fault: Fault) -> str:
    """Which rank comes to a command that has no value, and why."""
    return fitting(f"rank {fault['rank']}: {fault['reason']}")


def illegal_call(result: Result, call: IllegalCall) -> str:
    """Which call is illegal, and why."""
    run = call["run"]
    what = f"illegal call{english.on_nodes(run['nodes'] if run else result['nodes'])}"
    clause, remedy = synchronised_text.illegal_call(call), call["remedy"]
    return fitting(f"{what}: {clause}", f"{what}: {clause.removesuffix(f': {visible(remedy)}')}")


def failing_assertion(run: Witness) -> str:
    """Which assertion fails."""
    on = english.on_nodes(run["nodes"])
    failing = [event for event in run["computation"] if event["holds"] is False]
    if not failing:
        return f"an assertion fails{on}"
    return fitting(f"assertion of rank {failing[-1]['rank']} fails{on}: {failing[-1]['command']}")


def deadlock(result: Result, run: Witness) -> str:
    """Which rank is stuck where."""
    waits = result.get("deadlock_by", [])
    what = f"deadlock{english.on_nodes(run['nodes'])}"
    first = words.stuck(run["standing"], waits)[:1]
    stuck = f": {synchronised_text.stuck(first[0])}" if first else ""
    return fitting(f"{what}{stuck_because(waits)}{stuck}", f"{what}{stuck}")


def race(race: Race) -> str:
    """Which two accesses race."""
    return _of_race(f"race{english.on_nodes(race['nodes'])}", race, [])


def harmless_race(race: Race) -> str:
    """Which two accesses race, and that nothing depends on it."""
    return _of_race(f"race{english.on_nodes(race['nodes'])} that changes nothing", race, [])


def race_that_matters(race: ConsequentialRace) -> str:
    """Which two accesses race, and what depends on their order."""
    return _of_race(f"race{english.on_nodes(race['race']['nodes'])}", race["race"], race["differs"])


def _of_race(what: str, race: Race, differs: list[str]) -> str:
    lines, both = lines_race(race), race_sentence(race)
    all_, first = (f": {'; '.join(each)}" if each else "" for each in (differs, differs[:1]))
    return fitting(
        f"{what}: {both}{all_}", f"{what}: {both}{first}", f"{what}: {lines}{all_}", f"{what}: {lines}{first}"
    )
