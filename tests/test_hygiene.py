"""The linter and the type checker have nothing to say, and imports stay lazy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "tool", [["ruff", "check", "--no-cache"], ["ruff", "format", "--check", "--no-cache"], ["mypy"]]
)
def test_the_tools_are_content(tool: list[str]) -> None:
    pytest.importorskip(tool[0], reason="comes with the test extra")
    result = run("-m", *tool)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_check_loads_neither_automata_lib_nor_sympy() -> None:
    code = (
        "import sys, pgasrob; pgasrob.check(pgasrob.load('programs/one_to_one/one_to_one.pgas'));"
        "print([name for name in ('automata', 'networkx', 'sympy', 'rich') if name in sys.modules])"
    )
    assert run("-c", code).stdout.strip() == "[]"
