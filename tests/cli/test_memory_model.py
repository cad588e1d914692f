"""`pgasrob race --memory-model` and `pgasrob explain --memory-model`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli

FIGURES = Path(__file__).parents[2] / "programs" / "c" / "mpi" / "hoefler"
MESSAGE = str(FIGURES / "figure_9b.c")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), env={"COLUMNS": "80"})


def test_a_race_is_told() -> None:
    result = run("race", MESSAGE, "--memory-model", "separate")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{MESSAGE}: undefined in the separate model on 2 nodes\n")
    message = " ".join(result.stdout.split())
    assert (
        "lines 22 and 28: the MPI_Put of rank 0 takes effect on x@1, and rank 1 reads x@1; one happens before the "
        "other, but no call makes the memory consistent in between."
    ) in message
    defined = run("race", MESSAGE, "--memory-model", "unified")
    assert (defined.exit_code, "defined in the unified model" in defined.stdout) == (0, True)
    eventual = run("race", FIGURES / "figure_8d.c", "--memory-model", "unified")
    assert (eventual.exit_code, "MPI does not say when" in " ".join(eventual.stdout.split())) == (0, True)


def test_as_json() -> None:
    result = run("race", FIGURES, "--memory-model", "separate", "--format", "json", "--expect", "--all")
    assert result.exit_code == 0
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == len(list(FIGURES.glob("*.c")))
    assert all(each["as_expected"] and each["memory_model"] == "separate" for each in found)
    (one,) = (each for each in found if each["file"] == MESSAGE)
    assert (one["verdict"], one["status"], one["executions"]) == ("race", "undefined", 1)
    assert [access["access"] for access in one["races"][0]["accesses"]] == ["vac", "load"]
    assert not any(each["code"] == "unified-windows" for each in one["assumptions"])


def test_what_is_not_as_expected(tmp_path: Path) -> None:
    other = tmp_path / "other.c"
    other.write_text(Path(MESSAGE).read_text().replace("// separate: undefined", "// separate: defined"))
    result = run("race", other, "--memory-model", "separate", "--expect")
    assert (result.exit_code, "(expected: defined)" in result.stdout) == (1, True)
    other.write_text(Path(MESSAGE).read_text().replace("// separate: undefined", ""))
    result = run("race", other, "--memory-model", "separate", "--expect")
    assert (result.exit_code, "no `// separate:` in the header" in result.stdout) == (2, True)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("int main(void) { return 0; }", 3, "It makes no window of MPI."),
        ("int main(void) { return x; }", 2, "unknown name `x`"),
    ],
)
def test_no_answer(tmp_path: Path, text: str, code: int, message: str) -> None:
    file = tmp_path / "x.c"
    file.write_text(text)
    result = run("race", file, "--memory-model", "unified")
    assert (result.exit_code, message in result.stdout) == (code, True), result.stdout
    assert run("explain", file, "--memory-model", "unified").exit_code == code


def test_a_program_that_is_not_in_c() -> None:
    result = run("race", Path(__file__).parents[2] / "programs" / "one_to_one" / "one_to_one.pgas",
                 "--memory-model", "unified")  # fmt: skip
    assert result.exit_code == 2
    assert "memory models of MPI are about C programs" in result.stdout


@pytest.mark.parametrize("option", ["--strict", "--full", "--no-robustness", "--jobs=2", "--witness=x.svg"])
def test_options_that_do_not_go_with_it(option: str) -> None:
    result = run("race", MESSAGE, "--memory-model", "unified", option)
    assert result.exit_code == 2
    assert "--memory-model goes with" in result.stderr


def test_an_execution_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    result = run("explain", MESSAGE, "--memory-model", "separate", "-o", picture)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "undefined in the separate model" in result.stderr
    assert "hb, no co" in picture.read_text()
    printed = run("explain", MESSAGE, "--memory-model", "separate")
    assert "cohb of conflicting accesses" not in printed.stdout
    assert "vac Put of 0: writes x@1" in printed.stdout
    assert run("explain", MESSAGE, "--memory-model", "separate", "-o", "x.html").exit_code == 2
    assert run("explain", MESSAGE, "--memory-model", "separate", "--only", "heads").exit_code == 2
