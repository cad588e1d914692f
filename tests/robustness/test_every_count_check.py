"""What is said about every number of nodes (`check --nodes all`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner

import pgasrob
from pgasrob.cli import cli
from pgasrob.program.expectation import read_expectation
from pgasrob.program.parser import parse
from pgasrob.robustness.every_n import program_proof
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.reasons import CountLeft, Interruption, NotProved, TimeLimit
from pgasrob.robustness.reduction import fixpoint
from pgasrob.robustness.session import Interrupted
from pgasrob.robustness.verdict import Verdict
from tests.frontends.counted_programs import PROGRAMS
from tests.support import check_every_count

ROOT = Path(__file__).parents[2]
HALO, FLAG = ROOT / "programs/halo/halo.pgas", ROOT / "programs/one_to_one/one_to_one_flag.pgas"
COUNTED = """// expect: robust
program counted;
memory x, y, z, flag = 20000000;
register r;
queue q;
process {
  write(x, (me + 1) % nodes, y, q);
  update(add, 1, (me + 1) % nodes, flag, q);
  write(x, (me + 1) % nodes, z, q);
  update(add, 1, (me + 1) % nodes, flag, q);
  await(mem[flag] == 20000002);
  r <- mem[z];
}
"""
"""Robust on every number of nodes, since the flag has been raised twice when the wait is over. The proof follows no
counter that begins above 2²⁴."""
HEADER = "program some;\nmemory x, y, z, a, b;\nregister r, s;\nqueue q, u unordered;\nprocess {\n"


def decided(block: str, limits: Limits | None = None) -> Verdict:
    return check_every_count(parse(f"{HEADER}{block}\n}}"), limits=limits)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["check", *map(str, arguments)])
    return result.exit_code, result.output


def in_json(*arguments: object) -> tuple[int, dict[str, Any]]:
    code, output = run(*arguments, "--format", "json")
    return code, json.loads(output)


def test_a_program_that_is_proved() -> None:
    code, output = run(HALO, "-n", "all")
    assert code == 0
    assert "robust on every number of nodes" in output
    assert "checked on 2..6, proved from 7 on" in " ".join(output.split())
    assert "On every number of nodes, in every run on the network there is no deadlock." in " ".join(output.split())
    code, found = in_json(HALO, "-n", "all")
    assert (code, found["nodes"], found["verdict"], found["proved"], found["cutoff"]) == (0, "all", "robust", True, 7)
    assert [each["nodes"] for each in found["checked"]] == [2, 3, 4, 5, 6]
    assert len(found["cases"]) == 7 and all(case["steps"] for case in found["cases"]) and not found["obstacles"]


def test_a_program_that_is_proved_by_views() -> None:
    """The data comes before the flag, and who has seen the flag after that."""
    code, output = run(FLAG, "-n", "all")
    assert code == 0 and "checked on 2..6, proved from 7 on (with views of two ranks)." in " ".join(output.split())
    code, found = in_json(FLAG, "-n", "all")
    assert (code, found["proved"], found["views"]) == (0, True, True)
    assert in_json(HALO, "-n", "all")[1]["views"] is False


def test_a_program_that_is_not_proved(tmp_path: Path) -> None:
    path = tmp_path / "counted.pgas"
    path.write_text(COUNTED)
    code, output = run(path, "-n", "all")
    told = " ".join(output.split())
    assert code == 3
    assert "unknown on every number of nodes" in told and "Robust on 2..8 nodes; not proved beyond." in told
    assert (
        "could not exclude that `write(x, (me + 1) % nodes, z, q)` in line 9 of rank 0 takes effect only after" in told
    )
    code, found = in_json(path, "-n", "all")
    assert (code, found["nodes"], found["proved"], found["reason_code"]) == (3, "all", False, "not-proved")
    assert [each["nodes"] for each in found["checked"]] == list(range(2, 9))
    first = found["obstacles"][0]
    assert (first["kind"], first["source"]["line"], first["closing"]["line"]) == ("step", 9, 12)


def test_obstacles_are_told_beside_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "counted.pgas"
    path.write_text(COUNTED)
    code, output = run(path, "-n", "all", "--max-states", "2")
    told = " ".join(output.split())
    assert code == 3 and "on 6 nodes: the limit of 2 states was reached" in told
    assert "Besides, could not exclude that `write(x, (me + 1) % nodes, z, q)` in line 9 of" in told


def test_a_program_that_is_not_robust_on_some_number() -> None:
    path = ROOT / "programs/halo/halo_one_ghost_cell.pgas"
    code, found = in_json(path, "-n", "all")
    assert (code, found["verdict"], found["nodes"]) == (1, "not robust", 3)
    assert [(each["nodes"], each["verdict"]) for each in found["checked"]] == [(2, "robust"), (3, "not robust")]
    assert "It is robust on 2 nodes." in " ".join(run(path, "-n", "all")[1].split())


def test_a_program_that_faults_on_some_number() -> None:
    """No step is choosable on any number of nodes, and yet it is not robust on 5."""
    verdict = decided("if (me == 4) { write(x, me, y + 9, q); }")
    assert (verdict.verdict, verdict.nodes) == ("error", 5)
    code, found = in_json(ROOT / "programs/all_to_all/all_to_all.pgas", "-n", "all")
    assert (code, found["verdict"], found["nodes"]) == (2, "error", 5)


def test_a_fault_is_in_the_way_of_a_proof_alone() -> None:
    """It comes on so many nodes that none of those that are checked shows it."""
    verdict = decided("if (me == 11) { write(x, me, y + 9, q); wait(q); }")
    assert verdict.verdict == "unknown" and isinstance(verdict.reason, NotProved)
    assert "faults: `y + 9` may be out of range" in str(verdict.reason)


@pytest.mark.parametrize(
    ("block", "modulus"),
    [
        ("if (me % 2 == 0) { write(x, (me + 1) % nodes, y, q); wait(q); }", 2),
        ("if (nodes % 2) { write(x, me, y + 9, q); }", 1),
    ],
)
def test_faults_on_odd_numbers_of_nodes_count(block: str, modulus: int) -> None:
    found = prove(parse(f"{HEADER}{block}\n}}"))
    assert found.holds == (modulus == 2)


def test_programs_that_proofs_are_not_about() -> None:
    by_number = prove(parse(f"{HEADER.replace('process', 'process 0, 1')}wait(q);\n}}"))
    assert "for ranks by number alone" in str(by_number.obstacles[0])
    far = prove(parse(f"{HEADER.replace('process', 'process 99')}wait(q);\n}}\nprocess {{ wait(q); }}"))
    assert "rank 99 has a block of its own" in str(far.obstacles[0])


def test_ranks_with_blocks_of_their_own() -> None:
    """Rank 0 gives away what the others get; without the wait it may come after its flag."""
    text = "memory x, y, z; register r; queue q; process 0 {{ {} }} process {{ {} }}"
    safe = text.format("write(x, 1, y, q); wait(q); barrier;", "barrier; if (me == 1) { r <- mem[y]; }")
    assert check_every_count(parse(safe)).verdict == "robust"
    assert check_every_count(parse(safe.replace("wait(q); ", ""))).verdict == "not robust"


def test_limits_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program = pgasrob.load(HALO)
    verdict = check_every_count(program, limits=Limits(timeout=1e-9))
    assert verdict.verdict == "unknown" and isinstance(verdict.reason, TimeLimit)
    verdict = check_every_count(parse(COUNTED), limits=Limits(max_states=2))
    assert verdict.verdict == "unknown" and isinstance(verdict.reason, CountLeft) and verdict.reason.nodes == 6
    monkeypatch.setattr(fixpoint, "LOOKS", -1)
    verdict = check_every_count(program)
    assert verdict.verdict == "unknown" and "more than -1 commands were looked at" in str(verdict.reason)


@pytest.mark.parametrize("more", [["--cpu", "tso"], ["--races"], ["--why", "1,2"], ["--network", "rdma-tso"]])
def test_options_that_are_about_some_number(more: list[str]) -> None:
    code, output = run(HALO, "-n", "all", *more)
    assert code == 2 and "leave --nodes all out" in output


def test_a_robust_program_says_that_one_may_ask() -> None:
    assert "--nodes all asks about every number of nodes." in run(HALO)[1]
    assert "--nodes all" not in run(ROOT / "programs/halo/halo_no_wait.pgas")[1]
    assert "--nodes all" not in run(next((ROOT / "programs").rglob("iriw*.pgas")))[1]


def test_it_is_compared_with_the_header(tmp_path: Path) -> None:
    text = HALO.read_text()
    for expected, code in (("robust at all", 0), ("robust", 0), ("not robust", 1), ("robust at 2", 2)):
        path = tmp_path / "some.pgas"
        path.write_text(text.replace("// expect: robust", f"// expect: {expected}", 1))
        assert run(path, "-n", "all", "--expect")[0] == code, expected
    path.write_text(COUNTED.replace("expect: robust", "expect: robust at all"))
    assert run(path, "-n", "all", "--expect")[0] == 3
    assert run(path, "--expect")[0] == 0


def test_headers() -> None:
    found = read_expectation("// expect: robust at all, error at 1\n")
    assert found is not None and (found.at("all"), found.at(1), found.at(7)) == ("robust", "error", "robust")
    found = read_expectation("// expect: robust at 2, not robust at 3\n")
    assert found is not None and found.at("all") == "not robust"
    for wrong in ("not robust at all", "error at all", "robust at all, robust"):
        with pytest.raises(pgasrob.SourceError):
            read_expectation(f"// expect: {wrong}\n")


def test_assertions_that_are_proved_and_others(tmp_path: Path) -> None:
    path = tmp_path / "some.pgas"
    path.write_text(
        f"{HEADER}mem[x] <- 1;\nr <- mem[x];\nassert(r == 1);\nr <- fetch_add(0, y, -1);\nassert(r <= 0);\n}}\n"
    )
    code, found = in_json(path, "-n", "all")
    assert (code, found["verdict"], found["assertions"], found["deadlock"]) == (0, "robust", "unknown", None)
    assert [each["assertions"] for each in found["checked"]] == ["hold"] * (found["cutoff"] - 2)
    proved, left = found["assertions_beyond"]
    assert proved == {"open": None, "place": {"command": "assert(r == 1)", "line": 8, "column": 1}}
    assert left["open"] == "could not exclude that `assert(r <= 0)` in line 10 is false for rank 0"
    told = " ".join(run(path, "-n", "all")[1].split())
    assert "On 2..3 nodes, in every run on the network the assertions hold." in told
    assert "On every number of nodes `assert(r == 1)` in line 8 holds." in told
    assert f"Not proved beyond: {left['open']}." in told
    assert run(path, "-n", "all", "--strict")[0] == 3


@pytest.mark.parametrize(
    ("block", "assertions", "deadlock"),
    [
        ("if (nodes == 11) { assert(r == 1); }", "unknown", None),
        ("if (nodes == 11) { assert(r == 0); }", "hold", None),
        ("if (nodes == 11) { await(mem[x] == 1); }", None, "unknown"),
        ("if (nodes == 11) { mem[x] <- 1; await(mem[x] == 1); }", None, False),
        ("if (nodes == 11 && me == 0) { barrier; }", None, "unknown"),
    ],
)
def test_facts_of_a_number_that_is_not_checked_count(
    block: str, assertions: str | None, deadlock: bool | str | None
) -> None:
    verdict = decided(block)
    assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("robust", assertions, deadlock)


def test_a_failure_below_the_cutoff_counts(tmp_path: Path) -> None:
    """From the cutoff on the assertion holds and nobody waits."""
    path = tmp_path / "some.pgas"
    path.write_text(f"{HEADER}assert(nodes > 2);\nif (nodes < 4 && me) {{ await(mem[x] == 1); }}\n}}\n")
    code, found = in_json(path, "-n", "all")
    assert (code, found["verdict"], found["assertions"], found["deadlock"]) == (1, "robust", "violated", True)
    assert [each["open"] for each in (*found["assertions_beyond"], found["deadlock_beyond"])] == [None, None]
    told = " ".join(run(path, "-n", "all")[1].split())
    assert "An assertion fails on 2 nodes" in told and "There is a deadlock on 2 nodes" in told
    assert "On every number of nodes, in every run" not in told
    assert run(path, "-n", "all", "--only", "robust")[0] == 0


def test_where_an_assertion_fails_is_said(tmp_path: Path) -> None:
    path = tmp_path / "one.pgas"
    path.write_text("program one;\nregister r;\nprocess {\nif (nodes == 3) { assert(r == 1); }\n}\n")
    assert "An assertion fails on 3 nodes, already in an SC run" in run(path, "-n", "all")[1]
    brief = run(path, "-n", "all", "--brief")[1].splitlines()
    assert brief[1:] == [f"{path}:4:19: error: assertion of rank 0 fails on 3 nodes: assert(r == 1)"]
    run(path, "-n", "all", "--witness", tmp_path / "one.sarif")
    sarif = json.loads((tmp_path / "one.sarif").read_text())
    texts = [each["message"]["text"] for each in sarif["runs"][0]["results"]]
    assert texts == ["assertion of rank 0 fails on 3 nodes: assert(r == 1)"]


def test_ctrl_c_while_the_proof_is_looked_for_is_about_all_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(program_proof, "prove", interrupt)
    with pytest.raises(Interrupted) as interrupted:
        check_every_count(load(HALO))
    verdict = interrupted.value.verdict
    assert (verdict.verdict, verdict.nodes, verdict.reason) == ("unknown", None, Interruption())


def asked_about(text: str, tmp_path: Path, *options: str) -> tuple[str, Any]:
    """What `check --nodes all` prints of a C program in the default format, and its JSON."""
    file = tmp_path / "a.c"
    file.write_text(text)
    arguments = ["check", str(file), "--nodes", "all", *options]
    printed = CliRunner(env={"COLUMNS": "200"}).invoke(cli, arguments).stdout
    return " ".join(printed.split()), json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"]).stdout)


def test_a_program_for_three_nodes_is_checked_on_three_and_leaves_on_all_others(tmp_path: Path) -> None:
    text = PROGRAMS["not equal, MPI_Abort"].text
    printed, found = asked_about(text, tmp_path)
    assert found["verdict"] == "robust" and found["proved"] and found["cutoff"] is None
    assert found["only"] == {"counts": [3], "line": 10, "column": 9, "text": "n != 3"}
    assert [each["nodes"] for each in found["checked"]] == [3]
    leaves = "on all other numbers of nodes every rank leaves in line 10, `n != 3`, before it communicates."
    assert f"run: checked on 3; {leaves}" in printed
    assert "On every number of nodes, in every run on the network there is no deadlock." in printed
    # The numbers that it is for decide, whatever is the case on others.
    racing = SHMEM_BUFFERS.replace("CHECK", "if (n != 3) exit(1);")
    printed, found = asked_about(racing, tmp_path)
    assert (found["verdict"], found["nodes"]) == ("not robust", 3)
    assert "On all other numbers of nodes every rank leaves in line 7, `n != 3`, before it communicates." in printed
    assert asked_about(SHMEM_BUFFERS.replace("CHECK", ""), tmp_path)[1]["nodes"] == 2


SHMEM_BUFFERS = """#include <shmem.h>
#include <stdlib.h>
int x, y;
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    CHECK
    shmem_int_p(&x, 1, (me + 1) % n);
    int r = shmem_int_g(&x, (me + 2) % n);
    shmem_int_p(&y, r, (me + 1) % n);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
