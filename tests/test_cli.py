"""The command line: exit codes, output, and what it does with bad input. Some tests run the installed command."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob import __version__, twins
from pgasrob.cli import EXAMPLES, NAMES, cli, command_named, main
from pgasrob.cli.check import EXAMPLES as CHECK_EXAMPLES
from pgasrob.cli.exit_codes import code_of_verdict
from pgasrob.cli.option_groups import memory_for
from pgasrob.cli.parameter_types import Size
from pgasrob.program.assumptions import Kind
from pgasrob.robustness.engines import DEFAULT_ENGINE, ENGINES
from pgasrob.robustness.limits import DEFAULT_MAX_STATES
from pgasrob.robustness.reduction import REDUCTIONS
from tests.outputs import validate
from tests.processes import children, needs_proc, ticks
from tests.render.test_verdict_json import ERROR, ONE_TO_ONE, RESULT

ROOT = Path(__file__).parents[1]

ROBUST = "memory x; process { mem[x] <- 1; }"
NOT_ROBUST = "memory x; queue q; nodes 1; process { write(x, 0, x, q); mem[x] <- 1; }"
FAULT = "register r; process { r <- 1 / r; }"
SYNTAX_ERROR = "process { skip }"
ENDLESS = """memory x, y; register r; queue q; process {
  loop { mem[x] <- r; r <- r + 1; assert(1); if (r < 0) { write(x, me, y, q); r <- mem[y]; } } }"""
"""Its SC runs go on for longer than anybody waits, and none can tell beforehand that there is no violation."""
FAILING = "memory x; process { assert(0); }"
DEADLOCK = "memory x; process { await(mem[x] == 1); }"

NO_KERNEL = f"pgasrob: {twins.MISSING_KERNEL}"
QUIET = "" if twins.available() else f"{NO_KERNEL}\n"
"""What stderr has when there is nothing to say."""

TEXTS = {
    "robust": ROBUST,
    "not": NOT_ROBUST,
    "fault": FAULT,
    "syntax": SYNTAX_ERROR,
    "unknown": ENDLESS,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def check(*arguments: str) -> Result:
    return run("check", *arguments)


def objects(result: Result) -> list[dict[str, Any]]:
    """What `--format json` printed; every line has to be an object."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **more}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pgasrob", *arguments]


