"""`pgasrob check`: what it prints of one program and of several."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from pgasrob.cli import command_named
from pgasrob.robustness.engines import DEFAULT_ENGINE, ENGINES
from pgasrob.robustness.limits import DEFAULT_MAX_STATES
from tests.cli.commands import (
    ENDLESS,
    MESSAGE,
    NOT_ROBUST,
    QUIET,
    ROBUST,
    ROOT,
    TEXTS,
    check,
    environment,
    installed,
    objects,
    on_a_terminal,
    run,
)
from tests.render.test_verdict_json import ERROR, ONE_TO_ONE, RESULT


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


def test_a_header_that_is_malformed_is_reported(folder: Path) -> None:
    Path("p.pgas").write_text(f"// expect: robustt\n{ROBUST}")
    assert "PG070" in check("p.pgas", "--expect").output
    assert "PG070" in check("p.pgas", "p.pgas", ".", "--expect").output
    assert check("p.pgas").exit_code == 0


def test_a_violation_without_an_outcome_is_printed_all_the_same() -> None:
    path = ROOT / "programs/coherence/puts_equal_values.pgas"
    found = check(str(path), "--report", "outcomes")
    assert found.exit_code == 0 and "not robust" in found.output and "No outcome depends on it" in found.output
    plain = check(str(path))
    assert plain.exit_code == 0 and "not robust, but harmless on 2 nodes: every run on the network ends" in plain.output
    assert check(str(path), "--strict").exit_code == check(str(path), "--max-sc-states", "1").exit_code == 1


def test_a_time_limit_gives_unknown(folder: Path) -> None:
    Path("p.pgas").write_text(ENDLESS)
    result = check("p.pgas", "--timeout", "0.2", "--max-states", "0")
    assert result.exit_code == 3 and "the time limit of 0.2 s was reached" in result.output


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
        set(each) - {"one_block", "consequences", "findings"} == RESULT
        and each["schema"] == 1
        and each["engine"] == "portfolio"
        for each in found
    )
    by_file = {each["file"]: each for each in found}
    assert [error["code"] for error in by_file["syntax.pgas"]["errors"]] == ["PG011"]
    assert set(by_file["syntax.pgas"]["errors"][0]) == ERROR
    assert by_file["not.pgas"]["witness"]["cycle"] and by_file["fault.pgas"]["witness"]["fault"]
    assert result.exit_code == 2


def test_without_node_counts_it_is_the_programs_own_or_two(folder: Path) -> None:
    Path("a.pgas").write_text("nodes 3; process { }")
    Path("b.pgas").write_text("process { }")
    assert [each["nodes"] for each in objects(check(".", "--format", "json"))] == [3, 2]


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


def test_reductions_can_be_left_out(folder: Path) -> None:
    Path("p.pgas").write_text((ROOT / "programs/one_to_one/one_to_one_wait.pgas").read_text())

    def states(*options: str) -> int:
        (found,) = objects(check("p.pgas", "-n", "4", "--format", "json", *options))
        assert found["verdict"] == "robust"
        return int(found["stats"]["states"])

    assert states() < states("--without", "persistent", "--without", "infeasibility") < states("--no-reduction")
    assert states("--no-reduction", "--without", "merging") == states("--no-reduction")


@pytest.mark.parametrize("engine", ["attack", "product"])
def test_a_memory_limit_gives_unknown(folder: Path, engine: str) -> None:
    Path("p.pgas").write_text(ENDLESS)
    result = check("p.pgas", "--memory-limit", "5M", "--max-states", "0", "--engine", engine, "--timeout", "60")
    assert result.exit_code == 3 and "the memory limit of 5 MB was reached" in result.output
    assert "--memory-limit set the limits" in result.output


def test_c_files_are_checked_with_their_options(folder: Path) -> None:
    Path("p.c").write_text(MESSAGE.format(head="expect: not robust"))
    assert check("p.c").exit_code == 2  # nothing is known of `helper`
    pure = ("--assume-pure", "helper")
    result = check("p.c", "--expect", *pure)
    assert result.exit_code == 0 and "shmem_int_p(&flag, 1, 1)" in result.output and "got = data" in result.output
    assert "data@1" in result.output and "popb(" not in result.output
    assert check("p.c", *pure, "-D", "BETWEEN=shmem_fence()").exit_code == 0
    assert check("p.c", "p.c", "-n", "2,3", "-j", "2", *pure).exit_code == 1


def test_a_rank_without_process_is_an_error(folder: Path) -> None:
    Path("p.pgas").write_text("process 0 { }")
    assert check("p.pgas", "-n", "1").exit_code == 0
    result = check("p.pgas", "-n", "1..2")
    assert result.exit_code == 2 and "PG030" in result.output


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
    assert re.search(r"^p\.pgas +2  not robust  ok", result.output, re.MULTILINE)
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


def test_assumptions_are_listed_when_asked_for(folder: Path) -> None:
    Path("wait.pgas").write_text(ROBUST)
    Path("put.pgas").write_text(ONE_TO_ONE)
    assert "Rests on the general assumptions (--assumptions lists all)." in run("check", "wait.pgas").output
    listed = run("check", "wait.pgas", "--assumptions").output
    assert "Assumes" not in listed and re.search(r"^    program-order   \S", listed, re.MULTILINE)
    both = run("check", "wait.pgas", "put.pgas", "--assumptions").output
    assert both.count("What this rests on") == 2 and both.count("    program-order ") == 1
