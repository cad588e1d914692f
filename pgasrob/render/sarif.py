"""Results as SARIF 2.1.0 (OASIS), which code scanning services and editors read.

One log with one run of the tool holds all results. A violation, a fault, a failing assertion, a deadlock and a finding
about the text are results with a location each; a run is a code flow, and the cycle of a violation its related
locations. What is robust has no result. A search that ended early is a notification and no result either.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, cast
from urllib.parse import quote, unquote

from pgasrob.diagnostics import visible
from pgasrob.diagnostics.catalogue import CATALOGUE
from pgasrob.program.statements import place_of
from pgasrob.render import english, words
from pgasrob.render import finding_sentences as sentences
from pgasrob.render.count_note_json import CountNote
from pgasrob.render.illegal_calls_json import IllegalCall, OpenedBy
from pgasrob.render.one_race_json import Race, with_accesses
from pgasrob.render.one_race_text import phrases
from pgasrob.render.races_json import is_about_races
from pgasrob.render.run_json import NextCommand, Witness
from pgasrob.render.shared_json import Error
from pgasrob.render.synchronised_json import ConsequentialRace, left_open
from pgasrob.render.synchronised_text import because, races_left, severity, severity_of_violation
from pgasrob.render.verdict_json import Fix, RaceResult, Result
from pgasrob.robustness.reasons import InternalError
from pgasrob.version import VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "%SRCROOT%"
"""What relative paths start from: by convention the root of the source tree."""

Object = dict[str, Any]
Position = tuple[int, int, int, int]
"""Line and column, and line and column behind the end."""

NOT_ROBUST = "not-robust"
THEORY = "https://arxiv.org/abs/1307.6590"
"""The paper that says what robustness is."""
SEQUENTIAL = "https://doi.org/10.1109/TC.1979.1675439"
"""Lamport, How to make a multiprocessor computer that correctly executes multiprocess programs: sequentially consistent
runs. What is wrong in one of them is in the help of its rule."""
RACING = "https://doi.org/10.1145/1375581.1375591"
"""Boehm and Adve, Foundations of the C++ concurrency memory model: races as conflicting accesses next to each other in
a sequentially consistent run."""
FINGERPRINT = "commands/v2"
RULES = {
    NOT_ROBUST: (
        "NotRobust",
        "A run on the network that no sequentially consistent run looks like",
        "The happens-before relation of the run has a cycle: some command would have to come before itself. "
        "The network does not keep an order that every sequentially consistent run keeps: a wait, a fence or a "
        "notification may be missing.",
        THEORY,
    ),
    "failing-assertion": (
        "FailingAssertion",
        "An assertion fails in a sequentially consistent run",
        "The mistake is in the program itself: it needs no reordering by the network.",
        SEQUENTIAL,
    ),
    "deadlock": (
        "Deadlock",
        "A sequentially consistent run ends in a deadlock",
        "Nothing changes any more, and some rank is stuck before more than false assumes, or spins for ever.",
        SEQUENTIAL,
    ),
    "race-that-matters": (
        "RaceThatMatters",
        "Sequentially consistent runs end differently by the order of two accesses",
        "Both accesses can be next in a sequentially consistent run, nothing orders them, and how the run ends depends "
        "on which comes first: what is read, what memory holds at the end, an assertion, a branch. A wait, a barrier "
        "or a lock may be missing.",
        RACING,
    ),
    "race": (
        "Race",
        "Two accesses to one cell race",
        "Both can be next in some state of a run, they are not both reads, and not both atomic in one type. It is a "
        "mistake where the program is not robust, and may be one where a value depends on which comes first.",
        RACING,
    ),
}
UNKNOWN = "unknown"
NODE_COUNT = "node-count"


def to_sarif(results: Sequence[Result | RaceResult]) -> str:
    """All ``results`` as one SARIF log."""
    found = [each for result in results for each in findings(result)]
    of_apis = {call["rule"]: call for result in results for call in cast(Result, result).get("illegal_calls", [])}
    used = sorted({each["ruleId"] for each in found} - set(RULES) - set(of_apis))
    rules = [
        *(_rule(name, *texts) for name, texts in RULES.items()),
        *(_rule_of_api(of_apis[name]) for name in sorted(of_apis)),
        *map(_catalogued, used),
    ]
    indices = {rule["id"]: index for index, rule in enumerate(rules)}
    for each in found:
        each["ruleIndex"] = indices[each["ruleId"]]
    notices = [each for result in results for each in notifications(result)]
    driver: Object = {
        "name": "pgasrob",
        "version": VERSION,
        "rules": rules,
        "notifications": [
            {"id": UNKNOWN, "shortDescription": _message("The search ended before it could tell")},
            {"id": NODE_COUNT, "shortDescription": _message("The program is not meant for some number of nodes")},
        ],
    }
    invocation: Object = {
        "executionSuccessful": all(result.get("reason_code") != InternalError.code for result in results),
        "toolExecutionNotifications": notices,
    }
    run: Object = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "invocations": [invocation],
        "results": found,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str, pascal: str, title: str, explanation: str, about: str = "") -> Object:
    more = {"helpUri": about} if about else {}
    return {
        "id": name,
        "name": pascal,
        "shortDescription": _message(f"{title}."),
        "fullDescription": _message(explanation),
        "help": _message(explanation),
        "defaultConfiguration": {"level": "error"},
        **more,
    }


def _rule_of_api(call: IllegalCall) -> Object:
    """The rule of an API that ``call`` breaks."""
    pascal = "".join(map(english.capital, call["rule"].split("-")))
    demands = english.capital(call["demands"])
    return _rule(call["rule"], pascal, demands, f"{demands} ({call['section']}).")


def _catalogued(code: str) -> Object:
    """The rule of an error code; one that this version does not know has its name alone."""
    if code not in CATALOGUE:
        return {"id": code, "defaultConfiguration": {"level": "error"}}
    entry = CATALOGUE[code]
    return _rule(code, code, english.capital(entry.title), entry.explanation)


# --- Results ---------------------------------------------------------------------------------------------------------


def findings(result: Result | RaceResult) -> list[Object]:
    """The SARIF results for ``result``.

    Each has a fingerprint of its own, which stays when lines move: of several that are alike, say two races by the same
    commands, their order tells them apart.
    """
    found = list(_results(result))
    met: Counter[str] = Counter()
    for each in found:
        prints = each["partialFingerprints"]
        met[prints[FINGERPRINT]] += 1
        prints[FINGERPRINT] += f":{met[prints[FINGERPRINT]]}"
    return found


def _results(result: Result | RaceResult) -> Iterator[Object]:
    for error in result["errors"]:
        yield _finding(result, error)
    if is_about_races(result):
        yield from _races(result, result.get("robustness"), [])
        if run := result.get("witness"):
            yield _fault(result, run)
        return
    result = cast(Result, result)
    witness = result["witness"]
    if witness and witness["shows"] == "violation":
        yield _violation(result, witness)
    elif result["verdict"] == "not robust" and not witness:
        yield _result(result, NOT_ROBUST, sentences.violation(result), _location(result, None), "")
    if witness and witness["fault"]:
        yield _fault(result, witness)
    for call in result.get("illegal_calls", []):
        yield _illegal_call(result, call)
    if run := result["assertion_run"]:
        yield _failing_assertion(result, run)
    if run := result["deadlock_run"]:
        yield _deadlock(result, run)
    yield from _by_consequences(result)
    if races := result.get("races"):
        consequences = result.get("consequences")
        matter = [each["race"]["lines"] for each in consequences["matters"]] if consequences else []
        yield from _races(races, result, matter)


def _races(result: RaceResult, robustness: Result | None, known: Sequence[list[int]]) -> Iterator[Object]:
    """The races but for those of ``known`` lines; one whose run was left out has no place."""
    yield from (_race(result, race, robustness) for race in result["races"] if race["lines"] not in known)
    if result["verdict"] == "race" and not result["races"] and not known:
        text = sentences.fitting(f"race{_on(result)}: {result['reason']}")
        yield _result(result, "race", text, _location(result, None), "")


def _by_consequences(result: Result) -> Iterator[Object]:
    """The races that matter; and those that do not as notes, unless races were asked for by themselves."""
    consequences = result.get("consequences")
    if not consequences:
        return
    for race in consequences["matters"]:
        yield _race_that_matters(result, race)
    for harmless in () if result.get("races") else consequences["harmless"]:
        found = _one_race(result, harmless, "race", sentences.harmless_race(harmless))
        yield {**found, "level": "note"}


def _race_that_matters(result: Result, race: ConsequentialRace) -> Object:
    """The race at its first access, with the two runs that end differently."""
    found = _one_race(result, race["race"], "race-that-matters", sentences.race_that_matters(race))
    for each in race["differs"]:
        _relate(found, found["locations"][0], f"{each}, depending on which access comes first")
    flows = [_with_run({}, result, run).get("codeFlows", []) for run in race["runs"]]
    return found | {"codeFlows": [flow for each in flows for flow in each]}


def _finding(result: Result | RaceResult, error: Error) -> Object:
    """A finding about the text, with what would help; its column is counted in the excerpt."""
    line, column = error["line"], error["column"]
    other, number = place_of(line)
    region = _region([error["excerpt"]], number, (number, column, number, column + error["length"]))
    location = _location(result, region, other)
    found = _result(result, error["code"], sentences.fitting(error["message"]), location, error["excerpt"].strip())
    if error["hint"]:
        _relate(found, location, error["hint"])
    return found


def _violation(result: Result, witness: Witness) -> Object:
    """The violation where its late operation is issued, with the edges of its cycle and what it means for outcomes."""
    computation = witness["computation"]
    cycle = words.from_conflict(witness["cycle"] or [], computation)
    text = sentences.violation(result)
    if not cycle:
        return _with_run(_result(result, NOT_ROBUST, text, _location(result, None), ""), result, witness)
    main = _place(result, witness, words.main_place(witness))
    commands = " ".join(computation[edge["from"]]["command"] for edge in cycle)
    found = _result(result, NOT_ROBUST, text, main, commands)
    *edges, last = words.cycle(cycle, computation)
    for edge, each in zip(cycle, (*edges, f"{last} {words.contradiction(cycle)}"), strict=True):
        _relate(found, _place(result, witness, edge["from"]), english.capital(each))
    if effect := words.effect(result):
        _relate(found, main, effect)
    found["level"] = severity_of_violation(result)
    found["properties"] |= {"effect": result.get("effect")}
    if fixes := result.get("fixes"):
        found["fixes"] = [_fix(result, witness, fix) for fix in fixes]
    return _with_run(found, result, witness)


def _fix(result: Result, witness: Witness, fix: Fix) -> Object:
    """A repair; an insertion has an empty region, so its end is given."""
    changed: dict[str, list[Object]] = {}
    for edit in fix["edits"]:
        (other, line), end = place_of(edit["line"]), int(edit["end_line"])
        lines = _lines(witness.get("sources", {}).get(other, "") if other else witness["source"])
        region = {
            "startLine": line,
            "startColumn": _utf16(lines, line - 1, edit["column"]),
            "endLine": end,
            "endColumn": _utf16(lines, end - 1, edit["end_column"]),
        }
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit["text"]}}
        changed.setdefault(other or result["file"], []).append(replacement)
    return {
        "description": _message(fix["told"]),
        "artifactChanges": [
            {"artifactLocation": artifact(file), "replacements": each} for file, each in changed.items()
        ],
    }


def _race(result: RaceResult, race: Race, robustness: Result | None) -> Object:
    """The race at its first access, an error unless the program is robust all the same."""
    found = _one_race(result, race, "race", sentences.race(race))
    answer = robustness["verdict"] if robustness else None
    found["level"] = "warning" if answer == "robust" else "error"
    found["properties"] |= {"robustness": answer}
    return _with_run(found, result, with_accesses(race))


def _one_race(result: Result | RaceResult, race: Race, rule: str, text: str) -> Object:
    """A ``race`` without a run, at its first access, with both of them."""
    witness = with_accesses(race)
    last = range(len(race["computation"]), len(witness["computation"]))
    places = [_place(result, witness, place) for place in last]
    commands = " ".join(access["command"] for access in race["accesses"])
    found = _result(result, rule, text, places[0], commands)
    for place, each in zip(places, phrases(race), strict=True):
        _relate(found, place, each)
    found["properties"] |= {"kind": race["kind"]}
    return found


def _fault(result: Result | RaceResult, witness: Witness) -> Object:
    fault = witness["fault"]
    assert fault is not None
    end = fault["column"] + fault.get("length", 0)
    location = _located(result, witness, fault["line"], fault["column"], fault["line"], end)
    found = _result(result, fault["code"], sentences.fault(fault), location, fault["command"])
    return _with_run(found, result, witness)


def _illegal_call(result: Result, call: IllegalCall) -> Object:
    """The call, with the earlier one by which it is illegal; a warning where that does not count."""
    other, line = place_of(call["line"])
    run = call["run"]
    command = run["computation"][-1]["command"] if run and run["computation"] else ""
    location = _point(result, run, call) if run else _location(result, {"startLine": line}, other)
    found = _result(result, call["rule"], sentences.illegal_call(result, call), location, command)
    if (opened := call["opened"]) and run:
        _relate(found, _point(result, run, opened), f"{opened['call']} is here")
    _relate(found, location, call["remedy"])
    found["level"] = severity(result, "legal")
    return _with_run(found, result, run) if run else found


def _failing_assertion(result: Result, witness: Witness) -> Object:
    """The assertion; a warning where that does not count."""
    failing = [place for place, event in enumerate(witness["computation"]) if event["holds"] is False]
    where = _place(result, witness, failing[-1]) if failing else _location(result, None)
    command = witness["computation"][failing[-1]]["command"] if failing else ""
    found = _result(result, "failing-assertion", sentences.failing_assertion(witness), where, command)
    return _with_run(found | {"level": severity(result, "assertions")}, result, witness)


def _deadlock(result: Result, witness: Witness) -> Object:
    """The deadlock at the first rank that is stuck, with where all of them are; a warning where that does not
    count."""
    standing = witness["standing"]
    stuck = words.stuck(standing, result.get("deadlock_by", []))
    places = [_point(result, witness, words.stuck_at(each)) for each in stuck]
    commands = " ".join(words.stuck_at(each)["command"] for each in stuck)
    where = places[0] if places else _location(result, None)
    found = _result(result, "deadlock", sentences.deadlock(result, witness), where, commands)
    for place, each in zip(places, stuck, strict=True):
        _relate(found, place, f"Rank {each['rank']} {words.standing(each, standing)}.")
    return _with_run(found | {"level": severity(result, "progress")}, result, witness)


def _result(result: Result | RaceResult, rule: str, text: str, location: Object, commands: str) -> Object:
    """A result. ``commands`` is what identifies it when lines have moved."""
    identity = "\n".join([rule, artifact(result["file"])["uri"], str(result["nodes"]), commands])
    return {
        "ruleId": rule,
        "level": "error",
        "message": _message(text),
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: hashlib.sha256(identity.encode(errors="replace")).hexdigest()},
        "properties": {
            "nodes": result["nodes"],
            "engine": result["engine"],
            "assumptions": [each["code"] for each in result.get("assumptions", [])],
        },
    }


def _relate(found: Object, place: Object, message: str) -> None:
    """Add a place that belongs to a result, with what is to be said of it."""
    related = found.setdefault("relatedLocations", [])
    related.append({"id": len(related) + 1, **place, "message": _message(message)})


def _with_run(found: Object, result: Result | RaceResult, witness: Witness) -> Object:
    """``found`` with the run as a code flow; one that ends in the effect of a violation stands before the violation,
    or instead of it where it goes on from there."""
    runs = [witness]
    if witness["shows"] == "violation":
        runs = [run for run in (words.effect_run(cast(Result, result)), words.own_run(cast(Result, result))) if run]
    runs = [run for run in runs if run["computation"]]
    return found | {"codeFlows": [_flow(result, run) for run in runs]} if runs else found


def _flow(result: Result | RaceResult, witness: Witness) -> Object:
    """The run as a code flow: its steps in their order, a step of an operation nested in its rank."""
    computation = witness["computation"]
    on_cycle = words.cycle_steps(witness)
    steps = []
    for place, event in enumerate(computation):
        effects = "; ".join(words.effects(event))
        text = f"{english.capital(words.step(place, computation))}: {event['command']}{effects and ': '}{effects}"
        steps.append(
            {
                "location": {**_place(result, witness, place), "message": _message(text)},
                "executionOrder": place + 1,
                "nestingLevel": int(event["event"] in words.STEPS),
                "importance": "essential" if place in on_cycle or not on_cycle else "important",
            }
        )
    title = _message(f"{words.title(witness)}.")
    return {"message": title, "threadFlows": [{"locations": steps}]}


def notifications(result: Result | RaceResult) -> Iterator[Object]:
    """Notifications that a search gave no answer, or not the whole one, that a program is in error for a reason
    without a place, or that it is not meant for its number of nodes."""
    yield from remarks(result)
    witness, note = result.get("witness"), result.get("count_note")
    placed = result["errors"] or (witness and witness["fault"])
    is_open = result["verdict"] == "unknown" or result.get("faults") == "unknown"
    if is_open or (result["verdict"] == "error" and not placed):
        text = f"{result['verdict']}{_on(result)}: {result['reason'] or 'no reason is known'}"
        found = _notification(result, UNKNOWN, "warning" if is_open else "error", text)
        yield found | {"locations": [_of_note(result, note)]} if note and note["nothing"] else found


def remarks(result: Result | RaceResult) -> Iterator[Object]:
    """Notifications beside an answer: that the program is not meant for its number of nodes, and what else is open."""
    note = result.get("count_note")
    if note and not note["nothing"]:
        found = _notification(result, NODE_COUNT, "note", note["sentence"])
        yield found | {"locations": [_of_note(result, note)]}
    yield from _open_lines(result)


def _of_note(result: Result | RaceResult, note: CountNote) -> Object:
    """The place by which a program is not meant for a number of nodes."""
    (other, line), column = place_of(note["line"]), note["column"]
    return _location(result, {"startLine": line, "startColumn": column} if line else None, other)


def _open_lines(result: Result | RaceResult) -> Iterator[Object]:
    """Notifications about lines that were asked and are open although robustness is known; and as a note, that races
    are which would count where they were found."""
    verdict = cast(Result, result)
    found = verdict.get("synchronised")
    open_ = [] if not found or result["verdict"] == "unknown" else left_open(found)
    if open_:
        reason = because(verdict)
        text = f"{english.listed(open_)} could not be decided{_on(result)}{reason and ': '}{reason}"
        yield _notification(result, UNKNOWN, "warning", text)
    if races := races_left(verdict):
        yield _notification(result, UNKNOWN, "note", races)


def _notification(result: Result | RaceResult, what: str, level: str, text: str) -> Object:
    return {
        "descriptor": {"id": what, "index": [UNKNOWN, NODE_COUNT].index(what)},
        "level": level,
        "message": _message(sentences.fitting(text)),
        "locations": [_location(result, None)],
    }


# --- Places and messages ---------------------------------------------------------------------------------------------


def _place(result: Result | RaceResult, witness: Witness, place: int) -> Object:
    event = witness["computation"][place]
    return _located(result, witness, event["line"], event["column"], event["end_line"], event["end_column"])


def _point(result: Result | RaceResult, witness: Witness, at: NextCommand | IllegalCall | OpenedBy) -> Object:
    """The place of a command that was not issued, of which only the beginning is known."""
    return _located(result, witness, at["line"], at["column"], at["line"], at["column"])


def _located(
    result: Result | RaceResult, witness: Witness, line: int, column: int, end_line: int, end_column: int
) -> Object:
    other, number = place_of(line)
    text = witness.get("sources", {}).get(other, "") if other else witness["source"]
    return _location(result, _region(_lines(text), 1, (number, column, int(end_line), end_column)), other)


def _location(result: Result | RaceResult, region: Object | None, other: str = "") -> Object:
    place = {"artifactLocation": artifact(other or result["file"])}
    return {"physicalLocation": place if region is None else {**place, "region": region}}


def artifact(file: str) -> Object:
    """The address of ``file``: relative to the working directory if it lies there, as code scanning wants it."""
    path = os.path.relpath(file)
    if path.split(os.sep)[0] == os.pardir:
        return {"uri": f"file://{quote(os.path.abspath(file).replace(os.sep, '/'))}"}
    return {"uri": quote(path.replace(os.sep, "/")), "uriBaseId": BASE}


def path_of(artifact: Object) -> str:
    """The path that the address of an :func:`artifact` stands for, relative where that is."""
    return unquote(artifact["uri"].removeprefix("file://"))


def plain(message: Object) -> str:
    """The text of a message, in which braces are doubled."""
    text: str = message["text"].replace("{{", "{").replace("}}", "}")
    return text


def _region(lines: Sequence[str], first: int, position: Position) -> Object | None:
    """The region at ``position``, whose columns count in characters; None for line 0, the file as a whole.

    ``lines`` are those of the text from the line ``first`` on, as far as they are known.
    """
    line, column, end_line, end_column = position
    if line < 1 or column < 1:
        return None if line < 1 else {"startLine": line}
    region = {"startLine": line, "startColumn": _utf16(lines, line - first, column)}
    if (end_line, end_column) > (line, column):
        region |= {"endLine": end_line, "endColumn": _utf16(lines, end_line - first, end_column)}
    return region


def _utf16(lines: Sequence[str], index: int, column: int) -> int:
    """``column`` in UTF-16 code units, in which SARIF counts: a character beyond 16 bits is two."""
    before = lines[index][: column - 1] if 0 <= index < len(lines) else ""
    return column + sum(char > "\uffff" for char in before)


@lru_cache(maxsize=2)
def _lines(source: str) -> list[str]:
    return source.split("\n")


def _on(result: Result | RaceResult) -> str:
    return english.on_nodes(result["nodes"])


def _message(text: str) -> Object:
    """A plain text message: braces are doubled (SARIF, section 3.11.5), and `](` is no link."""
    return {"text": visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")}