def installed(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    result = subprocess.run(
        command(*arguments), capture_output=True, encoding="utf-8", env=environment(**more), timeout=600, check=False
    )
    validate(arguments, result.stdout)
    return result


# Exit codes


@pytest.mark.parametrize(
    ("programs", "code"),
    [
        ("robust", 0),
        ("not", 1),
        ("fault", 2),
        ("syntax", 2),
        ("unknown", 3),
        ("robust not", 1),
        ("not robust", 1),
        ("robust unknown", 3),
        ("not unknown robust", 3),
        ("unknown not", 3),
        ("unknown fault not", 2),
        ("syntax unknown robust", 2),
        ("robust not unknown syntax", 2),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_gravest_exit_code_applies(folder: Path, programs: str, code: int, form: str) -> None:
    names = programs.split()
    for name in names:
        Path(name + ".pgas").write_text(TEXTS[name])
    result = check(*(name + ".pgas" for name in names), "--max-states", "300", "--format", form)
    assert result.exit_code == code


@pytest.mark.parametrize(
    ("program", "header", "code"),
    [
        (ROBUST, "robust", 0),
        (NOT_ROBUST, "not robust", 0),
        (FAULT, "error", 0),
        (SYNTAX_ERROR, "error", 0),
        (ROBUST, "robust at 2..3, not robust at 4", 0),
        (ROBUST, "not robust", 1),
        (NOT_ROBUST, "robust", 1),
        (ROBUST, "error", 1),
        (ROBUST, None, 2),
        (ROBUST, "robust at 3..4", 2),
        (ROBUST, "robustt", 2),
        (FAULT, "robust", 2),
        (FAULT, None, 2),
        (SYNTAX_ERROR, "not robust", 2),
        (SYNTAX_ERROR, None, 2),
        (ENDLESS, "robust", 3),
        (ENDLESS, None, 2),
    ],
)
def test_exit_codes_with_expect(folder: Path, program: str, header: str | None, code: int) -> None:
    Path("p.pgas").write_text(f"// expect: {header}\n{program}" if header else program)
    result = check("p.pgas", "--expect", "--max-states", "300")
    assert result.exit_code == code, result.output
    objs = objects(check("p.pgas", "--expect", "--max-states", "300", "--format", "json"))
    assert [each["as_expected"] for each in objs] == [code == 0]
    assert set(objs[0]) - {"one_block"} == RESULT | {"expected", "as_expected"}


def test_expect_compares_with_the_headers_of_a_key(folder: Path) -> None:
    """Whatever the programs say of themselves, and on the node counts of the key; nothing of the key may be missing."""
    for place, text in {
        "key/a.pgas": f"// expect: robust at 2..3\n{ROBUST}",
        "key/sub/a.pgas": f"// expect: not robust\n{NOT_ROBUST}",
        "key/b.pgas": f"// expect: robust\n{ROBUST}",
        "ada/a.pgas": f"// expect: error\n{ROBUST}",
        "ada/sub/a.pgas": f"// expect: robust\n{NOT_ROBUST}",
        "ada/b.pgas": f"// no expectation\n// expect: nonsense\n{NOT_ROBUST}",
        "ben/a.pgas": ROBUST,
    }.items():
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(text)
    compared = ("--expect", "--headers", "key", "--format", "json")
    ada = check("ada", *compared)
    found = [(each["file"], each["nodes"], each["expected"], each["as_expected"]) for each in objects(ada)]
    assert ada.exit_code == 1 and found == [
        ("ada/a.pgas", 2, "robust", True),
        ("ada/a.pgas", 3, "robust", True),
        ("ada/b.pgas", 2, "robust", False),
        ("ada/sub/a.pgas", 1, "not robust", True),
    ]
    Path("ada/b.pgas").write_text(ROBUST)
    assert check("ada", *compared).exit_code == 0
    kept = (*compared, "--resume", "kept.db")
    assert check("ada", *kept).exit_code == 0
    Path("key/b.pgas").write_text(f"// expect: not robust\n{NOT_ROBUST}")
    assert check("ada", *kept).exit_code == 1  # another key is another question
    ben = check("ben", *compared)
    assert ben.exit_code == 2 and [each["expected"] for each in objects(ben)] == ["robust", "robust"]
    assert "no FILE stands for key/b.pgas" in ben.stderr and "key/sub/a.pgas" in ben.stderr
    Path("ben/c.pgas").write_text(f"// expect: robust\n{ROBUST}")
    (last,) = (each for each in objects(check("ben", *compared)) if each["file"] == "ben/c.pgas")
    assert last["expected"] is None
    assert "add that" in check("ada", "--headers", "key").stderr
    Path("key/b.pgas").write_text(ROBUST)
    assert "key/b.pgas: the key says of each program what is expected" in check("ada", *compared).stderr


def test_expect_takes_the_gravest_of_all_programs(folder: Path) -> None:
    Path("a.pgas").write_text(f"// expect: not robust\n{ROBUST}")
    Path("b.pgas").write_text(f"// expect: not robust\n{NOT_ROBUST}")
    Path("c.pgas").write_text(f"// expect: robust\n{ENDLESS}")
    Path("d.pgas").write_text(ROBUST)
    limit = ("--max-states", "300", "--expect")
    assert check("b.pgas", *limit).exit_code == 0
    assert check("b.pgas", "a.pgas", *limit).exit_code == 1
    assert check("b.pgas", "a.pgas", "c.pgas", *limit).exit_code == 3
    assert check(".", *limit).exit_code == 2


def test_a_header_that_is_malformed_is_reported(folder: Path) -> None:
    Path("p.pgas").write_text(f"// expect: robustt\n{ROBUST}")
    assert "PG070" in check("p.pgas", "--expect").output
    assert "PG070" in check("p.pgas", "p.pgas", ".", "--expect").output
    assert check("p.pgas").exit_code == 0


@pytest.mark.parametrize(("program", "code"), [(FAILING, 1), (DEADLOCK, 1), (ROBUST, 0), (FAULT, 2)])
def test_strict_makes_failing_assertions_and_deadlocks_count(folder: Path, program: str, code: int) -> None:
    Path("p.pgas").write_text(f"// expect: robust\n{program}")
    assert check("p.pgas").exit_code == (2 if program == FAULT else 0)
    assert check("p.pgas", "--strict").exit_code == code
    assert check("p.pgas", "--strict", "--expect").exit_code == code


def test_strict_does_not_take_an_open_question_for_a_good_answer(folder: Path) -> None:
    """The program is robust, and whether its assertions hold could not be told: no failure, and no success either."""
    Path("p.pgas").write_text(
        "// expect: robust\nmemory x; register r; process { loop { mem[x] <- r; r <- r + 1; assert(r >= 0); } }"
    )
    limit = ("--max-sc-states", "100")
    plain = check("p.pgas", *limit)
    assert plain.exit_code == 0 and "robust on 2 nodes" in plain.output
    told = " ".join(plain.output.split())
    assert "Not all SC runs were seen, so it is unknown whether the assertions hold. --max-sc-states sets" in told
    assert "not all sequentially consistent runs were seen: the limit of 100 SC states was reached" in told
    assert check("p.pgas", *limit, "--expect").exit_code == 0
    assert check("p.pgas", *limit, "--strict").exit_code == 3
    assert check("p.pgas", *limit, "--strict", "--expect").exit_code == 3
    (found,) = objects(check("p.pgas", *limit, "--format", "json"))
    assert (found["verdict"], found["assertions"], found["deadlock"]) == ("robust", "unknown", None)
    assert (found["reason_code"], found["limit"]) == ("sc-runs-left", "max-sc-states")


@pytest.mark.parametrize("verdict", ["robust", "not robust", "unknown", "error"])
@pytest.mark.parametrize("assertions", ["hold", "violated", "unknown", None])
def test_assertions_alone_never_change_the_exit_code(verdict: str, assertions: str | None) -> None:
    result: Any = {"verdict": verdict, "assertions": assertions, "deadlock": True}
    codes = {"robust": 0, "not robust": 1, "unknown": 3, "error": 2}
    assert code_of_verdict(result, expect=False, strict=False) == codes[verdict]
    assert code_of_verdict(result, expect=False, strict=True) == (codes[verdict] or 1)


@pytest.mark.parametrize(("effect", "code"), [("outcome", 1), ("assertion", 1), ("none found", 0), (None, 1)])
def test_outcomes_alone_change_the_exit_code(effect: str | None, code: int) -> None:
    result: Any = {"verdict": "not robust", "effect": effect, "assertions": None, "deadlock": True}
    assert code_of_verdict(result, expect=False, strict=False, outcomes_alone=True) == code
    assert code_of_verdict(result, expect=False, strict=True, outcomes_alone=True) == 1
    assert code_of_verdict(result, expect=False, strict=False) == 1


def test_a_violation_without_an_outcome_is_printed_all_the_same() -> None:
    path = Path(__file__).parents[1] / "programs/coherence/puts_equal_values.pgas"
    found = check(str(path), "--report", "outcomes")
    assert found.exit_code == 0 and "not robust" in found.output and "No outcome depends on it" in found.output
    assert check(str(path)).exit_code == 1


def test_a_time_limit_gives_unknown(folder: Path) -> None:
    Path("p.pgas").write_text(ENDLESS)
    result = check("p.pgas", "--timeout", "0.2", "--max-states", "0")
    assert result.exit_code == 3 and "the time limit of 0.2 s was reached" in result.output


# JSON


def test_json_is_one_object_per_program_and_node_count(folder: Path) -> None:
    for name, text in TEXTS.items():
        Path(name + ".pgas").write_text(text)
    Path("source.c").write_text("int main() { }")
    result = check(".", "missing.pgas", "--format", "json", "-n", "1,2", "--max-states", "300")
    found = objects(result)
    assert [(each["file"], each["nodes"], each["verdict"]) for each in found] == [
        ("fault.pgas", 1, "error"),
        ("fault.pgas", 2, "error"),
        ("not.pgas", 1, "not robust"),
        ("not.pgas", 2, "not robust"),
        ("robust.pgas", 1, "robust"),
        ("robust.pgas", 2, "robust"),
        ("source.c", 1, "robust"),
        ("source.c", 2, "robust"),
        ("syntax.pgas", None, "error"),
        ("unknown.pgas", 1, "unknown"),
        ("unknown.pgas", 2, "unknown"),
        ("missing.pgas", None, "error"),
    ]
    assert all(
        set(each) - {"one_block"} == RESULT and each["schema"] == 1 and each["engine"] == "portfolio" for each in found
    )
    by_file = {each["file"]: each for each in found}
    assert [error["code"] for error in by_file["syntax.pgas"]["errors"]] == ["PG011"]
    assert set(by_file["syntax.pgas"]["errors"][0]) == ERROR
    assert by_file["not.pgas"]["witness"]["cycle"] and by_file["fault.pgas"]["witness"]["fault"]
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("counts", "nodes"),
    [("3", [3]), ("2..4", [2, 3, 4]), ("2,4", [2, 4]), ("4,2", [4, 2]), ("1, 3..4,3", [1, 3, 4]), ("5..5", [5])],
)
def test_node_counts(folder: Path, counts: str, nodes: list[int]) -> None:
    Path("p.pgas").write_text(ROBUST)
    assert [each["nodes"] for each in objects(check("p.pgas", "--format", "json", "--nodes", counts))] == nodes


def test_without_node_counts_it_is_the_programs_own_or_two(folder: Path) -> None:
    Path("a.pgas").write_text("nodes 3; process { }")
    Path("b.pgas").write_text("process { }")
    assert [each["nodes"] for each in objects(check(".", "--format", "json"))] == [3, 2]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ("0", "1..4096"), ("4097", "1..4096"), ("1..999999999", "1..4096"), ("5..2", "write 2..5"), ("two", "'two'"),
        ("-1", "'-1'"), ("", "''"), ("2,", "''"), ("2...3", "'2...3'"), ("2.5", "'2.5'"), ("²", "'²'"),
    ],
)  # fmt: skip
def test_bad_node_counts(folder: Path, counts: str, message: str) -> None:
    Path("p.pgas").write_text(ROBUST)
    result = check("p.pgas", f"--nodes={counts}")
    assert result.exit_code == 2 and message in result.output


