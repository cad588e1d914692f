"""`pgasrob course`: what it writes, and what it says of pages that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "programs" / "lectures" / "1_one_sided_communication" / "lecture.md"


def course(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["course", *map(str, arguments)], catch_exceptions=False)


def test_slides_are_made_where_the_programs_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = course("slides", PAGE, "-o", "decks")
    assert result.exit_code == 2
    assert "there is no programs/lectures/1_one_sided_communication/1_02_reuse.pgas here" in result.stderr
    assert not (tmp_path / "decks").exists()
    (tmp_path / "programs").symlink_to(ROOT / "programs")
    result = course("slides", PAGE, "-o", "decks")
    assert (result.exit_code, result.stdout) == (0, "decks/1_one_sided_communication.html\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decks", "programs"], "nothing of the runs is left"


def test_a_page_that_is_none(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert "cannot read" in course("slides", page).stderr
    page.write_bytes(b"\xff")
    assert "is no text" in course("slides", page).stderr
    page.write_text("# A\n\n---\n")
    assert "page.md: line 3: a lecture page has no hr" in course("slides", page).stderr
    page.write_text("# A\n\n```pgas a.pgas\nprogram a;\n```\n")
    result = course("slides", page, "-o", tmp_path)
    assert result.exit_code == 2 and "a.pgas: No such file" in result.stderr
    page.write_text("A\n")
    assert "line 1: a lecture page begins with its title" in course("slides", page).stderr
