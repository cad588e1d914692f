"""An exception that should not have been raised, as a finding; and as that of one file of many in every command."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob.batch import litmus_checks
from pgasrob.batch.checker import Checker
from pgasrob.cli import cli
from pgasrob.diagnostics.internal_error import MOST_CHARACTERS, internal_error
from pgasrob.models.litmus import litmus_parser
from pgasrob.models.networks import network_verdict
from pgasrob.program.parser import parse_file
from pgasrob.races.mpi import decide_file
from pgasrob.races.race_check import RaceDecision

ROOT = Path(__file__).parents[2]
FINE, OTHER = "process { skip; }", "memory x; process { mem[x] <- 1; }"
TEST = "x@1=0 :: 1: x = 1 || 1: a = x"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)])


def raises(*_: object, **__: object) -> Any:
    raise IndexError("list index\nout of range")


def failing_at(name: str, function: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    """``function``, which raises where its argument at ``place`` is about the file ``name``."""

    def failing(*arguments: Any, **named: Any) -> Any:
        return (raises if name in str(arguments[place]) else function)(*arguments, **named)

    return failing


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "bad", "c"):
        (tmp_path / f"{name}.pgas").write_text(FINE)
        (tmp_path / f"{name}.litmus").write_text(f"{TEST}\n")
    return tmp_path


def test_what_to_report() -> None:
    with pytest.raises(AttributeError) as raised:
        parse_file("a.pgas", None)  # type: ignore[arg-type]
    found = internal_error(raised.value, "a.pgas")
    assert found.message.startswith("internal error: AttributeError: ") and found.code == "PG190"
    assert re.fullmatch(r"raised in program/parser\.py:\d+ < program/parser\.py:\d+", found.notes[0])
    assert str(ROOT) not in found.render(), "paths of this machine are nobody's business"


def test_it_is_bounded() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        _ = 1 // 0
    assert not internal_error(raised.value, "a.pgas").notes, "no line of the package"
    assert internal_error(ValueError("x" * 10**6), "a.pgas").message.count("x") == MOST_CHARACTERS


@pytest.mark.parametrize("format", ["text", "json", "csv", "gcc", "github", "brief"])
def test_check_in_every_format(files: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    monkeypatch.setattr(Checker, "decided", failing_at("bad", Checker.decided, 1))
    asked = ["--brief"] if format == "brief" else ["--format", format]
    found = run("check", ".", *asked, "-j", 1, "--witness", "all.sarif")
    assert found.exit_code == 70, found.output
    assert "internal error: IndexError: list index" in found.output
    if format == "json":
        results = [json.loads(line) for line in found.stdout.splitlines()]
        assert [result["verdict"] for result in results] == ["robust", "error", "robust"]
    sarif = json.loads((files / "all.sarif").read_text())["runs"][0]
    assert sarif["invocations"][0]["executionSuccessful"] is False
    assert "internal error: IndexError: list index" in json.dumps(sarif)


def test_an_expected_error_is_another_one(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "bad.pgas").write_text(f"// expect: error\n// races: error\n{FINE}")
    monkeypatch.setattr(Checker, "decided", raises)
    for command in ("check", "race"):
        assert run(command, "bad.pgas", "--expect").exit_code == 70


def test_race(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "bad.pgas").write_text(OTHER)
    decide = RaceDecision.verdict
    monkeypatch.setattr(
        RaceDecision, "verdict", lambda self: raises() if "bad" in self._session.question.file else decide(self)
    )
    found = run("race", ".", "-j", 1, "--format", "json")
    results = [json.loads(line) for line in found.stdout.splitlines()]
    assert found.exit_code == 70 and [each["verdict"] for each in results] == ["no race", "error", "no race"]


@pytest.mark.parametrize("format", ["text", "json"])
def test_litmus(files: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    monkeypatch.setattr(litmus_parser, "parse_file", failing_at("bad", litmus_parser.parse_file))
    found = run("litmus", ".", "--model", "sc", "--format", format)
    assert found.exit_code == 70 and "internal error: IndexError: list index" in found.output
    if format == "json":
        assert [bool(json.loads(line)["errors"]) for line in found.stdout.splitlines()] == [False, True, False]
    else:
        assert found.stdout.count("a.litmus") == found.stdout.count("c.litmus") > 0


@pytest.mark.parametrize("network", ["pgas", "corerma"])
def test_networks(files: Path, monkeypatch: pytest.MonkeyPatch, network: str) -> None:
    for module, name in ((litmus_checks, "parse_file"), (network_verdict, "parse_litmus")):
        monkeypatch.setattr(module, name, failing_at("bad", getattr(module, name)))
    tests = ["a.litmus", "bad.litmus", "c.litmus"]
    found = run("check", *tests, "--network", network) if network != "pgas" else run("check", *tests)
    assert found.exit_code == 70 and "internal error: IndexError: list index" in found.output
    assert "a.litmus" in found.stdout and "c.litmus" in found.stdout


def test_what_is_asked_beside_the_verdict(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.cli.check.look_for_fixes", raises)
    shutil.copy(ROOT / "programs/one_to_one/one_to_one.pgas", files / "bad.pgas")
    found = run("check", "bad.pgas", "a.pgas", "--fixes", "-j", 1)
    assert found.exit_code == 70 and "internal error: IndexError: list index" in found.output
    assert "bad.pgas: not robust" in found.stdout or "not robust" in found.stdout


def test_recorded_runs(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pgasrob.recording import recorded_answers

    monkeypatch.setattr(recorded_answers, "RecordedTrace", raises)
    for command in ("check", "race"):
        found = run(command, "a.pgastrace", "b.pgastrace")
        assert found.exit_code == 70 and found.output.count("internal error: IndexError: list index") >= 2


def test_the_memory_model_of_mpi(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[decide_file.__module__], "load", raises)
    found = run("race", "a.pgas", "c.pgas", "--memory-model", "unified")
    assert found.exit_code == 70 and found.output.count("internal error: IndexError: list index") == 2
