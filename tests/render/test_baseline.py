"""Findings of an earlier SARIF log: only new ones count."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.render.baseline import BadBaseline, Baseline
from pgasrob.render.sarif import FINGERPRINT
from tests.render.test_findings import ROBUST, folder, run, sarif  # noqa: F401  (a fixture that every test here uses)
from tests.render.test_verdict_json import ONE_TO_ONE

OLD = '{"runs": [{"tool": {"driver": {"name": "pgasrob"}}, "results": [{"partialFingerprints": {"%s": "1"}, %%s}]}]}'
OLD %= FINGERPRINT
LOCATIONS = '"locations": [{"physicalLocation": {"artifactLocation": {"uri": %s}}}]'


@pytest.mark.parametrize("command", ["check", "race"])
def test_sarif_is_printed_as_it_is_written(command: str) -> None:
    printed = run(f"{command} bad.pgas stuck.pgas --format sarif --witness old.sarif")
    assert printed.stdout == Path("old.sarif").read_text() and sarif("old.sarif")
    Path("stuck.pgas").unlink()
    again = run(f"{command} bad.pgas --baseline old.sarif --format sarif --witness new.sarif")
    assert again.stdout == Path("new.sarif").read_text() and '"unchanged"' in again.stdout


def test_only_what_is_new_counts() -> None:
    assert run("check bad.pgas stuck.pgas --strict --witness old.sarif").exit_code == 1
    kept = "--baseline old.sarif --strict --format gcc"
    result = run(f"check bad.pgas stuck.pgas {kept}")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "3 of the findings are in the baseline and do not count" in result.stderr
    Path("bad.pgas").write_text("\n\n" + ONE_TO_ONE)  # the same, some lines on
    assert run(f"check bad.pgas stuck.pgas {kept}").exit_code == 0
    Path("good.pgas").write_text(ONE_TO_ONE)  # the same in another file
    result = run(f"check bad.pgas stuck.pgas good.pgas {kept} --witness new.sarif")
    assert result.exit_code == 1 and [line for line in result.stdout.splitlines() if "note: " not in line] == [
        line for line in result.stdout.splitlines() if line.startswith("good.pgas:6:3: error: not robust")
    ]
    states = [
        (each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], each["baselineState"])
        for each in sarif("new.sarif")
    ]
    assert states == [
        ("bad.pgas", "unchanged"), ("stuck.pgas", "unchanged"), ("stuck.pgas", "unchanged"), ("good.pgas", "new")
    ]  # fmt: skip
    assert run(f"check bad.pgas -n 3 {kept}").exit_code == 1, "on another number of nodes it is another one"
    assert run(f"check long.pgas --max-states 1 {kept}").exit_code == 3


def test_what_is_gone_is_absent_in_the_files_that_were_checked() -> None:
    run("check bad.pgas stuck.pgas --witness old.sarif")
    Path("bad.pgas").write_text(ROBUST)
    assert run("check bad.pgas --baseline old.sarif --witness new.sarif").exit_code == 0
    (gone,) = sarif("new.sarif")
    assert (gone["baselineState"], gone["ruleId"]) == ("absent", "not-robust")
    # What was gone once is new when it comes back.
    Path("bad.pgas").write_text(ONE_TO_ONE)
    assert run("check bad.pgas --baseline new.sarif").exit_code == 1


def test_errors_and_races_that_are_known() -> None:
    run("check syntax.pgas --witness old.sarif")
    assert run("check syntax.pgas --baseline old.sarif").exit_code == 0
    Path("syntax.pgas").write_text("process { skip; sk }")
    assert run("check syntax.pgas --baseline old.sarif").exit_code == 2
    run("race bad.pgas --witness races.sarif")
    assert run("race bad.pgas --baseline races.sarif").exit_code == 0
    assert run("check bad.pgas --baseline races.sarif").exit_code == 1, "a race is no violation"


def test_findings_that_are_alike_have_fingerprints_of_their_own() -> None:
    twice = "nodes 2; memory x, y; process 0 {\n mem[x] <- 1;\n mem[x] <- 1;\n}\nprocess 1 {\n mem[x @ 0] <- 2;\n}\n"
    Path("twice.pgas").write_text(twice)
    run("race twice.pgas --all --witness races.sarif")
    found = [each["partialFingerprints"][FINGERPRINT] for each in sarif("races.sarif")]
    assert len(found) == len(set(found)) == 2
    assert found[0].partition(":")[0] == found[1].partition(":")[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no SARIF log that this version"),
        ("[]", "no SARIF log that this version"),
        ('{"runs": [{"tool": {"driver": {"name": "pgasrob"}}, "results": [{}]}]}', "no SARIF log that this version"),
        ('{"runs": [{"tool": {"driver": {"name": "other"}}}]}', "of another tool"),
        ("[" * 100_000, "no SARIF log that this version"),
        *(
            (OLD % each, "no SARIF log that this version")
            for each in (
                '"locations": []',
                '"locations": ["here"]',
                '"places": 1',
                LOCATIONS % "{}",
                LOCATIONS % '"x"' + ', "message": "\\ud800"',
                LOCATIONS % '"x"' + ', "m": ' + "[" * 960 + "]" * 960,
            )
        ),
    ],
)
def test_what_is_no_baseline(text: str, says: str) -> None:
    with pytest.raises(BadBaseline, match=says):
        Baseline(text)
    Path("old.sarif").write_text(text)
    result = run("check good.pgas --baseline old.sarif")
    assert result.exit_code == 2 and says in result.stderr


def test_a_finding_with_a_place_is_all_that_is_needed() -> None:
    assert Baseline(OLD % (LOCATIONS % '"x"')).knows({"partialFingerprints": {FINGERPRINT: "1"}})
