"""`check --witness` and `draw`: which file gets which run, and what is said when there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.batch import side_by_side
from pgasrob.cli import cli
from pgasrob.cli.witness_files import Witnesses
from pgasrob.render.output_files import FORMATS
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE

ROOT = Path(__file__).parents[2]
ROBUST = "memory x; process { mem[x] <- 1; }"
SYNTAX_ERROR = "process { skip }"
BOTH = """memory x; queue q; register r; nodes 1;
process { write(x, 0, x, q); mem[x] <- 1; assert(r == 1); }"""
"""A violation, and an assertion that fails already in an SC run."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with some programs."""
    monkeypatch.chdir(tmp_path)
    programs = {
        "ring": ONE_TO_ONE,
        "quiet": ROBUST,
        "bad": SYNTAX_ERROR,
        "dead": DEADLOCK,
        "both": BOTH,
    }
    for name, text in programs.items():
        (tmp_path / f"{name}.pgas").write_text(text)
    return tmp_path


def run(*arguments: str, given: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, list(arguments), input=given)


def check(*arguments: str) -> Result:
    return run("check", *arguments)


def made(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".pgas")


# check --witness


def test_fold_draws_the_cycle_only(folder: Path) -> None:
    for options in (("check", "ring.pgas", "--witness", "ring.json"), ("draw", "ring.json", "-o", "whole.svg")):
        assert run(*options).exit_code in (0, 1)
    folded = ("check", "ring.pgas", "--fold", "--witness", "folded.svg", "--witness", "folded.json")
    assert run(*folded).exit_code == 1
    assert run("draw", "ring.json", "--fold", "-o", "drawn.svg").exit_code == 0
    printed = run("draw", "ring.json", "--fold", "--to", "svg")
    assert (folder / "folded.svg").read_text() == (folder / "drawn.svg").read_text() == printed.output
    assert (folder / "folded.svg").read_text() != (folder / "whole.svg").read_text()
    assert (
        json.loads((folder / "folded.json").read_text())["witness"]
        == json.loads((folder / "ring.json").read_text())["witness"]
    )
    simulated = run("run", "ring.pgas", "--until", "violation", "--seed", "1", "--fold", "--witness", "run.svg")
    assert simulated.exit_code == 0 and 'class="fold"' in (folder / "run.svg").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("check", "ring.pgas", "--fold"),
        ("check", "ring.pgas", "--fold", "--witness", "ring.json"),
        ("run", "ring.pgas", "--fold", "--witness", "ring.txt"),
        ("outcomes", "ring.pgas", "--fold", "--example", "1"),
        ("draw", "ring.json", "--fold", "--to", "sarif"),
    ],
)
def test_fold_wants_a_picture(folder: Path, options: tuple[str, ...]) -> None:
    (folder / "ring.json").write_text("{}")
    refused = run(*options)
    assert refused.exit_code == 2
    assert "--fold is for pictures: add" in refused.output and ".mmd or .tex" in refused.output


def test_every_format_at_once_and_again_from_the_json(folder: Path) -> None:
    wanted = [part for ending in FORMATS for part in ("--witness", f"ring{ending}")]
    plain, written = check("ring.pgas"), check("ring.pgas", *wanted)
    assert written.exit_code == plain.exit_code == 1
    assert made(folder) == sorted(f"ring{ending}" for ending in FORMATS)
    drawn = run("draw", "ring.json", *(part for ending in FORMATS for part in ("-o", f"again{ending}")))
    assert (drawn.exit_code, drawn.output) == (0, "")
    for ending in FORMATS:
        assert Path(f"again{ending}").read_bytes() == Path(f"ring{ending}").read_bytes()


def test_the_endings_are_looked_at_before_anything_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "convert_all", lambda *_: pytest.fail("searched"))
    for path, message in (
        ("ring.svgg", "did you mean `.svg`?"),
        ("ring", "has no ending"),
        ("ring.pdf", ".svg or .tex"),
        ("nowhere/ring.svg", "there is no folder nowhere; make it first"),
        ("{nodes}/ring-{name}.svg", "there is no folder 2; make it first"),
        ("ring-{node}.svg", "there is no placeholder {node}; there are {name}, {path}, {nodes}"),
    ):
        result = check("ring.pgas", "-n", "2", "--witness", path)
        assert result.exit_code == 2, path
        assert message in result.output


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_written(folder: Path) -> None:
    (folder / "old.svg").write_text("old")
    (folder / "old.svg").chmod(0o400)
    result = check("ring.pgas", "--witness", "old.svg")
    assert result.exit_code == 2
    assert "permission denied" in result.output


def test_a_file_that_cannot_be_written_at_the_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pgasrob.render.output_files.os.replace", refuse)
    result = check("ring.pgas", "--witness", "ring.svg", "--witness", "ring.sarif")
    assert result.exit_code == 2
    assert "ring.pgas: not robust" in result.stdout
    assert result.stderr.count("pgasrob: cannot write ring.svg: No space left on device") == 1
    assert "cannot write ring.sarif" in result.stderr
    assert made(folder) == []


