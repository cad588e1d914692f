"""`pgasrob outcomes` and `pgasrob run`: exit codes, options, output, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli

ROOT = Path(__file__).parents[2]
SB = "memory one = 1, x; register r; queue q; process { write(one, (me + 1) % nodes, x, q); r <- mem[x]; }"
SB_WAIT = SB.replace("r <-", "wait(q); r <-")
LOOP = "memory x; register r;\nprocess {\n  while (r < 3) { r <- r + 1; }\n}"
FAULT = "register r; process { r <- 1 / r; }"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    texts = {"sb": SB, "wait": SB_WAIT, "loop": LOOP, "fault": FAULT, "bad": "process { skip }"}
    for name, text in texts.items():
        Path(f"{name}.pgas").write_text(text)
    return tmp_path


def pgasrob(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def loaded(result: Result) -> Any:
    (line,) = result.stdout.splitlines()
    return json.loads(line)


# Outcomes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("sb.pgas", 1),
        ("sb.pgas --of x", 0),  # the x of both ranks is 1 under SC, too
        ("sb.pgas -n 1", 1),
        ("wait.pgas", 0),
        ("fault.pgas", 0),
        ("loop.pgas", 2),
        ("bad.pgas", 2),
        ("none.pgas", 2),
        ("sb.pgas --max-states 20", 3),
        ("sb.pgas --max-states 2", 3),
        ("sb.pgas --max-states 0", 1),
        ("sb.pgas --of nothing", 2),
        ("sb.pgas --example 5", 2),
        ("sb.pgas -n 0", 2),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_codes(arguments: str, code: int, form: str) -> None:
    assert pgasrob("outcomes", *arguments.split(), "--format", form).exit_code == code


def test_the_text() -> None:
    result = pgasrob("outcomes", "sb.pgas")
    assert "sb.pgas: 4 outcomes on 2 nodes, 1 network-only\n" in result.stdout
    assert "1 │    0    0 │        0           264  network-only\n" in result.stdout
    assert not result.stderr


@pytest.mark.parametrize("columns", ["80", "120"])
def test_widths(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for arguments in (("outcomes", "sb.pgas", "--example", "1"), ("run", "sb.pgas", "--seed", "1")):
        shown = pgasrob(*arguments).stdout
        assert max(map(len, shown.splitlines())) <= int(columns)


def test_choosing() -> None:
    shown = loaded(pgasrob("outcomes", "sb.pgas", "--of", "r@0, x@1", "--format", "json"))
    assert [column["name"] for column in shown["columns"]] == ["r@0", "x@1"]
    assert shown["chosen"]
    assert len(shown["outcomes"]) == 2


def test_a_mistyped_name_is_met_with_a_question() -> None:
    result = pgasrob("outcomes", "sb.pgas", "--of", "one@0,onee@1")
    assert "no register or cell 'onee@1' on 2 nodes; did you mean `one@1`?" in " ".join(result.stderr.split())


def test_an_example() -> None:
    shown = pgasrob("outcomes", "sb.pgas", "--example", "1").stdout
    assert "A run on the network with outcome 1:" in shown
    assert "The cycle, edge by edge" in shown
    assert "there are 1..4" in pgasrob("outcomes", "sb.pgas", "--example", "9").stderr


def test_a_loop_is_an_error_with_its_line() -> None:
    result = pgasrob("outcomes", "loop.pgas")
    assert not result.stdout
    assert result.stderr.startswith("loop.pgas:3: rank 0 has a loop in line 3")
    assert "`pgasrob run loop.pgas`" in result.stderr
    shown = loaded(pgasrob("outcomes", "loop.pgas", "--format", "json"))
    assert "loop in line 3" in shown["reason"]
    assert shown["outcomes"] == []


@pytest.mark.parametrize("name", ["outcomes", "run"])
def test_a_text_that_is_no_program(name: str) -> None:
    result = pgasrob(name, "bad.pgas")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[PG" in result.stderr
    result = pgasrob(name, "bad.pgas", "--format", "json")
    assert result.exit_code == 2
    assert loaded(result)["errors"][0]["line"] == 1


def test_json_has_every_example() -> None:
    shown = loaded(pgasrob("outcomes", "sb.pgas", "--format", "json"))
    assert all(row["example"]["shows"] == "run" for row in shown["outcomes"])


def test_a_cut_enumeration_claims_nothing() -> None:
    for most in ("2", "5", "13", "20", "40", "61"):
        shown = loaded(pgasrob("outcomes", "sb.pgas", "--max-states", most, "--format", "json"))
        assert not shown["complete"]
        assert shown["network_only"] is None
    assert loaded(pgasrob("outcomes", "sb.pgas", "--max-states", "62", "--format", "json"))["complete"]


def test_a_cut_enumeration_that_has_found_a_network_only_outcome_is_still_unknown() -> None:
    """Rank 0 cannot go on when it reads early, and much would follow else: that end is met before the others."""
    Path("late.pgas").write_text(
        "memory one = 1, y; register r; queue q; nodes 2; process 0 { barrier; r <- mem[y]; r <- 1 / r; "
        + "r <- r + 1; " * 30
        + "} process 1 { write(one, 0, y, q); barrier; }"
    )
    met = 0
    for most in range(20, 60):
        result = pgasrob("outcomes", "late.pgas", "--max-states", str(most), "--format", "json")
        shown = loaded(result)
        assert result.exit_code == (1 if shown["complete"] else 3)
        met += not shown["complete"] and any(row["network_only"] for row in shown["outcomes"])
    assert met


def test_c_programs_have_outcomes() -> None:
    file = ROOT / "programs/c/openshmem/message_passing_no_fence.c"
    result = pgasrob("outcomes", str(file))
    assert result.exit_code == 1
    assert "network-only" in result.stdout
    # The register t holds what was loaded last, and not what a variable has at the end.
    assert "Registers are those of the core program" in result.stdout
    assert "Registers are those of the core program" in pgasrob("run", str(file), "--seed", "1").stdout
    assert "Registers are" not in pgasrob("outcomes", "sb.pgas").stdout
    assert pgasrob("outcomes", str(file.with_name("message_passing_fence.c"))).exit_code in (0, 2)


# One run


def test_a_seed_gives_one_run() -> None:
    first, again, other = (pgasrob("run", "sb.pgas", "--seed", seed).stdout for seed in ("1", "1", "2"))
    assert first == again != other
    assert "--seed 1 gives this run again." in first


def test_a_seed_is_found_and_printed() -> None:
    shown = pgasrob("run", "sb.pgas").stdout
    seed = re.search(r"--seed (\d+) gives", shown)
    assert seed
    assert pgasrob("run", "sb.pgas", "--seed", seed[1]).stdout == shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("sb.pgas", 0),
        ("loop.pgas", 0),
        ("fault.pgas", 0),
        ("none.pgas", 2),
        ("sb.pgas --sc", 0),
        ("sb.pgas --until violation --seed 1", 0),
        ("wait.pgas --until violation --tries 20", 1),
        ("fault.pgas --until fault", 0),
        ("sb.pgas --sc --until violation", 2),
        ("sb.pgas --seed -1", 2),
        ("sb.pgas --steps 0", 2),
        ("sb.pgas --bias never", 2),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_codes_of_runs(arguments: str, code: int, form: str) -> None:
    assert pgasrob("run", *arguments.split(), "--format", form).exit_code == code


def test_a_search_that_finds_nothing_claims_nothing() -> None:
    result = pgasrob("run", "wait.pgas", "--until", "violation", "--tries", "20", "--seed", "7")
    assert not result.stdout
    assert "no run of the 20 with the seeds from 7 on" in result.stderr
    assert "`pgasrob check` looks at all" in result.stderr
    arguments = ("run", "wait.pgas", "--until", "violation", "--tries", "20", "--seed", "7", "--format", "json")
    shown = loaded(pgasrob(*arguments))
    assert shown["witness"] is None
    assert "20" in shown["reason"]


def test_the_run_in_json() -> None:
    shown = loaded(pgasrob("run", "sb.pgas", "--seed", "3", "--format", "json"))
    assert (shown["engine"], shown["verdict"], shown["witness"]["shows"]) == ("run", None, "run")
    assert shown["simulation"]["seed"] == 3


# Files


@pytest.mark.parametrize("ending", ["json", "txt", "dot"])
@pytest.mark.parametrize("name", ["outcomes", "run"])
def test_runs_are_written_to_files(folder: Path, name: str, ending: str) -> None:
    result = pgasrob(name, "sb.pgas", "--witness", f"out.{ending}", *(["--seed", "1"] if name == "run" else []))
    assert result.exit_code == (1 if name == "outcomes" else 0)
    assert Path(f"out.{ending}").stat().st_size > 100
    if name == "outcomes":
        assert f"out.{ending} has a run with outcome 1" in result.stderr


@pytest.mark.parametrize("name", ["outcomes", "run"])
def test_several_files_and_placeholders(name: str) -> None:
    seed = ["--seed", "1"] if name == "run" else []
    files = [part for path in ("{name}-{nodes}.svg", "out.json") for part in ("--witness", path)]
    assert pgasrob(name, "sb.pgas", "-n", "2", *seed, *files).exit_code in (0, 1)
    assert Path("sb-2.svg").exists() and Path("out.json").exists()
    for path, message in {
        "{nme}.svg": "there is no placeholder {nme}; there are {name}, {path}, {nodes}.",
        "out.sarif": "out.sarif: SARIF is for verdicts, and one run has none",
    }.items():
        refused = pgasrob(name, "sb.pgas", "--witness", path)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert message in " ".join(refused.output.split())


def test_the_file_of_an_example_names_the_outcome() -> None:
    result = pgasrob("outcomes", "sb.pgas", "--example", "1", *("--witness", "o.txt", "--witness", "o.html"))
    assert result.stderr.splitlines() == [f"pgasrob: {path} has a run with outcome 1" for path in ("o.html", "o.txt")]
    text = Path("o.txt").read_text()
    assert text.startswith("sb.pgas: a run with outcome 1 on 2 nodes\n")
    assert "A run on the network with outcome 1 that no SC run looks like:" in text
    assert "At its end one = 1 on every rank, x = 1 on every rank; all else is 0." in text
    page = Path("o.html").read_text()
    assert "a run with outcome 1 on 2 nodes" in page and "simulated" not in page.split("<script")[0]
    assert "No SC order is known" not in page
    pgasrob("outcomes", "sb.pgas", "--example", "4", "--witness", "o.json")
    drawn = pgasrob("draw", "o.json", "--to", "txt").stdout
    assert "An SC run with outcome 4:" in drawn and "It is an SC run: every step" in drawn


def test_what_gives_a_run_again() -> None:
    assert "--sc --seed 3 gives this run again." in pgasrob("run", "sb.pgas", "--sc", "--seed", "3").stdout
    cut = pgasrob("run", "loop.pgas", "--seed", "3", "--bias", "late", "--steps", "5").stdout
    assert "--seed 3 --bias late --steps 5 gives this run again." in cut


@pytest.mark.parametrize("name", ["outcomes", "run"])
def test_a_long_path_does_not_widen_the_headline(name: str, folder: Path) -> None:
    long = folder / ("a" * 70)
    long.mkdir()
    (long / "sb.pgas").write_text(SB)
    first, second, *rest = pgasrob(name, f"{long.name}/sb.pgas").stdout.splitlines()
    assert first == f"{long.name}/sb.pgas:"
    assert second == (
        "  4 outcomes on 2 nodes, 1 network-only" if name == "outcomes" else "  a run on the network on 2 nodes"
    )
    assert max(map(len, rest)) <= 80


def test_a_file_with_an_unknown_ending_is_refused_before_anything_else() -> None:
    result = pgasrob("outcomes", "sb.pgas", "--witness", "out.xyz")
    assert result.exit_code == 2
    assert not result.stdout
