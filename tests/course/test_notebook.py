"""Notebooks of the lectures: valid, and what their commands print when they are run is what the page shows."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.course.lecture_page import parts
from pgasrob.course.notebook import HEAD, SHELL
from tests.test_lectures import comparable, fits
from tests.tools import RUNS_PROGRAMS

nbformat = pytest.importorskip("nbformat", reason="no nbformat (pip install '.[test]')")
ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("programs/lectures/*/lecture.md"))


def notebook(page: Path, folder: Path, *options: str) -> Any:
    result = CliRunner().invoke(
        cli, ["course", "notebook", str(page), "-o", str(folder), *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    found = nbformat.read(folder / f"{page.parent.name}.ipynb", 4)
    nbformat.validate(found)
    return found


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_notebook_has_all_of_the_page_and_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path
) -> None:
    monkeypatch.chdir(ROOT)
    found = notebook(page, tmp_path)
    read = parts(page.read_text())
    sources = [cell.source for cell in found.cells]
    ran = [source.removeprefix(f"{SHELL}\n") for source in sources if source.startswith(SHELL)]
    assert ran == [part.name for part in read if part.kind == "command"]
    written = [source.split("\n", 1) for source in sources if source.startswith("%%writefile ")]
    assert [Path(head).name for head, _ in written] == [Path(part.name).name for part in read if part.kind == "program"]
    for head, text in written:
        assert (tmp_path / head.removeprefix("%%writefile ")).read_text().rstrip("\n") == text
    assert "// expect" not in "\n".join(sources)
    assert [cell for cell in found.cells if cell.metadata.get("tags") == ["solution"]]
    words = set(re.findall(r"\w{4,}", "\n".join(sources)))
    assert {word for part in read if part.kind == "prose" for word in re.findall(r"\w{4,}", part.text)} - words <= {
        "lecture", "README", *(word for other in PAGES for word in re.findall(r"\w+", other.parent.name))
    }  # fmt: skip
    without = notebook(page, tmp_path, "--no-solutions")
    assert not [cell for cell in without.cells if cell.metadata.get("tags")]
    assert 0 < len(without.cells) < len(found.cells)


def test_the_beginning_of_a_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / PAGES[0].relative_to(ROOT)
    copytree(PAGES[0].parent, page.parent)
    page.write_text(page.read_text().partition("## 4. ")[0])
    monkeypatch.chdir(tmp_path)
    assert run(page, tmp_path / "notebooks", monkeypatch) == (5, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    monkeypatch.chdir(ROOT)
    assert min(run(page, tmp_path, monkeypatch)) > 0


def run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Runs the notebook of a page in ``folder``; how many commands it has, and how many pictures."""
    client = pytest.importorskip("nbclient", reason="no nbclient (pip install '.[test]')")
    pytest.importorskip("ipykernel", reason="no ipykernel (pip install '.[test]')")
    found = notebook(page, folder)
    command = folder / "bin" / "pgasrob"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pgasrob "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    for name, value in (("PYTHONPATH", str(ROOT)), ("COLUMNS", "80"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    client.NotebookClient(
        found, timeout=600, startup_timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    shown = {part.name: part.text for part in parts(page.read_text()) if part.kind == "command"}
    ran = [cell for cell in found.cells if cell.source.startswith(SHELL)]
    for cell in ran:
        name = cell.source.removeprefix(f"{SHELL}\n")
        if name.split()[1] not in RUNS_PROGRAMS and ".pgastrace" not in name:  # those need a library
            assert fits(comparable(shown[name]), comparable(printed(cell))), printed(cell)
    pictures = [cell for cell in found.cells if cell.source.startswith(("pgasrob.check(", "SVG("))]
    for cell in pictures:
        assert any("svg" in str(output.get("data")) for output in cell.outputs), cell.source
    return len(ran), len(pictures)


def test_a_notebook_begins_with_the_title_of_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    title = PAGES[0].read_text().partition("\n")[0]
    assert title.startswith("# ") and notebook(PAGES[0], tmp_path).cells[0].source == f"{title}\n\n{HEAD}"
