"""`pgasrob race`, and `pgasrob check --races`: options, exit codes, what is printed and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import pgasrob
from pgasrob.cli import cli
from pgasrob.cli.exit_codes import code_of_races
from pgasrob.races import race_check
from tests.support import sampled

ANSWERS = Path(__file__).parents[1] / "frontends/answers"

RACE = "memory x, y; register r; queue q;\nprocess 0 { write(x, 1, y, q); }\nprocess { r <- mem[y]; }\n"
NONE = "memory x;\nprocess { mem[x] <- me; }\n"
TWO = "memory x, y; register r; queue q;\nprocess 0 { write(x, 1, y, q);\n mem[x] <- 1; }\nprocess { r <- mem[y]; }\n"
MANY = """memory x, y; register r; queue q;
process 0 { while (r < 5000) { r <- r + 1; mem[x] <- r; write(x, 1, y, q); wait(q); } barrier; }
process { barrier; mem[y] <- 1; }
"""
FAULT = "register r;\nprocess { r <- 1 / r; }\n"
WRONG = "process {\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = {"race": RACE, "none": NONE, "two": TWO, "fault": FAULT, "wrong": WRONG, "many": MANY}
    for name, text in texts.items():
        (tmp_path / f"{name}.pgas").write_text(text)
    return tmp_path


def run(command: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [command, *arguments], env={"COLUMNS": "100"})


def race(*arguments: str) -> Result:
    return run("race", *arguments)


def objects(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in race(*arguments, "--format", "json").stdout.splitlines()]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (["none.pgas"], 0),
        (["race.pgas"], 1),
        (["fault.pgas"], 2),
        (["wrong.pgas"], 2),
        (["none.pgas", "race.pgas"], 1),
        (["race.pgas", "none.pgas", "wrong.pgas"], 2),
        (["many.pgas", "--max-states", "2000"], 3),
        (["wrong.pgas", "many.pgas", "race.pgas", "--max-states", "2000"], 2),
        (["missing.pgas"], 2),
        ([], 2),
    ],
)
def test_the_gravest_exit_code(folder: Path, files: list[str], code: int) -> None:
    assert race(*files, "-j1").exit_code == code


def test_several_programs_and_node_counts_are_rows(folder: Path) -> None:
    printed = race("race.pgas", "none.pgas", "-n", "2..3", "-j2")
    rows = [line.split() for line in printed.stdout.splitlines()[:5]]
    assert [row[:2] for row in rows[1:]] == [
        ["race.pgas", "2"],
        ["race.pgas", "3"],
        ["none.pgas", "2"],
        ["none.pgas", "3"],
    ]
    assert rows[0][1:5] == ["nodes", "verdict", "pairs", "beside"]
    assert "4 results in" in printed.stdout and "2 no race, 2 race" in printed.stdout
    assert "Races are shown for a single program or with --verbose." in printed.stdout


def test_one_race_or_all(folder: Path) -> None:
    (one,), (every,) = objects("two.pgas"), objects("two.pgas", "--all")
    assert (len(one["races"]), one["all"]) == (1, False)
    assert ([each["lines"] for each in every["races"]], every["all"]) == ([[2, 3], [2, 4]], True)
    assert {key: every[key] for key in ("schema", "file", "nodes", "verdict", "strict")} == {
        "schema": 1, "file": "two.pgas", "nodes": 2, "verdict": "race", "strict": False,
    }  # fmt: skip
    assert every["races"][0]["kind"] == "local buffer"
    accesses = [(each["rank"], each["line"], each["column"], each["access"], each["cell"])
                for each in every["races"][0]["accesses"]]  # fmt: skip
    assert accesses == [(0, 2, 13, "read", "x@0"), (0, 3, 2, "write", "x@0")]


def test_robustness_beside_races(folder: Path) -> None:
    (beside,), (alone,) = objects("race.pgas"), objects("race.pgas", "--no-robustness")
    assert beside["robustness"]["verdict"] == "robust"
    assert beside["robustness"]["effect"] is None
    assert alone["robustness"] is None
    report = " ".join(race("race.pgas").stdout.split())
    assert "in which one of the two comes first. How SC runs end does not depend on which." in report
    assert "robust" not in race("race.pgas", "--no-robustness").stdout
    not_robust = race("two.pgas").stdout
    assert "The program is not robust" in not_robust and "`pgasrob check two.pgas -n 2`" in not_robust


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("matters", "changes the result: "),
        ("harmless", "How SC runs end does not depend on which."),
    ],
)
def test_whether_sc_runs_end_differently_is_said_of_a_race(kind: str, sentence: str) -> None:
    """A lost update and the like are robust, and yet nobody wants them: that no run can tell them would be wrong."""
    told = 0
    for path in sampled(sorted((ANSWERS / kind).glob("*.c")), 3):
        report = " ".join(race(str(path)).stdout.split())
        if "robust all the same" in report:
            assert sentence in report, path
            told += 1
    assert told >= 3


LOST = """#include <shmem.h>
static int counter;
int main(void) {
  shmem_init();
  int v = shmem_int_g(&counter, 0);
  shmem_int_p(&counter, v + 1, 0);
  shmem_finalize();
  return 0;
}
"""


def test_a_lost_update_changes_how_runs_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is found by one search."""
    searches: list[object] = []
    made = race_check.race_search
    monkeypatch.setattr(race_check, "race_search", lambda *of: searches.append(of) or made(*of))
    (tmp_path / "lost.c").write_text(LOST)
    report = " ".join(race(str(tmp_path / "lost.c")).stdout.split())
    assert "The race in lines 5 and 6 changes the result: counter@0 at the end is 2 or 1." in report
    assert len(searches) == 1