@pytest.mark.parametrize("engine", list(ENGINES))
def test_engines(folder: Path, engine: str) -> None:
    if engine == "spin" and not (which("spin") and which("cc")):
        pytest.skip("spin and cc are not installed")
    Path("p.pgas").write_text(ONE_TO_ONE)
    found = objects(check("p.pgas", "--engine", engine, "--format", "json"))
    assert [(each["engine"], each["verdict"]) for each in found] == [(engine, "not robust")]


def test_the_same_program_is_the_same_object_twice(folder: Path) -> None:
    Path("p.pgas").write_text(ONE_TO_ONE)
    first, second = (objects(check("p.pgas", "--format", "json")) for _ in range(2))
    assert {**first[0], "stats": None} == {**second[0], "stats": None}


# Reductions, memory, the kernel


def test_reductions_can_be_left_out(folder: Path) -> None:
    Path("p.pgas").write_text((ROOT / "programs/one_to_one/one_to_one_wait.pgas").read_text())

    def states(*options: str) -> int:
        (found,) = objects(check("p.pgas", "-n", "4", "--format", "json", *options))
        assert found["verdict"] == "robust"
        return int(found["stats"]["states"])

    assert states() < states("--without", "persistent", "--without", "infeasibility") < states("--no-reduction")
    assert states("--no-reduction", "--without", "merging") == states("--no-reduction")


