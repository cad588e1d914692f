"""What other programs read: lines of gcc, annotations of GitHub, rows of CSV, and what a baseline takes away."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.render.findings import github
from pgasrob.render.printers import cell
from tests.render.test_diagnosis_text import NOT_ROBUST
from tests.render.test_sarif import VALIDATOR
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE
from tests.support import sampled

LATE = "not robust on 2 nodes: Rank 0 reads y in line 8 before the write of rank 1 in line 6 has arrived there"
ENDLESS = "memory x; register r; process { while (r < 99999) { r <- r + 1; } write(x, 0, x, 0); write(x, 0, x, 1); }"
ROBUST = ONE_TO_ONE.replace("barrier", "wait(q); barrier")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = {"good": ROBUST, "bad": ONE_TO_ONE, "syntax": "process { skip }", "stuck": DEADLOCK, "long": ENDLESS}
    for name, text in texts.items():
        Path(f"{name}.pgas").write_text(text)
    return tmp_path


def run(words: str) -> Result:
    return CliRunner().invoke(cli, words.split())


def sarif(path: str) -> list[dict[str, Any]]:
    """The results in a log, which is one of the standard."""
    log = json.loads(Path(path).read_text())
    VALIDATOR.validate(log)
    found: list[dict[str, Any]] = log["runs"][0]["results"]
    return found


def test_gcc() -> None:
    """What gcc's problem matchers, of editors and of CI, take apart."""
    result = run("check good.pgas bad.pgas syntax.pgas absent.pgas --format gcc")
    unknown = run("check long.pgas --max-states 1 --format gcc")
    assert (result.exit_code, unknown.exit_code) == (2, 3)
    lines = (result.stdout + unknown.stdout).splitlines()
    taken = [
        re.fullmatch(r"([^:]+)(?::(\d+):(\d+))?: (error|warning|note): (.+?)(?: \[([\w-]+)\])?", line) for line in lines
    ]
    assert all(taken)
    found = [(each[1], each[2], each[3], each[4], each[6]) for each in taken if each and each[4] != "note"]
    assert found == [
        ("bad.pgas", "6", "3", "error", "not-robust"),
        ("syntax.pgas", "1", "15", "error", "PG011"),
        ("absent.pgas", None, None, "error", "PG001"),
        ("long.pgas", None, None, "warning", "unknown"),
    ]
    assert lines[0].startswith(f"bad.pgas:6:3: error: {LATE}") and "Step 8" not in lines[0]
    assert [line.split(": ")[0] for line in lines[1:6]] == [f"bad.pgas:{place}:3" for place in (8, 6, 6, 7, 7)]


def test_github() -> None:
    result = run("check bad.pgas syntax.pgas --format github")
    violation, syntax = result.stdout.splitlines()
    where, _, text = violation.removeprefix("::").partition("::")
    assert where == "error file=bad.pgas,line=6,endLine=6,col=3,endColumn=35,title=pgasrob%3A not-robust"
    assert text.startswith(LATE)
    assert syntax.startswith("::error file=syntax.pgas,line=1,endLine=1,col=15,endColumn=16,title=pgasrob%3A PG011::")


FOUND = sampled([path for path in NOT_ROBUST if path.suffix in (".pgas", ".c")], 30)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_every_format_names_the_same_place(path: Path) -> None:
    """The place of the operation that is late, at which a repair begins; those of the cycle are related to it."""
    shutil.copy(path, "copy" + path.suffix)
    file = f"copy{path.suffix}"
    (told, *_) = run(f"check {file} --brief").stdout.splitlines()
    place = re.match(rf"{file}:(\d+):(\d+): (error: not robust|note: not robust, but harmless)", told)
    assert place
    line, column, _ = place.groups()
    (result, *_) = [json.loads(each) for each in run(f"check {file} --format json").stdout.splitlines()]
    issue = result["witness"]["computation"][result["witness"]["late"][0]["issue"]]
    assert (str(issue["line"]), str(issue["column"])) == (line, column)
    assert run(f"check {file} --format gcc").stdout.startswith(f"{file}:{line}:{column}: ")
    github_line, *_ = run(f"check {file} --format github").stdout.splitlines()
    assert f"file={file},line={line}," in github_line
    rows = csv.DictReader(run(f"check {file} --format csv").stdout.splitlines())
    assert next(rows)["line"] == line
    run(f"check {file} --witness found.sarif")
    (finding, *_) = sarif("found.sarif")
    region = finding["locations"][0]["physicalLocation"]["region"]
    assert (str(region["startLine"]), str(region["startColumn"])) == (line, column)
    assert len(finding["relatedLocations"]) == len(result["witness"]["cycle"]) + bool(result["effect_detail"])


