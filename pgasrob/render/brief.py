"""Verdicts in lines as compilers print them: file, line, column, severity, and what is wrong in a sentence.

An editor goes by them to the place of the mistake. They are the findings that all formats have, each with a line of its
own; where there is none, or robustness is asked alone, the answer has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pgasrob.diagnostics import visible
from pgasrob.diagnostics.catalogue import CATALOGUE
from pgasrob.render import english, every_count_text, words
from pgasrob.render.findings import place_and_level
from pgasrob.render.races_json import counted, is_about_races
from pgasrob.render.races_text import wrong as wrong_races
from pgasrob.render.sarif import NOT_ROBUST, findings, plain, remarks
from pgasrob.render.source_places import located
from pgasrob.render.synchronised_json import line_of
from pgasrob.render.verdict_json import RaceResult, Result


def brief(result: Result | RaceResult) -> Iterator[str]:
    """The lines of ``result``."""
    wrong, found = _wrong(result), findings(result)
    if answer := _answer(result, bool(found), wrong):
        yield f"{visible(result['file'])}: {answer}{wrong}"
    for each in found:
        rule = each["ruleId"]
        is_code = rule in CATALOGUE
        verdict = is_code or rule in (NOT_ROBUST, "race")
        yield _line(each, rule if is_code else "") + wrong * verdict
    yield from (_line(each) for each in remarks(result))
    if asked := cast(Result, result).get("why"):
        place = located(result["file"], asked["lines"][0], 1)
        yield from (f"{place}: note: {visible(sentence)}" for sentence in asked["sentences"])


def _line(finding: dict[str, object], code: str = "") -> str:
    return f"{place_and_level(finding)}{f'[{code}]' if code else ''}: {plain(cast(dict[str, str], finding['message']))}"


def _wrong(result: Result | RaceResult) -> str:
    """That the header expects something else; "" where it does not, or nothing was compared."""
    if result.get("as_expected", True):
        return ""
    if is_about_races(result):
        return f" ({wrong_races(result)}, found {counted(result)})"
    return words.not_as_expected(cast(Result, result))


def _answer(result: Result | RaceResult, has_findings: bool, wrong: str) -> str:
    """The answer in short; "" where findings say it."""
    on = _on(result)
    match result["verdict"]:
        case "error":
            return "" if has_findings else f"error: {visible(result['reason'] or 'no reason is known')}"
        case "unknown":
            return f"unknown{on}: {visible(result['reason'] or 'no reason is known')}"
        case "no race":
            other = result.get("robustness")
            known = f"; {other['verdict']}" if other and other["verdict"] in ("robust", "not robust") else ""
            return f"no race{on}{known}"
        case "race":
            return ""
    found = result.get("synchronised")
    if result["verdict"] == "not robust" and (not found or line_of(found, "robust")):
        return ""
    if not wrong and found and found["whole"] and found["answer"] == "no":
        return ""
    but = f", but {visible(result['reason'] or '')}" if result.get("faults") == "unknown" else ""
    robust = found and line_of(found, "robust")
    if not found or (robust and robust["asked"] and not (found["whole"] and found["answer"] == "yes")):
        return f"{result['verdict']}{on}{but}"
    return f"{found['summary']}{on}{but}"


def _on(result: Result | RaceResult) -> str:
    if not result["nodes"]:
        return ""
    return english.on_nodes(result["nodes"]) if is_about_races(result) else every_count_text.on(cast(Result, result))