@pytest.mark.parametrize(
    ("arguments", "hint", "written"),
    [
        ("ring.pgas -n 2..3", "run-{nodes}.svg", "run-2.svg run-3.svg"),
        ("ring.pgas dead.pgas", "run-{name}.svg", "run-dead.svg run-ring.svg"),
        (
            "ring.pgas both.pgas -n 1,3",
            "run-{name}-{nodes}.svg",
            "run-both-1.svg run-both-3.svg run-ring-1.svg run-ring-3.svg",
        ),
        ("ring.pgas sub/ring.pgas", "run-{path}.svg", "run-ring.pgas.svg run-sub-ring.pgas.svg"),
    ],
)
def test_two_runs_do_not_go_to_one_file(arguments: str, hint: str, written: str, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "ring.pgas").write_text(ONE_TO_ONE)
    refused = check(*arguments.split(), "--witness", "run.svg")
    assert refused.exit_code == 2
    assert f"Try --witness '{hint}'." in refused.output
    assert check(*arguments.split(), "--witness", hint).exit_code == 1
    assert sorted(path.name for path in folder.glob("run-*.svg")) == written.split()
    assert check(*arguments.split(), "--witness", "run.sarif").exit_code == 1


def test_several_results_in_one_file(folder: Path) -> None:
    result = check(
        "ring.pgas", "quiet.pgas", "bad.pgas", "-n", "2,3", "--witness", "all.json", "--witness", "all.sarif"
    )
    assert result.exit_code == 2
    found = [json.loads(line) for line in (folder / "all.json").read_text().splitlines()]
    assert [(each["file"], each["nodes"]) for each in found] == [
        ("ring.pgas", 2), ("ring.pgas", 3), ("quiet.pgas", 2), ("quiet.pgas", 3), ("bad.pgas", None),
    ]  # fmt: skip
    assert len(json.loads((folder / "all.sarif").read_text())["runs"][0]["results"]) == 3


def test_the_path_of_a_file_without_node_count() -> None:
    assert check("bad.pgas", "--witness", "{path}-{nodes}.txt").exit_code == 2
    assert "error[PG011]" in Path("bad.pgas-own.txt").read_text()


def test_no_run_to_draw(folder: Path) -> None:
    result = check("quiet.pgas", *(part for ending in FORMATS for part in ("--witness", f"run{ending}")))
    assert result.exit_code == 0
    assert made(folder) == ["run.html", "run.json", "run.sarif", "run.txt"]
    assert (
        "pgasrob: there is no run to draw, for the verdict on quiet.pgas is robust; not written: run.svg, run.dot, "
        "run.mmd, run.tex\n"
    ) in result.stderr
    several = check("quiet.pgas", "ring.pgas", "-n", "2,3", "--witness", "{name}-{nodes}.svg")
    assert several.exit_code == 1
    assert "pgasrob: of 2 there is no run to draw; not written: quiet-2.svg, quiet-3.svg\n" in several.stderr
    assert (folder / "ring-3.svg").exists()


def test_the_text_is_a_hundred_columns_wide_and_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "50")
    check("ring.pgas", "--witness", "ring.txt")
    text = Path("ring.txt").read_text()
    assert "\x1b" not in text
    assert 80 < max(map(len, text.splitlines())) <= 100


def test_interrupted_what_is_known_is_written(folder: Path) -> None:
    writing = Witnesses(["all.json"], ["ring.pgas", "quiet.pgas"], None)
    writing.result(json.loads(run("check", "ring.pgas", "--format", "json").stdout))
    assert made(folder) == []
    assert writing.end()
    assert len((folder / "all.json").read_text().splitlines()) == 1


# draw


def test_printing_a_format() -> None:
    check("ring.pgas", "--witness", "ring.json", "--witness", "ring.dot")
    for name in ("dot", ".dot"):
        result = run("draw", "ring.json", "--to", name)
        assert (result.exit_code, result.stdout) == (0, Path("ring.dot").read_text())
    piped = run("draw", "-", "--to", "dot", given=Path("ring.json").read_bytes())
    assert piped.stdout == Path("ring.dot").read_text()
    wrong = run("draw", "ring.json", "--to", "dott")
    assert wrong.exit_code == 2
    assert "did you mean `dot`?" in wrong.output


