"""Commands for many programs: which files are programs, results as they come, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import (
    ENDLESS,
    QUIET,
    ROBUST,
    check,
    installed,
    objects,
    start,
)
from tests.processes import children, needs_proc, ticks
from tests.render.test_verdict_json import RESULT


def read_until(process: subprocess.Popen[str], wanted: str) -> bool:
    """Read lines until one holds ``wanted``."""
    assert process.stdout
    return any(wanted in line for line in iter(process.stdout.readline, ""))


def _make_loop(path: Path) -> None:
    path.symlink_to(path)


def _make_unreadable(path: Path) -> None:
    path.write_text(ROBUST)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads every file")


def _write_zero(path: Path) -> None:
    path.write_bytes(b"process { }\0")


def _write_binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)))


def _write_empty(path: Path) -> None:
    path.write_bytes(b"")


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


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not take such names")
def test_a_file_name_that_is_no_text(folder: Path) -> None:
    Path(os.fsdecode(b"\xff.pgas")).write_text(ROBUST)
    assert installed("check", ".").returncode == 0
    assert installed("check", ".", "--format", "json").returncode == 0


def test_results_are_printed_as_they_come(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    for form in ("text", "json"):
        process = start("check", ".", "--max-states", "0", "--format", form)
        assert read_until(process, "a.pgas")
        assert process.poll() is None
        process.kill()
        process.communicate(timeout=600)  # which waits for the workers to notice, too


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
