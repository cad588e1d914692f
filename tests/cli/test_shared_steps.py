"""The kernel that is missing is mentioned, progress is shown."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import pytest

from pgasrob import twins
from tests.cli.commands import (
    ENDLESS,
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


def test_there_is_no_progress_without_a_terminal_or_for_a_small_check(folder: Path) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ENDLESS)
    assert installed("check", "b.pgas", "--max-states", "0", "--timeout", "1.5").stderr == QUIET
    assert "states of" not in on_a_terminal("check", "a.pgas")[0]