def test_it_works_where_the_terminal_knows_ascii_alone() -> None:
    check("ring.pgas", "--witness", "ring.json")
    done = subprocess.run(
        [sys.executable, "-m", "pgasrob", "draw", "ring.json", "--to", "txt"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert b"-+- delayed -" in done.stdout and b"So step " in done.stdout


def test_one_of_several_results() -> None:
    Path("all.json").write_text(check("quiet.pgas", "dead.pgas", "ring.pgas", "-n", "3", "--format", "json").stdout)
    assert run("draw", "all.json", "-o", "first.dot", "-o", "all.sarif").exit_code == 0
    assert "dead.pgas on 3 nodes" in Path("first.dot").read_text()
    assert len(json.loads(Path("all.sarif").read_text())["runs"][0]["results"]) == 3
    again = run("draw", "all.json", "-o", "first.dot", "-o", "all.sarif", "--to", "mmd")
    wanted = "shows result 2 of 3, dead.pgas on 3 nodes; --result N draws another"
    assert again.stderr.splitlines() == [f"pgasrob: first.dot {wanted}", f"pgasrob: this {wanted}"]
    assert not run("draw", "all.json", "--result", "2", "-o", "first.dot").stderr
    assert run("draw", "all.json", "-o", "{name}-{nodes}.json").exit_code == 0
    assert len(Path("ring-3.json").read_text().splitlines()) == 1
    refused = run("draw", "all.json", "-o", "{nme}.svg")
    assert refused.exit_code == 2
    assert "-o {nme}.svg: there is no placeholder {nme}; there are {name}, {path}, {nodes}." in refused.output
    third = run("draw", "all.json", "--result", "3", "--to", "dot")
    assert "ring.pgas on 3 nodes" in third.stdout
    first = run("draw", "all.json", "--result", "1", "--to", "dot")
    assert first.exit_code == 2
    assert "pgasrob: all.json: there is no run to draw; the verdict is robust\n" in first.stderr
    assert run("draw", "all.json", "--result", "1", "--to", "txt").stdout.startswith("quiet.pgas: robust")
    fourth = run("draw", "all.json", "--result", "4", "--to", "dot")
    assert fourth.exit_code == 2
    assert "--result 4: all.json has 3 results." in fourth.output


def test_the_runs_of_a_result() -> None:
    check("both.pgas", "dead.pgas", "-n", "3", "--witness", "all.json")
    assert "looks like" in run("draw", "all.json", "--to", "dot").stdout
    assertion = run("draw", "all.json", "--result", "1", "--run", "assertion", "--to", "txt")
    assert "An SC run in which the assertion in line 2 fails" in assertion.stdout
    assert "A run on the network that no SC run looks like" not in assertion.stdout
    deadlock = run("draw", "all.json", "--run", "deadlock", "--to", "dot")
    assert "dead.pgas on 3 nodes: an SC run that ends in the deadlock" in deadlock.stdout
    none = run("draw", "all.json", "--result", "1", "--run", "deadlock", "--to", "dot")
    assert none.exit_code == 2
    assert "pgasrob: all.json: there is no run of that kind (deadlock)" in none.stderr


def test_a_simulated_run() -> None:
    Path("run.json").write_text(run("run", "ring.pgas", "--seed", "3", "--format", "json").stdout)
    wanted = [part for ending in FORMATS for part in ("-o", f"run-again{ending}")]
    assert run("draw", "run.json", *wanted).exit_code == 0
    assert json.loads(Path("run-again.json").read_text()) == json.loads(Path("run.json").read_text())
    assert json.loads(Path("run-again.sarif").read_text())["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("process {}", "bad.json: line 1, column 1: this is no JSON"),
        ("", "bad.json: there is nothing in it"),
        ("[]", "bad.json: this is no result"),
        (
            '{"schema": 1, "engine": "outcomes", "outcomes": []}',
            "`pgasrob outcomes FILE --example N --witness run.json`",
        ),
        (
            '{"schema": 2, "verdict": "robust", "witness": null}',
            "bad.json: schema: this version of pgasrob reads schema 1",
        ),
        ('{"schema": 1, "verdict": "robust", "witness": null}', "bad.json: file: it is missing"),
    ],
)
def test_bad_files_are_plain_errors(text: str, message: str) -> None:
    Path("bad.json").write_text(text)
    result = run("draw", "bad.json", "-o", "bad.svg")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("pgasrob: ") and result.stderr.count("\n") == 1
    assert not Path("bad.svg").exists()


def test_a_program_is_no_run() -> None:
    result = run("draw", "ring.pgas", "-o", "ring.svg")
    assert result.exit_code == 2
    assert "draw needs what `pgasrob check ring.pgas --witness run.json` writes" in result.stderr


def test_what_cannot_be_read_or_written() -> None:
    assert "pgasrob: cannot read absent.json: No such file" in run("draw", "absent.json", "-o", "a.svg").stderr
    assert "pgasrob: cannot read .: it is a folder, not a file" in run("draw", ".", "-o", "a.svg").stderr
    check("ring.pgas", "--witness", "ring.json")
    nowhere = run("draw", "ring.json")
    assert nowhere.exit_code == 2
    assert "-o run.svg, or --to svg" in nowhere.output
    assert "there is no folder no" in run("draw", "ring.json", "-o", "no/ring.svg").output