@pytest.mark.parametrize("engine", ["product", "definition"])
@pytest.mark.parametrize("option", [["--no-reduction"], ["--without", "symmetry"]])
def test_reductions_are_for_the_attack_engine(folder: Path, engine: str, option: list[str]) -> None:
    Path("p.pgas").write_text(ROBUST)
    result = check("p.pgas", "--engine", engine, *option)
    assert result.exit_code == 2 and f"{option[0]} is for the attack engine" in result.output


@pytest.mark.parametrize("engine", ["attack", "product"])
def test_a_memory_limit_gives_unknown(folder: Path, engine: str) -> None:
    Path("p.pgas").write_text(ENDLESS)
    result = check("p.pgas", "--memory-limit", "5M", "--max-states", "0", "--engine", engine, "--timeout", "60")
    assert result.exit_code == 3 and "the memory limit of 5 MB was reached" in result.output
    assert "--memory-limit set the limits" in result.output


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500M", 500_000_000),
        ("2G", 2_000_000_000),
        ("1.5 GB", 1_500_000_000),
        ("64kb", 64_000),
        ("1T", 10**12),
        ("0", 0),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["500", "-1M", "M", "0M", "1.5.5G", "2 X", "", "inf"])
def test_sizes_that_are_none(folder: Path, text: str) -> None:
    result = check("p.pgas", f"--memory-limit={text}")
    assert result.exit_code == 2 and "write 500M or 2G" in result.output


def test_the_jobs_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from pgasrob.robustness import limits

    monkeypatch.setattr(limits, "_free_in_the_machine", lambda: 8_000_000_000)
    monkeypatch.setattr(limits, "_free_in_the_group", lambda: None)
    assert [memory_for(None, jobs) for jobs in (1, 4)] == [6_000_000_000, 1_500_000_000]
    assert (memory_for(7, 4), memory_for(0, 4)) == (7, None)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_missing_kernel_is_mentioned_once(folder: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
    for name in "ab":
        Path(f"{name}.pgas").write_text(ROBUST)
    twins.warn_of_a_missing_kernel.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what has been said is not said again in Python's way
        result = check(".", "--format", form, "--jobs", "1")
    assert result.exit_code == 0 and result.stderr == f"{NO_KERNEL}\n"
    assert "kernel" not in result.stdout
    assert check(".", "--format", form, "--jobs", "1", "--engine", "product").stderr == ""


@pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")
def test_a_kernel_that_is_there_is_not_mentioned(folder: Path) -> None:
    Path("p.pgas").write_text(ROBUST)
    assert check("p.pgas").stderr == ""


# Files and folders


def test_folders_are_searched_for_programs(folder: Path) -> None:
    for path in ("b.pgas", "a/z.pgas", "a/b/y.c", "a/notes.txt", ".git/x.pgas", "a/.hidden.pgas", "a.pgas/inner.pgas"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(ROBUST)
    found = [each["file"] for each in objects(check(".", "b.pgas", "./a/z.pgas", "--format", "json"))]
    assert found == ["a/b/y.c", "a/z.pgas", "a.pgas/inner.pgas", "b.pgas"]


def test_a_folder_without_programs(folder: Path) -> None:
    Path("empty").mkdir()
    Path("p.pgas").write_text(ROBUST)
    result = installed("check", "empty")
    assert result.returncode == 2 and "no .pgas or .c file in the folder empty" in result.stderr
    assert result.stdout == ""
    both = installed("check", "empty", "p.pgas", "--format", "json")
    assert both.returncode == 2 and json.loads(both.stdout)["verdict"] == "robust"


def _write_empty(path: Path) -> None:
    path.write_bytes(b"")


def _write_binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)))


def _write_zero(path: Path) -> None:
    path.write_bytes(b"process { }\0")


def _make_unreadable(path: Path) -> None:
    path.write_text(ROBUST)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads every file")


def _make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "cannot read the file"),
        (_write_empty, "the file is empty"),
        (_write_binary, "binary file"),
        (_write_zero, "zero byte"),
        (_make_unreadable, "cannot read the file"),
        (_make_loop, "cannot read the file"),
    ],
    ids=["missing", "empty", "binary", "zero byte", "no permission", "link to itself"],
)
def test_files_that_are_no_programs(folder: Path, make: Any, message: str) -> None:
    make(Path("p.pgas"))
    single = installed("check", "p.pgas")
    assert single.returncode == 2 and message in single.stdout
    Path("q.pgas").write_text(ROBUST)
    several = installed("check", "p.pgas", "q.pgas", "--expect")
    assert several.returncode == 2 and message in several.stdout
    json_lines = installed("check", "p.pgas", "--format", "json", "--expect").stdout.splitlines()
    found = [json.loads(line) for line in json_lines]
    assert [(each["verdict"], each["nodes"]) for each in found] == [("error", None)] and message in found[0]["reason"]
    assert single.stderr == several.stderr == QUIET


