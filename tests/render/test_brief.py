"""One line per program, as compilers print: what stands in it, and that nothing else is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.api import check
from pgasrob.cli import cli
from pgasrob.program.parser import parse
from pgasrob.render.brief import brief
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.robustness.limits import Limits
from tests.render.test_table import SYNTAX, result
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE

PROGRAMS = Path(__file__).parents[2] / "programs"


def of(text: str, nodes: int | None = None, limits: Limits | None = None) -> Result:
    return to_json(check(parse(text, "p.pgas"), nodes, limits=limits))


LATE = (
    "not robust on 2 nodes: Rank 0 reads y in line 8 before the write of rank 1 in line 6 has arrived there, although "
    "both have passed the barrier in line 7. Nothing up to line 7 waits until the write is complete at its target "
    "(barrier in line 7 does not)."
)


def test_a_violation_stands_where_the_late_operation_is_issued() -> None:
    assert list(brief(of(ONE_TO_ONE))) == [f"p.pgas:6:3: error: {LATE}"]


def test_robust_unknown_and_error() -> None:
    assert list(brief(of(ONE_TO_ONE.replace("barrier", "wait(q); barrier")))) == ["p.pgas: robust on 2 nodes"]
    endless = "memory x; register r; process { loop { r <- r + 1; mem[x] <- r; if (r < 0) { write(x, 0, x, 0); } } }"
    [line] = brief(of(endless, limits=Limits(max_states=5)))
    assert re.fullmatch(r"p\.pgas: unknown on 2 nodes: \S.*", line)
    [line] = brief(result("a.pgas", "error", None, errors=[SYNTAX], reason="missing `;`"))
    assert line.startswith(f"a.pgas:{SYNTAX['line']}:{SYNTAX['column']}: error[PG011]: ")
    fault = "register r; process {\n  r <- 1 / r; }"
    assert list(brief(of(fault, 1))) == ["p.pgas:2:3: error[PG040]: rank 0: division by zero: 1 / 0"]
    assert list(brief(result("a.pgas", "error", None, reason="no idea"))) == ["a.pgas: error: no idea"]


def test_what_is_wrong_in_sc_runs_has_lines_of_its_own() -> None:
    first, assertion, deadlock = brief(of(DEADLOCK, 3))
    assert first == "p.pgas: robust on 3 nodes"
    assert re.fullmatch(r"p\.pgas:\d+:\d+: error: assertion of rank \d fails on 3 nodes: assert\(.*\)", assertion)
    assert re.fullmatch(r"p\.pgas:\d+:\d+: error: deadlock on 3 nodes: rank \d waits in line \d+ .*", deadlock)


def test_what_was_expected() -> None:
    found = result("a.pgas", "robust", 2)
    found |= {"expected": "not robust", "as_expected": False}
    assert list(brief(found)) == ["a.pgas: robust on 2 nodes (expected not robust)"]


def test_nothing_else_is_printed() -> None:
    names = ["rget.c", "put_order.c"]
    found = CliRunner().invoke(cli, ["check", "--brief", *(str(PROGRAMS / "c/mpi" / name) for name in names)])
    first, second = found.stdout.splitlines()
    assert found.exit_code == 1
    assert first.endswith("rget.c: correctly synchronised on 2 nodes")
    assert re.search(
        r"put_order\.c:18:9: error: not robust on 2 nodes: The MPI_Put of rank 0 in line 19 writes x of rank 1 ", second
    )


@pytest.mark.parametrize("other", ["--verbose", "--full", "--assumptions", "--format=json"])
def test_no_two_ways_to_print(other: str) -> None:
    found = CliRunner().invoke(cli, ["check", "--brief", other, str(PROGRAMS)])
    assert found.exit_code == 2 and "--brief prints a line each" in found.stderr


def test_why_is_a_note() -> None:
    path = str(PROGRAMS / "c/openshmem/message_passing_fence.c")
    found = CliRunner().invoke(cli, ["check", "--brief", path, "--why", "16,18"])
    robust, note = found.stdout.splitlines()
    assert found.exit_code == 0 and robust.endswith("fence.c: correctly synchronised on 2 nodes")
    assert "fence.c:16:1: note: The shmem_fence in line 17 orders the shmem_long_put in line 16" in note


def test_why_in_the_report_and_in_json() -> None:
    path = str(PROGRAMS / "one_to_one/one_to_one_wait.pgas")
    report = CliRunner().invoke(cli, ["check", path, "--why", "11,14"]).stdout
    assert "  Lines 11 and 14:\n    The wait in line 12 completes the write in line 11." in report
    told = json.loads(CliRunner().invoke(cli, ["check", path, "--why", "11,14", "--format", "json"]).stdout)["why"]
    assert told["answer"] == "ordered" and told["lines"] == [11, 14]
    assert told["orders"] == [[{"does": "completes", "command": "wait", "line": 12, "column": 3}]]


@pytest.mark.parametrize("arguments", [["--why", "11"], ["--why", "11,0"], ["--why", "1,2", "--cluster", "tcp://x:1"]])
def test_two_lines_of_one_file(arguments: list[str]) -> None:
    path = str(PROGRAMS / "one_to_one/one_to_one_wait.pgas")
    assert CliRunner().invoke(cli, ["check", path, *arguments]).exit_code == 2
    assert CliRunner().invoke(cli, ["check", path, path, "--why", "1,2"]).exit_code == 2
