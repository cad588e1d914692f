"""What the README and the manual show is what commands print, and the programs they show are those of the corpus."""

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

import pgasrob
from pgasrob.cli import COMMANDS
from tests.tools import skip_unless_run

ROOT = Path(__file__).parents[1]
MANUAL = ROOT / "pgasrob" / "manual"
PAGES = {page: page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *sorted(MANUAL.glob("*.md"))]}
README = PAGES[ROOT / "README.md"]
PICTURE = MANUAL / "halo.svg"


def blocks(page: Path, language: str = "") -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGES[page], re.DOTALL | re.MULTILINE)
    return [block for named, block in fenced if named == language]


SHOWN = list(dict.fromkeys(block for page in PAGES for block in blocks(page) if block.startswith("$ pgasrob ")))
"""Whatever several pages show is run once."""


def without_costs(text: str) -> str:
    """``text`` without seconds and without the SC states, of which the native kernel needs to see fewer."""
    text = re.sub(r"[\d,]+ SC states?, \d+\.\d+ s\b", "_ SC states, _ s", text)
    return re.sub(r"\d+\.\d+ s$", "_ s", text, flags=re.MULTILINE).rstrip()


def test_there_is_something_to_compare() -> None:
    assert len(SHOWN) >= 15


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.splitlines()[0])
def test_commands_print_what_is_shown(block: str) -> None:
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


def draw(path: Path) -> None:
    """Draw the counterexample at the top of the README."""
    pgasrob.check(str(ROOT / "programs/c/mpi/barrier_halo.c"), nodes=2, only=("robust",)).save(path, cycle_only=True)


def test_the_picture_at_the_top_is_that_of_the_corpus(tmp_path: Path) -> None:
    draw(tmp_path / "halo.svg")
    drawn = (tmp_path / "halo.svg").read_text(encoding="utf-8")
    assert drawn == PICTURE.read_text(encoding="utf-8"), "run `python -m tests.test_readme`"
    assert f"({PICTURE.relative_to(ROOT)})" in README


def test_the_programs_shown_are_those_of_the_corpus() -> None:
    """On the page of the language whole, in the README without the comment that gives the answer away."""
    program = (ROOT / "programs/one_to_one/one_to_one.pgas").read_text()
    assert program in blocks(MANUAL / "language.md")
    assert re.sub(r"^//.*\n", "", program, flags=re.MULTILINE) in blocks(ROOT / "README.md")
    (cut,) = blocks(ROOT / "README.md", "c")
    assert cut in (ROOT / "programs/c/mpi/barrier_halo.c").read_text()


def test_the_python_shown_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere: here it would take the sources, and these need not have the kernel."""
    (code,) = blocks(MANUAL / "python.md", "python")
    shutil.copy(ROOT / "programs/c/openshmem/ring_halo.c", tmp_path / "ring.c")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["verdict"].verdict == "not robust"
    assert names["verdict"].witness.run.events
    assert names["verdict"].witness.cycle
    assert (tmp_path / "run.svg").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_named_exists(page: Path) -> None:
    paths = [ROOT / path for path in re.findall(r"`((?:programs|proofs|pgasrob|tests)/[\w/.-]*)`", PAGES[page])]
    for link in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        if not link.startswith("https://"):
            target, _, heading = link.partition("#")
            linked = (page.parent / target).resolve() if target else page
            paths.append(linked)
            anchors = [re.sub(r"\W+", "-", line[3:].lower()) for line in PAGES.get(linked, "").splitlines()]
            assert not heading or heading in anchors, link
    assert paths
    assert not [path for path in paths if not path.exists()]


def test_the_readme_fits_the_first_minute_and_every_page_is_linked() -> None:
    assert len(README.splitlines()) < 250
    contents = PAGES[MANUAL / "README.md"]
    pages = [page.name for page in PAGES if page.parent == MANUAL and page.name != "README.md"]
    assert pages
    assert not [name for name in pages if f"(pgasrob/manual/{name}" not in README or f"({name})" not in contents]


def test_the_readme_names_every_command() -> None:
    table = README.partition("| command |")[2].partition("\n\n")[0]
    assert not [name for name in COMMANDS if not re.search(rf"`(pgasrob )?{name}`", table)]


def test_programs_are_counted() -> None:
    (count,) = re.findall(r"`programs/` has (\d+) programs in families", PAGES[MANUAL / "language.md"])
    families = [path for path in (ROOT / "programs").iterdir() if path.name not in ("c", "lectures", "litmus")]
    assert int(count) == sum(len(list(family.rglob("*.pgas"))) for family in families)
    in_c = len(list((ROOT / "programs/c").rglob("*.c")))
    counts = [count for page in PAGES for count in re.findall(r"`programs/c/` has (\d+) programs", PAGES[page])]
    assert len(counts) == 2
    assert set(counts) == {str(in_c)}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """But for pip's and pytest's -q."""
    (command,) = [block.strip() for block in blocks(ROOT / "README.md") if "pytest" in block]
    assert command in (ROOT / ".ci/run").read_text().replace(" -q", "")


if __name__ == "__main__":
    draw(PICTURE)