MESSAGE = """\
// {head}
#include <shmem.h>
#ifndef BETWEEN
#define BETWEEN
#endif
static int data, flag;
int main(void) {{
    shmem_init();
    if (shmem_my_pe() == 0) {{
        shmem_int_p(&data, 42, 1);
        BETWEEN;
        shmem_int_p(&flag, 1, 1);
    }} else {{
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        int got = data;
        if (got != 42)
            helper(got);
    }}
}}
"""


def test_c_files_are_checked_with_their_options(folder: Path) -> None:
    Path("p.c").write_text(MESSAGE.format(head="expect: not robust"))
    assert check("p.c").exit_code == 2  # nothing is known of `helper`
    pure = ("--assume-pure", "helper")
    result = check("p.c", "--expect", *pure)
    assert result.exit_code == 0 and "shmem_int_p(&flag, 1, 1)" in result.output and "got = data" in result.output
    assert "data@1" in result.output and "popb(" not in result.output
    assert check("p.c", *pure, "-D", "BETWEEN=shmem_fence()").exit_code == 0
    assert check("p.c", "p.c", "-n", "2,3", "-j", "2", *pure).exit_code == 1


def test_the_options_for_c_are_read_with_care(folder: Path) -> None:
    Path("p.c").write_text("int main(void) { return 0; }")
    result = check("p.c", "--api", "gaspi-1.1")
    assert result.exit_code == 2 and "did you mean" in result.output
    assert "write -D NAME or -D NAME=VALUE" in check("p.c", "-D", "1=2").output
    assert check("p.c", "--api", "gaspi-1.01", "-D", "A", "-D", "B=2").exit_code == 0


def test_the_lowered_program_is_shown(folder: Path) -> None:
    Path("p.c").write_text(MESSAGE.format(head="nodes: 2").replace("helper(got)", "return 1"))
    shown = run("show", "p.c")
    assert shown.exit_code == 0
    assert "update(set, 42, 1, data, shmem) as plain;" in shown.output and "await(mem[flag] == 1);" in shown.output


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not take such names")
def test_a_file_name_that_is_no_text(folder: Path) -> None:
    Path(os.fsdecode(b"\xff.pgas")).write_text(ROBUST)
    assert installed("check", ".").returncode == 0
    assert installed("check", ".", "--format", "json").returncode == 0


def test_a_rank_without_process_is_an_error(folder: Path) -> None:
    Path("p.pgas").write_text("process 0 { }")
    assert check("p.pgas", "-n", "1").exit_code == 0
    result = check("p.pgas", "-n", "1..2")
    assert result.exit_code == 2 and "PG030" in result.output


# Text


def test_a_single_program_comes_with_its_counterexample(folder: Path) -> None:
    Path("p.pgas").write_text(ONE_TO_ONE)
    result = check("p.pgas")
    assert result.stdout.startswith("p.pgas: not robust on 2 nodes\n")
    assert "step │ rank 0" in result.output and "The cycle, edge by edge" in result.output
    assert "results in" not in result.output


def test_several_programs_are_a_table_without_counterexamples(folder: Path) -> None:
    Path("p.pgas").write_text(ONE_TO_ONE)
    Path("q.pgas").write_text(ROBUST)
    result = check(".")
    assert re.search(r"^p\.pgas +2  not robust  hold +no", result.output, re.MULTILINE)
    assert "rank 0" not in result.output and "2 results in" in result.output
    assert "Counterexamples are shown for a single program or with --verbose." in result.output
    verbose = check(".", "-v").output
    assert "step │ rank 0" in verbose and "q.pgas: robust on 2 nodes" in verbose and "2 results in" in verbose
    assert "Counterexamples are shown" not in verbose


def test_a_single_program_on_several_node_counts_has_reports_and_a_table(folder: Path) -> None:
    Path("p.pgas").write_text(ONE_TO_ONE)
    output = check("p.pgas", "-n", "1..2", "--engine", "definition").output
    assert "p.pgas: not robust on 1 node\n" in output and "p.pgas: not robust on 2 nodes\n" in output
    assert "2 results in" in output and re.search(r"^p\.pgas +1  not robust", output, re.MULTILINE)


def test_expect_shows_both_verdicts(folder: Path) -> None:
    Path("p.pgas").write_text(f"// expect: not robust\n{ROBUST}")
    Path("q.pgas").write_text(f"// expect: robust\n{ROBUST}")
    assert "robust on 2 nodes (expected not robust)" in check("p.pgas", "--expect").output
    output = check(".", "--expect").output
    assert re.search(r"^p\.pgas +2  robust     != not robust", output, re.MULTILINE)
    assert re.search(r"^q\.pgas +2  robust     =  robust", output, re.MULTILINE)
    assert "p.pgas (nodes: 2): found robust, expected not robust" in output and "1 as expected, 1 not." in output


