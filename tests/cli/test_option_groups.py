"""Options that commands share: memory by jobs, how C is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.cli.option_groups import memory_for
from tests.cli.commands import (
    check,
)


def test_the_jobs_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from pgasrob.robustness import limits

    monkeypatch.setattr(limits, "_free_in_the_machine", lambda: 8_000_000_000)
    monkeypatch.setattr(limits, "_free_in_the_group", lambda: None)
    assert [memory_for(None, jobs) for jobs in (1, 4)] == [6_000_000_000, 1_500_000_000]
    assert (memory_for(7, 4), memory_for(0, 4)) == (7, None)


def test_the_options_for_c_are_read_with_care(folder: Path) -> None:
    Path("p.c").write_text("int main(void) { return 0; }")
    result = check("p.c", "--api", "gaspi-1.1")
    assert result.exit_code == 2 and "did you mean" in result.output
    assert "write -D NAME or -D NAME=VALUE" in check("p.c", "-D", "1=2").output
    assert check("p.c", "--api", "gaspi-1.01", "-D", "A", "-D", "B=2").exit_code == 0


def test_arguments_are_split_as_a_shell_does(folder: Path) -> None:
    text = "#include <assert.h>\nint main(int argc, char **argv) { assert(argc == 3 && argv[2][1] == ' '); }"
    Path("p.c").write_text(text)
    assert check("p.c", "--args", "-n '2 3'").exit_code == 0
    assert "1 failing assertion" in check("p.c", "--args", "-n 2 3").output
    wrong = check("p.c", "--args", "'2")
    assert wrong.exit_code == 2 and "no closing quotation" in wrong.output
