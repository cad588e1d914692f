"""A folder to work in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.test_verdict_json import ONE_TO_ONE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def one_to_one(tmp_path: Path) -> str:
    path = tmp_path / "one_to_one.pgas"
    path.write_text(ONE_TO_ONE)
    return str(path)