def test_results_are_printed_as_they_come(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    for form in ("text", "json"):
        process = start("check", ".", "--max-states", "0", "--format", form)
        assert read_until(process, "a.pgas")
        assert process.poll() is None
        process.kill()
        process.communicate(timeout=600)  # which waits for the workers to notice, too


# Interrupted, and other ends


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command as a process of its own, whose workers have all the time they need to say what they know."""
    patient = "from pgasrob.batch import workers; workers.GRACE = 60; from pgasrob.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", patient, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
        start_new_session=True,
        # As from a shell: a runner may have been started with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )


def read_until(process: subprocess.Popen[str], wanted: str) -> bool:
    """Read lines until one holds ``wanted``."""
    assert process.stdout
    return any(wanted in line for line in iter(process.stdout.readline, ""))


@needs_proc
@pytest.mark.parametrize(
    ("form", "jobs", "group"),
    [("text", 1, False), ("json", 1, True), ("text", 2, True), ("json", 2, False)],  # group: sent to all
)
def test_ctrl_c_prints_what_is_known(folder: Path, form: str, jobs: int, group: bool) -> None:
    """A terminal sends the signal to all processes."""
    for name in ("a", "c"):
        Path(f"{name}.pgas").write_text(ROBUST)
    for name in ("b", "d") if jobs == 2 else ("b",):
        Path(f"{name}.pgas").write_text(ENDLESS)
    Path("e.pgas").write_text(ROBUST)
    process = start("check", ".", "--max-states", "0", "--format", form, "--jobs", str(jobs))
    assert read_until(process, "a.pgas")
    before = ticks(process.pid)
    while True:  # until it has been at b, and at d, for longer than the others take
        at_work = children(process.pid) if jobs == 2 else [process.pid]
        if len(at_work) == jobs and all(ticks(each) > (before if jobs == 1 else 0) + 30 for each in at_work):
            break
        assert process.poll() is None
        time.sleep(0.02)
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    left = "1 of 5" if jobs == 2 else "2 of 4"
    assert f"interrupted, {left} files not reached" in errors and "Traceback" not in errors
    if form == "json":
        known = [json.loads(line) for line in output.splitlines()]
        assert [(each["file"], each["reason"]) for each in known] == [
            ("b.pgas", "interrupted"), ("c.pgas", None), ("d.pgas", "interrupted")
        ][: 3 if jobs == 2 else 1]  # fmt: skip
        assert known[0]["stats"]["sc_states"] > 0 and all(set(each) - {"one_block"} == RESULT for each in known)
    else:
        assert re.search(r"^b\.pgas +2  unknown", output, re.MULTILINE)
        assert "b.pgas (nodes: 2): unknown: interrupted" in output
        assert ("4 results in" if jobs == 2 else "2 results in") in output


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_goes_away_is_no_error(folder: Path, form: str) -> None:
    for number in range(5):
        Path(f"{number}.pgas").write_text(ROBUST)
    process = start("check", ".", "--format", form)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == QUIET
    assert process.wait(600) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_no_traceback(folder: Path) -> None:
    Path("p.pgas").write_text(ROBUST)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("check", "p.pgas"), stdout=full, stderr=subprocess.PIPE, env=environment(), text=True
        )
    assert done.returncode == 2 and "Traceback" not in done.stderr and "No space left" in done.stderr


def on_a_terminal(*arguments: str, **more: str) -> tuple[str, int]:
    """What the command writes to a terminal, and its exit code."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), stdin=slave, stdout=slave, stderr=slave, env=environment(TERM="xterm", **more)
    )
    os.close(slave)
    written = b""
    while select.select([master], [], [], 600)[0]:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux reports the end this way
            break
        if not piece:
            break
        written += piece
    os.close(master)
    return written.decode(), process.wait(600)


