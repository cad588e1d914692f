"""Findings as compilers and services print them: lines of gcc, annotations of GitHub, rows of CSV.

They are those of the SARIF log: what is wrong, with a place. What is robust has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pgasrob.render.finding_json import FindingInBrief, FindingPlace
from pgasrob.render.sarif import findings, notifications, path_of, plain
from pgasrob.render.verdict_json import RaceResult, Result

Object = dict[str, Any]
GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
"""The kinds of annotations by SARIF's levels."""


def of_result(result: Result | RaceResult) -> Iterator[Object]:
    """The findings of ``result``, and its notifications."""
    yield from findings(result)
    for each in notifications(result):
        yield {**each, "ruleId": each["descriptor"]["id"]}


def gcc(finding: Object) -> Iterator[str]:
    """``finding`` as gcc prints its own: a line, and a note for each place that belongs to it."""
    yield f"{place_and_level(finding)}: {plain(finding['message'])} [{finding['ruleId']}]"
    for each in finding.get("relatedLocations", ()):
        yield f"{_place(each)}: note: {plain(each['message'])}"


def place_and_level(finding: Object) -> str:
    """``ring.c:3:9: error``, as compilers begin their lines."""
    (where,) = finding["locations"]
    return f"{_place(where)}: {finding['level']}"


def _place(location: Object) -> str:
    physical = location["physicalLocation"]
    region = physical.get("region", {})
    numbers = [region[key] for key in ("startLine", "startColumn") if key in region]
    return ":".join([path_of(physical["artifactLocation"]), *map(str, numbers)])


def github(finding: Object) -> Iterator[str]:
    """``finding`` as an annotation, a workflow command of GitHub Actions: its sentence, and a line for each place that
    belongs to it."""
    physical = finding["locations"][0]["physicalLocation"]
    region = physical.get("region", {})
    values = {
        "file": path_of(physical["artifactLocation"]),
        "line": region.get("startLine"),
        "endLine": region.get("endLine"),
    }
    if region.get("startLine") == region.get("endLine"):  # GitHub wants columns of one line alone
        values |= {"col": region.get("startColumn"), "endColumn": region.get("endColumn")}
    values["title"] = f"pgasrob: {finding['ruleId']}"
    properties = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in values.items() if value is not None)
    steps = (f"{each['id']}: {plain(each['message'])}" for each in finding.get("relatedLocations", ()))
    text = "\n".join((plain(finding["message"]), *steps))
    yield f"::{GITHUB[finding['level']]} {properties}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{more}" else char for char in text)


def in_json(result: Result | RaceResult) -> Result | RaceResult:
    """``result`` with its findings, as it is printed; a run that was simulated has none."""
    if not result["verdict"]:
        return result
    found: list[FindingInBrief] = [
        {
            "rule": each["ruleId"],
            "level": each["level"],
            **_in_brief(each["locations"][0], each["message"]),
            "related": [_in_brief(place, place["message"]) for place in each.get("relatedLocations", ())],
        }
        for each in findings(result)
    ]
    return cast("Result | RaceResult", {**result, "findings": found})


def _in_brief(location: Object, message: Object) -> FindingPlace:
    physical = location["physicalLocation"]
    region = physical.get("region", {})
    return {
        "file": path_of(physical["artifactLocation"]),
        "line": region.get("startLine"),
        "column": region.get("startColumn"),
        "message": plain(message),
    }


def first_place(result: Result | RaceResult) -> dict[str, object]:
    """File, line, column and sentence of the first finding of ``result``; without a finding the reason, if any."""
    for finding in findings(result):
        first = _in_brief(finding["locations"][0], finding["message"])
        return {"found_in": first["file"], **{key: first[key] for key in ("line", "column", "message")}}
    return {"found_in": None, "line": None, "column": None, "message": result["reason"] or ""}
