"""`pgasrob check --network`: reports, JSON, exit codes, headers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.models.networks.network_verdict import verdicts
from pgasrob.robustness.question import ProgramFile, Question, RobustnessOnNetwork

PUT = "// rdma-tso: not robust\nprogram reuse;\nnodes 2;\nmemory x, y;\nqueue q;\n\nprocess 0 {\n  write(x, 1, y, q);\n  mem[x] <- 1;\n}\nprocess 1 { }\n"  # noqa: E501
GOOD = PUT.replace("not robust", "robust").replace("  mem", "  wait_local(q);\n  mem")
BARRIER = PUT.replace("not robust", "refused").replace("  mem", "  barrier;\n  mem")


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["check", *map(str, arguments)], env={"COLUMNS": "100"})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"put.pgas": PUT, "good.pgas": GOOD, "barrier.pgas": BARRIER}
    texts["sb.litmus"] = "// expect: error\nx@1, y@1 :: 1: x = 1; a = y || 1: y = 1; b = x\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def test_a_violation_is_told_with_its_cycle_and_its_run(files: dict[str, Path]) -> None:
    result = check(files["put.pgas"], "--network", "rdma-tso")
    assert result.exit_code == 1
    told = " ".join(result.output.split())
    assert "not robust on RDMA-TSO, 2 nodes" in told
    assert "rank 0 (line 9, `mem[x] <- 1`) writes x@0, which rank 0 (line 8, `write(x, 1, y, q)`) reads;" in told
    assert "the source x@0 = 1 is read" in told and "y@1 = 1 is placed" in told


def test_the_object(files: dict[str, Path]) -> None:
    result = check(files["put.pgas"], "--network", "rdma-tso", "--placed", "--format", "json")
    found = json.loads(result.output)
    assert (found["verdict"], found["network"], found["variant"]) == ("not robust", "rdma-tso", "placed")
    assert {"schema", "file", "program", "nodes", "reason", "refusals", "witness", "stats", "errors"} <= found.keys()
    assert sorted(edge["relation"] for edge in found["witness"]["cycle"]) == ["po", "rf"]
    assert len(found["commands"]) == len(found["witness"]["events"])
    codes = {each["code"] for each in found["assumptions"]}
    assert "program-order" not in codes and "no-failures" in codes


@pytest.mark.parametrize(("name", "code"), [("put.pgas", 1), ("good.pgas", 0), ("barrier.pgas", 2), ("sb.litmus", 1)])
def test_exit_codes(files: dict[str, Path], name: str, code: int) -> None:
    assert check(files[name], "--network", "rdma-tso").exit_code == code


@pytest.mark.parametrize(("value", "assertions", "code"), [(1, "hold", 0), (2, "violated", 1)])
def test_assertions_on_a_network(tmp_path: Path, value: int, assertions: str, code: int) -> None:
    file = tmp_path / "own.pgas"
    body = f"process 0 {{ write(x, 1, y, q); wait_local(q); mem[x] <- 1; r <- mem[x]; assert(r == {value}); }}"
    file.write_text(f"program own;\nnodes 2;\nmemory x, y;\nregister r;\nqueue q;\n{body}\nprocess 1 {{ }}\n")
    result = check(file, "--network", "rdma-tso", "--format", "json")
    found = json.loads(result.output)
    assert (found["verdict"], found["assertions"], result.exit_code) == ("robust", assertions, code)
    report = " ".join(check(file, "--network", "rdma-tso").output.split())
    assert ("Its assertions hold" in report, "An assertion fails" in report) == (code == 0, code == 1)
    file.write_text(file.read_text().replace("wait_local(q); ", ""))
    found = json.loads(check(file, "--network", "rdma-tso", "--format", "json").output)
    assert (found["verdict"], found["assertions"], found["failed"] is None) == ("not robust", assertions, code == 0)
    several = check(file, file, "--network", "rdma-tso").output
    assert several.count(", an assertion fails\n") == 0 or code == 1
    report = " ".join(check(file, "--network", "rdma-tso").output.split())
    fails = "`assert(r == 2)` fails at rank 0 (line 6) in this run:"
    assert ("Its assertions hold in every run nevertheless." in report, fails in report) == (code == 0, code == 1)


def test_what_is_wrong_with_one_of_several_files_is_shown(files: dict[str, Path]) -> None:
    said = check(files["good.pgas"], files["good.pgas"].parent / "nosuch.pgas", "--network", "rdma-tso")
    assert said.exit_code == 2 and "error[PG001]: cannot read the file" in said.output


def test_assertions_of_what_is_not_robust_on_corerma_are_left_open(tmp_path: Path) -> None:
    file = tmp_path / "late.pgas"
    body = "process 0 { write(x, 1, y, q); mem[x] <- 1; }\nprocess 1 { r <- mem[y]; assert(r != 1); }"
    file.write_text(f"program late;\nnodes 2;\nmemory x, y;\nregister r;\nqueue q;\n{body}\n")
    for network, assertions in (("corerma", "unknown"), ("rdma-tso", "violated")):
        found = json.loads(check(file, "--network", network, "--format", "json").output)
        assert (found["verdict"], found["assertions"]) == ("not robust", assertions)


def test_a_refusal_has_its_place(files: dict[str, Path]) -> None:
    told = " ".join(check(files["barrier.pgas"], "--network", "rdma-tso").output.split())
    assert "refused on RDMA-TSO" in told and "line 9: barrier: RDMA-TSO has no barriers" in told


def test_a_limit_leaves_it_unknown(files: dict[str, Path]) -> None:
    text = PUT.replace("process 0 {", "process 0 {\n  loop { mem[y] <- 1; }")
    files["put.pgas"].write_text(text.replace("  mem[x] <- 1;\n", ""))
    result = check(files["put.pgas"], "--network", "rdma-tso", "--max-states", "3")
    assert result.exit_code == 3 and "unknown" in result.output


def test_headers_are_compared(files: dict[str, Path]) -> None:
    folder = files["put.pgas"].parent
    result = check(folder, "--network", "rdma-tso", "--expect")
    assert result.exit_code == 2  # the litmus test says nothing of it
    assert result.output.count("(as expected)") == 3 and "nothing expected of rdma-tso" in result.output
    files["sb.litmus"].unlink()
    assert check(folder, "--network", "rdma-tso", "--expect").exit_code == 0
    files["good.pgas"].write_text(PUT.replace("not robust", "robust"))
    assert check(folder, "--network", "rdma-tso", "--expect").exit_code == 1


def test_litmus_tests_in_the_calculus(files: dict[str, Path]) -> None:
    result = check(files["sb.litmus"], "--expect")
    assert result.exit_code == 0 and "error[PG180]" in result.output
    files["sb.litmus"].write_text("x@1, z@2 :: 1: z^2 = x; x = 1\n")
    assert check(files["sb.litmus"]).exit_code == 1
    assert check(files["sb.litmus"], files["put.pgas"]).exit_code == 2


def test_what_is_refused_is_marked_where_it_stands(files: dict[str, Path]) -> None:
    """In a line that is indented, too."""
    files["sb.litmus"].write_text("x@1, y@1, z@2, w@2 ::\n1: z^2 = x; w^2 = y;\n\t  poll(2); x = 1 || 2: a = 1\n")
    said = check(files["sb.litmus"]).output
    assert "sb.litmus:3:4: error[PG180]" in said
    assert "\n    3 | \t  poll(2); x = 1 || 2: a = 1\n      | \t  ^^^^^^^\n" in said
    (refusal,) = json.loads(check(files["sb.litmus"], "--network", "corerma", "--format", "json").output)["refusals"]
    assert (refusal["line"], refusal["excerpt"][refusal["column"] - 1 :][:7]) == (3, "poll(2)")


def test_a_folder_without_anything_to_check(files: dict[str, Path]) -> None:
    (empty := files["put.pgas"].parent / "empty").mkdir()
    result = check(empty, "--network", "rdma-tso")
    assert result.exit_code == 2 and f"no .pgas, .c or .litmus file in the folder {empty}" in result.output


def test_failed_polls_are_about_programs_on_networks_too(files: dict[str, Path]) -> None:
    assert check(files["put.pgas"], "--network", "rdma-tso", "--failed-polls", "count").exit_code == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--network", "rdma-tso", "--engine", "product"],
        ["--network", "rdma-tso", "--races"],
        ["--network", "corerma", "--placed"],
        ["--no-pcie"],
        ["--placed"],
    ],
)
def test_options_that_do_not_go_together(files: dict[str, Path], options: list[str]) -> None:
    result = check(files["put.pgas"], *options)
    assert result.exit_code == 2 and "Usage:" in result.output


def test_corerma(files: dict[str, Path]) -> None:
    result = check(files["put.pgas"], "--network", "corerma")
    assert result.exit_code == 1 and "The execution, each thread in program order" in result.output


def test_what_is_no_program_is_an_error(files: dict[str, Path]) -> None:
    files["put.pgas"].write_text("process {")
    result = check(files["put.pgas"], "--network", "rdma-tso", "-n", "2..3")
    assert result.exit_code == 2 and result.output.count("error on RDMA-TSO") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sb.litmus", "--cpu", "tso"), "--cpu is not for .litmus tests in the calculus (--network pgas)"),
        (("sb.litmus", "--no-reduction"), "--no-reduction is not for .litmus tests"),
        (("sb.litmus", "-n", "3"), "a litmus test names its nodes"),
        (("sb.litmus", "-n", "3", "--network", "rdma-tso"), "a litmus test names its nodes"),
        (("put.pgas", "--network", "rdma-tso", "--without", "merging"), "--without is not for --network rdma-tso"),
        (("run.pgastrace", "--network", "rdma-tso"), "--network is about programs: the trace"),
        (
            ("put.pgas", "--network", "rdma-tso", "--conflicts", "all", "--max-sc-states", "9"),
            "--max-sc-states, --conflicts are not for --network rdma-tso",
        ),
        (("sb.litmus", "--network", "corerma", "--failed-polls", "count"), "--failed-polls is not for --network"),
    ],
)
def test_what_cannot_be_asked_is_named(files: dict[str, Path], arguments: tuple[str, ...], told: str) -> None:
    folder = files["put.pgas"].parent
    (folder / "run.pgastrace").write_text("{}")
    result = check(folder / arguments[0], *arguments[1:])
    assert result.exit_code == 2 and told in " ".join(result.output.split())


def test_a_folder_of_litmus_tests_alone_says_how_they_are_checked(files: dict[str, Path]) -> None:
    for name in ("put.pgas", "good.pgas", "barrier.pgas"):
        files[name].unlink()
    result = check(files["sb.litmus"].parent, "--expect")
    assert result.exit_code == 2 and "takes the litmus tests there" in result.output


FENCED = """#include <shmem.h>
long flag, mail, seen, one = 1, got;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) {
        flag = 1;
        FENCE
        seen = mail;
    } else {
        shmem_long_put_nbi(&mail, &one, 1, 0);
        shmem_long_get_nbi(&got, &flag, 1, 0);
        shmem_quiet();
    }
    shmem_finalize();
}
"""


@pytest.mark.parametrize(
    ("fence", "verdict"),
    [
        ("", "not robust"),
        ("__sync_synchronize();", "robust"),
        ("__atomic_thread_fence(__ATOMIC_RELEASE);", "not robust"),
        ("long own = 0; __atomic_fetch_add(&own, 1, __ATOMIC_SEQ_CST);", "robust"),
    ],
)
def test_fences_of_the_processor_count(tmp_path: Path, fence: str, verdict: str) -> None:
    """The get behind the put finds what the other rank has stored before it has looked for the put."""
    (tmp_path / "fenced.c").write_text(FENCED.replace("FENCE", fence))
    (found,) = verdicts([str(tmp_path / "fenced.c")], Question(ProgramFile(""), asked=RobustnessOnNetwork("rdma-tso")))
    assert found.verdict == verdict


def test_mfence_keeps_loads_behind_stores_for_what_is_said_of_the_hardware(tmp_path: Path) -> None:
    for fence, differences in (("", ["store-buffer"]), (" mfence;", [])):
        file = tmp_path / "sb.litmus"
        threads = f"1: x=1;{fence} a=y || 2: y^1=one; flush(1); b=x^1; flush(1)"
        file.write_text(f"x@1 y@1 one@2=1 b@2 :: {threads}")
        found = json.loads(CliRunner().invoke(cli, ["check", str(file), "--format", "json"]).output)
        assert [each["difference"] for each in found["hardware"] if each["difference"] == "store-buffer"] == differences


def test_what_is_read_and_what_memory_holds_at_the_end_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "both.litmus"
    file.write_text("x@1 y@1 one@2=1 b@2 :: 1: x=1; a=y || 2: y^1=one; b=x^1; poll(1); poll(1)")
    told = " ".join(check(file).output.split())
    assert "rank 0 can read 0 from y in line 1, which ends with b of rank 1 = 0;" in told
