"""The parser's tables are kept between runs, and nothing depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.program import parser

TEXT = "process { skip; }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tables are kept; the parser of this process is forgotten, before and after."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(parser, "_grammar", parser._grammar.__wrapped__)
    return tmp_path / "cache"


def test_tables_are_kept_for_the_user_alone(folder: Path) -> None:
    parser.parse(TEXT)
    kept = folder / "pgasrob" / "grammar"
    assert kept.stat().st_size > 10_000 and folder.joinpath("pgasrob").stat().st_mode & 0o077 == 0
    before = kept.stat().st_mtime_ns
    parser.parse(TEXT)
    assert kept.stat().st_mtime_ns == before, "they are read"


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x80\x04."])
def test_tables_that_cannot_be_read_are_made_anew(folder: Path, content: bytes) -> None:
    kept = folder / "pgasrob" / "grammar"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(content)
    assert parser.parse(TEXT).processes
    assert kept.stat().st_size > 10_000


def test_nothing_is_kept_where_nothing_can_be(folder: Path) -> None:
    folder.write_text("no folder")
    assert parser.parse(TEXT).processes


def test_nothing_is_read_that_belongs_to_somebody_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser.os, "getuid", lambda: 12345)
    assert parser.parse(TEXT).processes
    assert not (folder / "pgasrob" / "grammar").exists()
