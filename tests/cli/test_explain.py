"""`pgasrob explain`: what it prints and writes, and what it says when it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli

PROGRAMS = Path(__file__).parents[2] / "programs"
ONE_TO_ONE = str(PROGRAMS / "one_to_one" / "one_to_one.pgas")


def explain(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["explain", *map(str, arguments)], env={"COLUMNS": "80"})


def test_all_chapters_are_printed() -> None:
    result = explain(ONE_TO_ONE)
    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout.startswith(f"{ONE_TO_ONE}: not robust on 2 nodes")
    for number in range(1, 10):
        assert f"\n── {number}. " in result.stdout


@pytest.mark.parametrize("chapter", ["5", "normal-form", "norm"])
def test_one_chapter(chapter: str) -> None:
    result = explain(ONE_TO_ONE, "--only", chapter)
    assert result.exit_code == 0
    assert "\n── 5. The normal form" in result.stdout and result.stdout.count("\n── ") == 1


def test_a_page(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    result = explain(ONE_TO_ONE, "-o", page)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "9 chapters" in result.stderr
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_more_nodes_and_a_robust_program() -> None:
    result = explain(PROGRAMS / "one_to_one" / "one_to_one_wait.pgas", "-n", "3", "--max-states", "50")
    assert result.exit_code == 0
    assert "robust on 3 nodes" in result.stdout and "passed 50 states or" in " ".join(result.stdout.split())


def test_searches_that_pass_their_limit_do_not_contradict_it() -> None:
    """The attack search ends with 14 states before it notices that it was to have 5."""
    result = explain(ONE_TO_ONE, "--max-states", "5")
    message = " ".join(result.stdout.split())
    assert "attack, with all reductions 14 " in message
    assert "A search is stopped when it notices that it has passed 5 states or 0.75 s;" in message


def test_a_c_program() -> None:
    result = explain(PROGRAMS / "c" / "openshmem" / "message_passing_no_fence.c", "--only", "computation")
    assert result.exit_code == 0 and "shmem_long_put(data, source, 2, 1)" in result.stdout


def test_an_error_code_is_explained_elsewhere() -> None:
    result = explain("pg010")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`pgasrob explain-error PG010`" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "nothing"], "no chapter 'nothing'; there is program, computation"),
        (["-o", "out.pdf"], "'out.pdf' is no .html file"),
        (["-o", "/nonexistent/out.html"], "cannot write /nonexistent/out.html: No such file"),
        (["-n", "0"], "0 is not in the range"),
        (["--timeout", "inf"], "number of seconds"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], said: str) -> None:
    result = explain(ONE_TO_ONE, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    file = tmp_path / "x.pgas"
    file.write_text("process { nonsense }")
    result = explain(file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[PG" in result.stderr and "Traceback" not in result.stderr
    assert explain(tmp_path / "missing.pgas").exit_code == 2


ENDLESS = """memory x, y; register r; queue q; process {
  loop { mem[x] <- r; r <- r + 1; if (r < 0) { write(x, me, y, q); r <- mem[y]; } } }"""
"""Its states never end, and there seems to be something to find."""


def test_what_is_not_known_says_so(tmp_path: Path) -> None:
    (tmp_path / "endless.pgas").write_text(ENDLESS)
    result = explain(tmp_path / "endless.pgas", "--max-states", "2")
    assert result.exit_code == 3
    assert "unknown on 2 nodes" in result.stdout and "Whether the program is robust is not known" in result.stdout


def test_an_error_that_runs_reach() -> None:
    result = explain(PROGRAMS / "faults" / "division_by_zero.pgas")
    assert result.exit_code == 2
    assert "error on" in result.stdout and "division by zero" in result.stdout
