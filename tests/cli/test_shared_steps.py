"""The kernel that is missing is mentioned, progress is shown."""

from __future__ import annotations

import json
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import twins
from pgasrob.cli import cli
from pgasrob.robustness.reasons import TimeLimit
from pgasrob.robustness.watch import LimitReached
from tests.cli.commands import (
    ENDLESS,
    MESSAGE,
    NO_KERNEL,
    QUIET,
    ROBUST,
    check,
    installed,
    on_a_terminal,
)


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


def test_progress_is_shown_on_a_terminal_and_cleared(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    written, code = on_a_terminal("check", ".", "--max-states", "0", "--timeout", "1.5")
    assert code == 3
    assert "[2/2] b.pgas, 2 nodes" in written and re.search(r": \S+ states, \S+/s, \d+ s", written)
    # Erased line by line before the row of b is printed.
    assert "\x1b[2K" in written.rpartition(" states, ")[2].partition("unknown")[0]
    assert "of at most" in on_a_terminal("check", "b.pgas", "--timeout", "1.5", "--max-states", "9999999")[0]


COUNTING = """program counting;
nodes 2;
memory x;
register r;
process 0 { }
process 1 { loop { r <- fetch_add(0, x, 1); } }
"""


@pytest.mark.parametrize(
    ("arguments", "title", "phase"),
    [
        (("check", "--network", "rdma-tso", "--max-states", "0", "a.pgas"), "a.pgas", "runs in normal form"),
        (("litmus", "--max-states", "0", "--model", "rdma-tso", "b.litmus"), "b.litmus: rdma-tso", "the runs"),
    ],
)
def test_progress_of_questions_about_networks_and_memory_models(
    folder: Path, arguments: tuple[str, ...], title: str, phase: str
) -> None:
    Path("a.pgas").write_text(COUNTING)
    Path("b.litmus").write_text("x@1, y@2 :: 1: loop { y^2 = x; } || 2: a = y\n")
    written, code = on_a_terminal(*arguments, "--timeout", "1.5")
    assert code == 3
    assert title in written and re.search(rf"{phase}: \S+ states, \S+/s, \d+ s", written)


def test_there_is_no_progress_without_a_terminal_or_for_a_small_check(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    assert installed("check", "b.pgas", "--max-states", "0", "--timeout", "1.5").stderr == QUIET
    assert "states of" not in on_a_terminal("check", "a.pgas")[0]


SEARCHES = {
    "repair": "repairs.search._Search.run",
    "thrift": "repairs.thrift._Search.run",
    "outcomes": "runs.enumeration.Enumeration.run",
    "show": "program.printer._Writer.process",
    "run": "runs.simulate._on_network",
    "explain": "robustness.explanation.explain",
    "export": "export.promela.to_promela",
    "draw": "cli.draw._read",
    "certify": "certificates.check.accept.examine",
    "explore": "explore.serve.serve",
    "reproduce": "frontends.lower.load_c",
}
ARGUMENTS = {
    "export": ["--to", "promela"],
    "draw": ["-o", "p.svg"],
    "certify": ["p.pgas"],
    "reproduce": ["--timeout", "5"],
}
IN_JSON = ("repair", "thrift", "outcomes", "run", "reproduce")


@pytest.mark.parametrize("command", SEARCHES)
def test_an_internal_error_names_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def wrong(*_: object) -> None:
        raise ValueError("something is wrong")

    if command == "explore":  # another test may have taken the module out of its package, but not its imports
        monkeypatch.setattr(import_module("pgasrob.explore.serve"), "serve", wrong)
    else:
        monkeypatch.setattr(f"pgasrob.{SEARCHES[command]}", wrong)
    file = "p.c" if command == "reproduce" else "p.pgas"
    Path("p.pgas").write_text(ROBUST)
    arguments = [command, file, *ARGUMENTS.get(command, [])]
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, result.stdout) == (70, "")
    assert f"{file}: error[PG190]: internal error: ValueError: something is wrong" in result.stderr
    assert "Traceback" not in result.stderr and isinstance(result.exception, SystemExit)
    if command in IN_JSON:
        result = CliRunner().invoke(cli, [*arguments, "--format", "json"])
        told = json.loads(result.stdout)
        assert (result.exit_code, told["reason"]) == (70, "internal error: ValueError: something is wrong")
        assert [error["code"] for error in told["errors"]] == ["PG190"]


@pytest.mark.parametrize(
    ("command", "nodes", "limit"), [("run", "4096", "0.1"), ("export", "250", "0.01"), ("reproduce", "4096", "0.1")]
)
def test_limits_hold_while_a_program_is_read_and_after(folder: Path, command: str, nodes: str, limit: str) -> None:
    """To put it on so many nodes takes longer, and a run on 4096 more than a minute."""
    Path("p.c").write_text(MESSAGE.format(head=""))
    arguments = [*ARGUMENTS.get(command, []), "--timeout", limit, "--assume-pure", "helper"]
    result = CliRunner().invoke(cli, [command, "p.c", "-n", nodes, *arguments])
    assert (result.exit_code, f"the time limit of {limit} s was reached" in result.output) == (3, True), result.output


@pytest.mark.parametrize("command", ["repair", "thrift"])
def test_a_limit_is_the_reason_in_json(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def late(*_: object) -> None:
        raise LimitReached(TimeLimit(2.0, "somewhere"))

    monkeypatch.setattr(f"pgasrob.{SEARCHES[command]}", late)
    Path("p.pgas").write_text(ROBUST)
    result = CliRunner().invoke(cli, [command, "p.pgas", "--format", "json"])
    told = json.loads(result.stdout)
    assert (result.exit_code, told["state"], told["reason"]) == (
        3,
        "unknown",
        "the time limit of 2 s was reached somewhere",
    )
