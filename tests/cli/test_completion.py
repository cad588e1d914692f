"""`pgasrob completion`."""

from __future__ import annotations

from shutil import which

import pytest

from tests.cli.commands import (
    installed,
    run,
)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    if shell == "bash" and not which("bash"):
        pytest.skip("click asks bash for its version")
    output = run("completion", shell).output
    assert "_PGASROB_COMPLETE" in output and "pgasrob completion" in output.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "completed"),
    [("pgasrob ch", "check"), ("pgasrob check --eng", "--engine"), ("pgasrob check --engine def", "definition")],
)
def test_completion_completes(words: str, completed: str) -> None:
    done = installed(_PGASROB_COMPLETE="zsh_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert completed in done.stdout.split()