def test_what_github_would_take_for_its_own_is_escaped() -> None:
    where = {"physicalLocation": {"artifactLocation": {"uri": "a%2Cb%3A%25.c"}}}
    (line,) = github({"level": "note", "ruleId": "r", "message": {"text": "100 %\n::error::"}, "locations": [where]})
    assert line == "::notice file=a%2Cb%3A%25.c,title=pgasrob%3A r::100 %25%0A::error::"


@pytest.mark.parametrize("command", ["check", "race"])
def test_csv(command: str) -> None:
    result = run(f"{command} good.pgas bad.pgas syntax.pgas -n 2,3 --format csv")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    told = [
        json.loads(line)
        for line in run(f"{command} good.pgas bad.pgas syntax.pgas -n 2,3 --format json").stdout.splitlines()
    ]
    assert [(row["file"], row["nodes"], row["verdict"]) for row in rows] == [
        (each["file"], str(each["nodes"] or ""), each["verdict"]) for each in told
    ]
    assert [row["states"] for row in rows] == [str(each["stats"]["states"]) for each in told]
    assert rows[2]["line"] == "6" and rows[0]["line"] == ""
    if command == "check":
        assert rows[2]["message"].startswith(LATE) and (rows[2]["deadlock"], rows[4]["deadlock"]) == ("false", "")
    else:
        assert (rows[2]["pairs"], rows[2]["robustness"]) == ("1 pair", "not robust")
    expected = run(f"{command} good.pgas --expect --format csv").stdout.splitlines()
    assert expected[0].startswith("file,nodes,verdict,expected,as_expected,")


def test_no_cell_is_a_formula() -> None:
    Path("=1+1.pgas").write_text(ROBUST)
    assert run("check =1+1.pgas --format csv").stdout.splitlines()[1].startswith("'=1+1.pgas,2,robust,")


def test_no_cell_has_a_control_character() -> None:
    """An escape of a terminal, a line end, one that turns the direction of writing; what they are is to be read."""
    name = "a\x1b[2J\n\x07\u202eb.pgas"
    Path(name).write_text(ROBUST)
    found = CliRunner().invoke(cli, ["check", name, "--format", "csv"]).stdout
    assert found.splitlines()[1].startswith("a\\x1b[2J\\n\\x07\\u202eb.pgas,2,robust,")
    assert cell("\t=1+1") == "'\\t=1+1"


@pytest.mark.parametrize(
    "words",
    [
        "check good.pgas --baseline absent.sarif",
        "check good.pgas --expect --baseline old.sarif",
        "check good.pgas --network corerma --format gcc",
        "check good.pgas --network corerma --baseline old.sarif",
        "check good.pgas --brief --format csv",
    ],
)
def test_what_does_not_go_together(words: str) -> None:
    result = run(words)
    assert result.exit_code == 2 and "Error: " in result.stderr


def applied(text: str, replacements: list[dict[str, Any]]) -> str:
    """``text`` with the replacements of a fix, which count in UTF-16 code units."""
    units = [line.encode("utf-16-le") for line in text.splitlines(keepends=True)] + [b""]
    for each in sorted(replacements, key=lambda each: -each["deletedRegion"]["startLine"]):
        region = each["deletedRegion"]
        first, last = region["startLine"] - 1, region["endLine"] - 1
        before, behind = units[first][: 2 * region["startColumn"] - 2], units[last][2 * region["endColumn"] - 2 :]
        units[first : last + 1] = [before + each["insertedContent"]["text"].encode("utf-16-le") + behind]
    return b"".join(units).decode("utf-16-le")


@pytest.mark.parametrize("name", ["wide.pgas", "halo.c"])
def test_the_fixes_in_sarif_make_it_robust(name: str) -> None:
    halo = (Path(__file__).parents[2] / "programs/c/openshmem/put_is_local.c").read_text()
    text = halo if name == "halo.c" else ONE_TO_ONE.replace("  barrier", "  /* \U0001f600\U0001f600 */ barrier")
    Path(name).write_text(text)
    assert run(f"check {name} --fixes --witness found.sarif").exit_code == 1
    (found,) = sarif("found.sarif")
    assert found["fixes"]
    for fix in found["fixes"]:
        (change,) = fix["artifactChanges"]
        assert change["artifactLocation"]["uri"] == name and fix["description"]["text"].endswith(".")
        Path(name).write_text(applied(text, change["replacements"]))
        assert run(f"check {name}").exit_code == 0, fix
    told = json.loads(run(f"check {name} --fixes --format json").stdout)
    assert "fixes" not in told, "it is robust"


def test_fixes_take_no_longer_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.cli.further.FIX_SECONDS", 1e-9)
    result = run("check bad.pgas --fixes --format json")
    assert result.exit_code == 1 and not json.loads(result.stdout).get("fixes")
    assert run("check bad.pgas --fixes --conflicts all").exit_code == 2
