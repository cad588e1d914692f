"""The linter and the type checker have nothing to say, and imports stay lazy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def content(tool: str, *arguments: str) -> bool:
    """Whether a tool of the test extra has nothing to say; what it says is printed."""
    pytest.importorskip(tool, reason="comes with the test extra")
    result = run("-m", tool, *arguments)
    print(result.stdout + result.stderr)
    return result.returncode == 0


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]])
def test_the_linter_is_content(arguments: list[str]) -> None:
    assert content("ruff", *arguments, "--no-cache")


def test_the_type_checker_is_content() -> None:
    assert content("mypy")


def test_a_check_loads_neither_automata_lib_nor_sympy() -> None:
    code = (
        "import sys, pgasrob; pgasrob.check(pgasrob.load('programs/one_to_one/one_to_one.pgas'));"
        "print([name for name in ('automata', 'networkx', 'sympy', 'rich') if name in sys.modules])"
    )
    assert run("-c", code).stdout.strip() == "[]"