def test_a_fault_or_a_limit_needs_no_second_question(folder: Path) -> None:
    assert [each["robustness"] for each in objects("fault.pgas", "wrong.pgas", "-j1")] == [None, None]
    (cut,) = objects("many.pgas", "--max-states", "2000")
    assert (cut["verdict"], cut["limit"], cut["races"]) == ("unknown", "max-states", [])


def test_strict(folder: Path) -> None:
    Path("await.pgas").write_text(
        "memory x, y; queue q;\nprocess 0 { write(x, 1, y, q); }\nprocess { await(mem[y] == 0); }"
    )
    assert race("await.pgas").exit_code == 0
    assert race("await.pgas", "--strict").exit_code == 1


@pytest.mark.parametrize(
    ("header", "text", "code", "printed"),
    [
        ("races: 2 pairs", TWO, 0, "race on 2 nodes: 2 pairs of lines (as expected)"),
        ("races: 1 pair", TWO, 1, "(expected 1 pair)"),
        ("races: none", NONE, 0, "no race on 2 nodes (as expected)"),
        ("races: none at 2, 1 pair at 3", NONE, 0, "(as expected)"),
        ("races: none at 3", NONE, 2, "(no `// races:` says how many pairs are expected)"),
        ("expect: robust", NONE, 2, "(no `// races:` says how many pairs are expected)"),
        ("expect: error", FAULT, 0, "error on 2 nodes (as expected)"),
        ("expect: error", WRONG, 0, "error (as expected)"),
        ("races: none", FAULT, 2, "(expected none)"),
        ("races: some", NONE, 2, "error[PG070]: `some` is not an expectation"),
        ("races: 1 pair", RACE, 0, "(as expected)"),
    ],
)
def test_expected_numbers_of_pairs(folder: Path, header: str, text: str, code: int, printed: str) -> None:
    Path("p.pgas").write_text(f"// {header}\n{text}")
    result = race("p.pgas", "--expect")
    assert printed in result.stdout
    assert result.exit_code == code