"""


def test_a_program_that_names_a_rank_is_asked_about_from_there_on(tmp_path: Path) -> None:
    printed, found = asked_about(PROGRAMS["a rank that is not there"].text, tmp_path)
    assert (found["verdict"], found["nodes"], found["least"]) == ("robust", "all", 4)
    assert [each["nodes"] for each in found["checked"]] == [*range(4, found["cutoff"])]
    assert ": robust on every number of nodes from 4 on" in printed
    assert "On every number of nodes from 4 on every run on the network" in printed
    assert "On 2 nodes there is no rank 3 for `shmem_int_p(&y, one, 3)` in line 13: try -n 4." in printed


def test_numbers_on_which_a_program_leaves_are_named_without_a_proof_too(tmp_path: Path) -> None:
    printed, found = asked_about(PROGRAMS["behind a broadcast"].text, tmp_path)
    assert found["verdict"] == "unknown" and "only" not in found and "least" not in found
    assert "On 2 nodes every rank leaves in line 10, `n != 3`: try -n 3." in printed


@pytest.mark.parametrize("name", ["not equal, MPI_Abort", "a rank that is not there"])
def test_there_are_no_certificates_for_a_few_numbers(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(PROGRAMS[name].text)
    certificate = tmp_path / "a.json"
    arguments = ["check", str(tmp_path / "a.c"), "--nodes", "all", "--certificate", str(certificate)]
    found = CliRunner().invoke(cli, arguments)
    assert found.exit_code == 3 and not certificate.exists()
    assert "no certificate is written: those about every number" in found.stderr