def test_progress_is_shown_on_a_terminal_and_cleared(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    written, code = on_a_terminal("check", ".", "--max-states", "0", "--timeout", "1.5")
    assert code == 3
    assert "[2/2] b.pgas, 2 nodes" in written and re.search(r": \S+ states, \S+/s, \d+ s", written)
    # Erased line by line before the row of b is printed.
    assert "\x1b[2K" in written.rpartition(" states, ")[2].partition("unknown")[0]
    assert "of at most" in on_a_terminal("check", "b.pgas", "--timeout", "1.5", "--max-states", "9999999")[0]


def test_there_is_no_progress_without_a_terminal_or_for_a_small_check(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    assert installed("check", "b.pgas", "--max-states", "0", "--timeout", "1.5").stderr == QUIET
    assert "states of" not in on_a_terminal("check", "a.pgas")[0]


def test_colour_is_for_terminals(folder: Path) -> None:
    """What shows the progress of a check that takes long, on a busy machine say, moves and clears without colour."""
    Path("p.pgas").write_text(ONE_TO_ONE)
    colour = re.compile(r"\x1b\[(\d+;)*(3\d|9\d)(;\d+)*m")
    assert colour.search(on_a_terminal("check", "p.pgas")[0])
    assert not colour.search(on_a_terminal("check", "p.pgas", NO_COLOR="1")[0])
    assert "\x1b[" not in installed("check", "p.pgas").stdout
    assert not colour.search(on_a_terminal("check", "p.pgas", "--format", "json")[0])


def test_an_output_without_unicode(folder: Path) -> None:
    Path("größe.pgas").write_text(ONE_TO_ONE)
    result = installed("check", "größe.pgas", PYTHONIOENCODING="ascii")
    assert result.returncode == 1 and result.stdout.isascii() and "rank 0" in result.stdout and result.stderr == QUIET


# Help, versions, mistakes


def test_help_and_version() -> None:
    assert run("--version").output == f"pgasrob {__version__}\n"
    text = run("--help").output
    assert all(name in text for name in ("check", "explain-error", "completion", "Examples:"))
    check_help = run("check", "--help").output
    options = ["--nodes", "--engine", "--max-states", "--timeout", "--format", "--expect", "--strict", "--verbose"]
    options += ["--memory-limit", "--jobs", "--no-reduction", "--without", "--assumptions", *REDUCTIONS]
    assert all(option in check_help for option in [*options, *ENGINES, "Exit code:", "Examples:"])
    assert all(run(name, "-h").exit_code == 0 for name in NAMES)
    assert max(map(len, (text + check_help).splitlines())) <= 100


def test_the_examples_of_the_help_are_commands() -> None:
    """Every example parses: its options exist, and their values are right."""
    examples = re.findall(r"^  pgasrob (\S.*?)(?:   .*)?$", EXAMPLES + CHECK_EXAMPLES, re.MULTILINE)
    assert len(examples) > 5
    for example in examples:
        name, *arguments = re.split(r" [|>] ", example)[0].split()
        command_named(name).make_context(name, arguments)


def test_defaults_are_those_of_the_library() -> None:
    options = {option.name: option for option in command_named("check").params}
    assert options["engine"].default == DEFAULT_ENGINE and options["max_states"].default == DEFAULT_MAX_STATES


def test_a_single_check_does_not_pay_for_processes(folder: Path) -> None:
    Path("p.pgas").write_text(ROBUST)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pgasrob", "check", "p.pgas"],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pgasrob.batch.checker" in imported
    assert not imported & {"multiprocessing", "pgasrob.batch.workers", "rich", "sympy", "automata"}


def test_help_and_version_import_nothing_heavy() -> None:
    for arguments in (["--help"], ["--version"], ["check", "--help"]):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "pgasrob", *arguments],
            capture_output=True,
            text=True,
            env=environment(),
            check=True,
        )
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        heavy = {"multiprocessing", "lark", "rich", "sympy", "automata", "networkx"} | (
            {"json"} if arguments == ["--version"] else set()
        )
        assert "click" in imported and not imported & heavy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek", "p.pgas"], "did you mean `check`?"),
        (["p.pgas"], "did you mean `pgasrob check p.pgas`?"),
        (["expain-error"], "did you mean `explain-error`?"),
        (["zzz"], "no such command 'zzz'"),
        (["check", "--nods", "2", "p.pgas"], "--nodes"),
        (["check", "--engine", "prodct", "p.pgas"], "did you mean `product`?"),
        (["check", "--engine", "zzz", "p.pgas"], "not one of portfolio, attack, product, definition, traces, spin"),
        (["check", "--without", "persistant", "p.pgas"], "did you mean `persistent`?"),
        (["check", "--without", "zzz", "p.pgas"], "not one of infeasibility, persistent, merging, liveness, symmetry"),
        (["check", "--jobs", "0", "p.pgas"], "--jobs"),
        (["check", "--heads", "4", "p.pgas"], "add --engine product"),
        (["check", "--format", "xml", "p.pgas"], "'xml'"),
        (["check", "--timeout", "0", "p.pgas"], "--timeout"),
        (["check", "--timeout", "nan", "p.pgas"], "--timeout"),
        (["check", "--timeout", "soon", "p.pgas"], "--timeout"),
        (["check", "--max-states", "-1", "p.pgas"], "--max-states"),
        (["check", "--max-states", "1.5", "p.pgas"], "--max-states"),
        (["check"], "FILE"),
        (["completion", "tcsh"], "'bash'"),
        (["completion"], "bash"),
        (["explain-error", "PG01x"], "did you mean PG0"),
    ],
)
def test_mistakes_are_usage_errors_that_help(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and message in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_explain_error() -> None:
    listed = run("explain-error").output
    assert re.search(r"^PG011  \S", listed, re.MULTILINE)
    explained = run("explain-error", "PG011").output
    assert explained.startswith("PG011") and explained == run("explain-error", "pg011").output


def test_explain_assumption() -> None:
    listed = run("explain-assumption").output
    assert re.findall(r"^[a-z-]+", listed, re.MULTILINE) == [kind.value for kind in Kind]
    assert run("explain-assumption", "program-order").output.startswith("program-order: ")
    wrong = run("explain-assumption", "program-ordre")
    assert wrong.exit_code == 2 and "did you mean `program-order`?" in wrong.stderr


def test_assumptions_are_listed_when_asked_for(folder: Path) -> None:
    Path("wait.pgas").write_text(ROBUST)
    Path("put.pgas").write_text(ONE_TO_ONE)
    assert "Assumes what every verdict does (--assumptions lists all)." in run("check", "wait.pgas").output
    listed = run("check", "wait.pgas", "--assumptions").output
    assert "Assumes" not in listed and re.search(r"^    program-order   \S", listed, re.MULTILINE)
    both = run("check", "wait.pgas", "put.pgas", "--assumptions").output
    assert both.count("What this rests on") == 2 and both.count("    program-order ") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    if shell == "bash" and not which("bash"):
        pytest.skip("click asks bash for its version")
    output = run("completion", shell).output
    assert "_PGASROB_COMPLETE" in output and "pgasrob completion" in output.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "completed"),
    [("pgasrob ch", "check"), ("pgasrob check --eng", "--engine"), ("pgasrob check --engine def", "definition")],
)
def test_completion_completes(words: str, completed: str) -> None:
    done = installed(_PGASROB_COMPLETE="zsh_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert completed in done.stdout.split()


# --- show and catalogue ----------------------------------------------------------------------------------------------


@pytest.fixture
def one_to_one(tmp_path: Path) -> str:
    path = tmp_path / "one_to_one.pgas"
    path.write_text(ONE_TO_ONE)
    return str(path)


@pytest.mark.parametrize("stage", ["control", "state-space", "normal-form", "cycle-types"])
def test_show_prints_counts_and_a_graph(one_to_one: str, stage: str) -> None:
    result = CliRunner().invoke(cli, ["show", one_to_one, "--stage", stage, "--heads", "2"])
    assert result.exit_code == 0
    assert result.output.startswith("// ")
    assert result.output.rstrip().endswith("}")


def test_show_dot_is_only_the_graph(one_to_one: str) -> None:
    result = CliRunner().invoke(cli, ["show", one_to_one, "--stage", "control", "--dot"])
    assert result.output.startswith("digraph")


def test_show_without_a_graph_says_why(one_to_one: str) -> None:
    result = CliRunner().invoke(cli, ["show", one_to_one, "--stage", "normal-form", "--heads", "4", "--dot"])
    assert result.exit_code == 1
    assert "no graph" in result.stderr


def test_show_of_something_that_is_no_program_is_an_error(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pgas"
    bad.write_text("process { r <- 1; }")
    result = CliRunner().invoke(cli, ["show", str(bad), "--stage", "control"])
    assert result.exit_code == 2
    assert "bad.pgas:1:" in result.stderr


def test_catalogue_writes_and_knows_when_it_is_stale(tmp_path: Path) -> None:
    family = tmp_path / "family"
    family.mkdir()
    program = family / "one.pgas"
    program.write_text("// expect: robust\n// Nothing happens in it.\nprocess { barrier; }\n")
    runner = CliRunner()
    assert runner.invoke(cli, ["catalogue", str(tmp_path), "--check"]).exit_code == 1
    assert runner.invoke(cli, ["catalogue", str(tmp_path)]).exit_code == 0
    assert "| [one](family/one.pgas) | 2 | robust |" in (tmp_path / "README.md").read_text()
    assert runner.invoke(cli, ["catalogue", str(tmp_path), "--check"]).exit_code == 0
    program.write_text("// expect: robust\n// Nothing at all.\nprocess { barrier; }\n")
    assert runner.invoke(cli, ["catalogue", str(tmp_path), "--check"]).exit_code == 1


def test_catalogue_of_litmus_tests_says_where_one_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad.litmus").write_text("x@1 :: 1: x = ")
    result = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert result.exit_code == 2 and "bad.litmus:1:14: error[PG170]" in result.output
    assert not (tmp_path / "README.md").exists()


def test_catalogue_of_litmus_tests(tmp_path: Path) -> None:
    empty = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert empty.exit_code == 2 and "no .pgas, .c or .litmus file in the folder" in " ".join(empty.output.split())
    (tmp_path / "sb.litmus").write_text("x@1=0 :: 1: x = 1")
    made = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert (made.exit_code, made.output) == (0, f"{tmp_path / 'README.md'}: 1 test\n")


def test_catalogue_leaves_a_readme_of_somebody_else_alone(tmp_path: Path) -> None:
    (tmp_path / "one.pgas").write_text("// expect: robust\n// Nothing at all.\nprocess { barrier; }\n")
    (tmp_path / "README.md").write_text("# Mine\n")
    result = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert result.exit_code == 2
    assert (tmp_path / "README.md").read_text() == "# Mine\n"


def test_catalogue_of_this_folder_is_that_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "one.pgas").write_text("// expect: robust\n// Größe: nothing.\nprocess { barrier; }\n", encoding="utf-8")
    assert CliRunner().invoke(cli, ["catalogue", str(folder)]).exit_code == 0
    monkeypatch.chdir(folder)
    assert CliRunner().invoke(cli, ["catalogue", ".", "--check"]).exit_code == 0


def test_heads_are_for_the_product_engine_alone(one_to_one: str) -> None:
    result = CliRunner().invoke(cli, ["check", one_to_one, "--engine", "definition", "--heads", "4"])
    assert result.exit_code == 2
    assert "--heads" in result.stderr


def test_what_is_closed_is_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "p.pgas"
    file.write_text("process { skip; }")
    for redirect, code, told in (("2>&-", 0, "robust"), (">&-", 2, "cannot write the output"), (">&- 2>&-", 2, "")):
        command = f"{sys.executable} -m pgasrob check {file} {redirect}"
        run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert (run.returncode, told in run.stdout + run.stderr) == (code, True), redirect


def test_an_internal_error_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for error, code, told in ((ZeroDivisionError("oops"), 70, "please report it: oops"), (MemoryError(), 3, "memory")):

        def fail(error: Exception = error, **_: object) -> None:
            raise error

        monkeypatch.setattr(cli, "main", fail)
        with pytest.raises(SystemExit) as exit:
            main()
        assert exit.value.code == code and told in capsys.readouterr().err