def test_a_list_that_may_not_be_whole_is_not_compared(folder: Path) -> None:
    Path("p.pgas").write_text(f"// races: 2 pairs\n{TWO}")
    (result,) = objects("p.pgas", "--expect")
    assert code_of_races(result, True) == 0  # type: ignore[arg-type]
    cut = {**result, "reason": "there may be more races", "as_expected": False}
    assert code_of_races(cut, True) == 3  # type: ignore[arg-type]
    assert code_of_races(cut, False) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["race.pgas", "--expect", "--strict"], "--expect compares with headers that are about races without --strict"),
        (["race.pgas", "--expect", "--failed-polls", "count"], "--expect compares with headers"),
        (["race.pgas", "--brief", "--full"], "--brief prints a line each"),
        ([], "Missing argument 'FILE...'."),
        (["race.pgas", "--witness", "race.png"], "there is no format .png"),
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], message: str) -> None:
    result = race(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_witnesses(folder: Path) -> None:
    result = race("two.pgas", "none.pgas", "-j1", "--all", "--witness", "all.json", "--witness", "all.sarif",
                  "--witness", "{name}.svg", "--witness", "{name}.html")  # fmt: skip
    assert "there is no run to draw, for the verdict on none.pgas is no race; not written: none.svg" in result.stderr
    assert [json.loads(line)["verdict"] for line in Path("all.json").read_text().splitlines()] == ["race", "no race"]
    assert len(json.loads(Path("all.sarif").read_text())["runs"][0]["results"]) == 2
    assert Path("two.svg").exists() and Path("two.html").exists() and Path("none.html").exists()
    drawn = run("draw", "all.json", "-o", "again.svg")
    assert drawn.exit_code == 0
    assert Path("again.svg").read_text() == Path("two.svg").read_text()
    assert run("draw", "all.json", "--to", "txt").stdout.startswith("two.pgas: race on 2 nodes: 2 pairs of lines")


def test_brief(folder: Path) -> None:
    printed = race("race.pgas", "none.pgas", "fault.pgas", "--brief", "-j1").stdout.splitlines()
    assert [line.partition(" ")[0] for line in printed] == ["race.pgas:2:13:", "none.pgas:", "fault.pgas:2:11:"]
    assert printed[1] == "none.pgas: no race on 2 nodes; robust"


def test_check_says_both(folder: Path) -> None:
    plain, both = run("check", "two.pgas"), run("check", "two.pgas", "--races")
    assert plain.exit_code == both.exit_code == 1
    assert "Races" not in plain.stdout
    printed = " ".join(both.stdout.split())
    assert "two.pgas: not robust on 2 nodes" in printed and "Races: race" in printed
    assert "`pgasrob race two.pgas -n 2` shows the way there." in printed
    (result,) = [
        json.loads(line) for line in run("check", "two.pgas", "--races", "--format", "json").stdout.splitlines()
    ]
    assert (result["verdict"], result["races"]["verdict"]) == ("not robust", "race")
    assert "robustness" not in result["races"]
    assert run("check", "race.pgas", "--races").exit_code == 0
    brief = run("check", "race.pgas", "--races", "--brief").stdout.splitlines()
    assert [line.partition(": ")[2].partition(":")[0] for line in brief] == ["robust on 2 nodes", "warning"]
    run("check", "race.pgas", "two.pgas", "--races", "-j1", "--witness", "both.sarif", "--witness", "both.json")
    rules = [each["ruleId"] for each in json.loads(Path("both.sarif").read_text())["runs"][0]["results"]]
    assert rules == ["race", "not-robust", "race"]
    assert run("draw", "both.json", "--result", "2", "-o", "two.svg").exit_code == 0


def test_check_asks_nothing_more_of_a_program_in_error(folder: Path) -> None:
    for name in ("fault", "wrong"):
        (result,) = [
            json.loads(line)
            for line in run("check", f"{name}.pgas", "--races", "--format", "json").stdout.split("\n")[:1]
        ]
        assert result["verdict"] == "error" and "races" not in result


def test_the_library_has_a_function_of_the_same_name(folder: Path) -> None:
    verdict = pgasrob.race(pgasrob.load("two.pgas"), nodes=2, all_=True)
    assert (verdict.verdict, len(verdict.races)) == ("race", 2)
    assert pgasrob.RaceVerdict is type(verdict)
    assert {"race", "RaceVerdict"} <= set(dir(pgasrob))
