"""What the README shows is what the commands print, and the program it shows is the one they run on."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tools import skip_unless_run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
SHOWN = [block for block in BLOCKS if block.startswith("$ pgasrob ")]


def without_costs(text: str) -> str:
    """``text`` without seconds and without the SC states, of which the native kernel needs to see fewer."""
    text = re.sub(r"[\d,]+ SC states?, \d+\.\d+ s\b", "_ SC states, _ s", text)
    return re.sub(r"\d+\.\d+ s$", "_ s", text, flags=re.MULTILINE).rstrip()


def test_there_is_something_to_compare() -> None:
    assert len(SHOWN) >= 2


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.splitlines()[0])
def test_commands_print_what_the_readme_shows(block: str) -> None:
    command, _, output = block.partition("\n")
    skip_unless_run(command.removeprefix("$ pgasrob "))
    run = subprocess.run(
        [sys.executable, "-m", *shlex.split(command.removeprefix("$ "))],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert without_costs(run.stdout) == without_costs(output)


def test_the_program_shown_is_the_one_in_the_corpus() -> None:
    assert (ROOT / "programs/one_to_one/one_to_one.pgas").read_text() in BLOCKS


def test_the_python_shown_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere: here it would take the sources, and these need not have the kernel."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    shutil.copy(ROOT / "programs/one_to_one/one_to_one.pgas", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["verdict"].verdict == "not robust"
    assert names["verdict"].witness.run.events
    assert names["verdict"].witness.cycle


def test_every_path_named_exists() -> None:
    paths = re.findall(r"`((?:programs|proofs|pgasrob|tests)/[\w/.-]*)`", README)
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_programs_in_families_are_counted() -> None:
    (count,) = re.findall(r"`programs/` has (\d+) programs in families", README)
    families = [path for path in (ROOT / "programs").iterdir() if path.name not in ("c", "lectures", "litmus")]
    assert int(count) == sum(len(list(family.rglob("*.pgas"))) for family in families)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """But for pip's and pytest's -q."""
    (command,) = [block.strip() for block in BLOCKS if "pytest" in block]
    assert command in (ROOT / ".ci/run").read_text().replace(" -q", "")
