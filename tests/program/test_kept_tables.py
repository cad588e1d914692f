"""The parser's tables are kept between runs, and nothing depends on it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pgasrob.program import kept_tables, parser

pytestmark = pytest.mark.filterwarnings("error")
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


@pytest.mark.parametrize("damage", ["nothing", "nonsense", "cut", *range(3)])
def test_damaged_tables_are_made_again(folder: Path, damage: str | int) -> None:
    """A bit that has flipped in them would be another language."""
    kept = folder / "pgasrob" / "grammar"
    parser.parse(TEXT)
    whole = kept.read_bytes()
    if isinstance(damage, int):
        place = random.Random(damage).randrange(65, len(whole))
        kept.write_bytes(whole[:place] + bytes((whole[place] ^ 1 << damage,)) + whole[place + 1 :])
    else:
        kept.write_bytes({"nothing": b"", "nonsense": b"nonsense", "cut": whole[: len(whole) // 2]}[damage])
    with pytest.warns(UserWarning, match="grammar is damaged: the tables of the parser are made again"):
        assert parser.parse(TEXT).processes
    parser.parse(TEXT)


def test_tables_of_another_grammar_are_replaced_in_silence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = folder / "pgasrob" / "grammar"
    parser.parse(TEXT)
    with monkeypatch.context() as patched:
        patched.setattr(kept_tables.sys, "version", "another")
        parser.parse(TEXT)
    assert kept.stat().st_size > 10_000


def test_nothing_is_kept_where_nothing_can_be(folder: Path) -> None:
    folder.write_text("no folder")
    assert parser.parse(TEXT).processes


def test_nothing_is_read_that_belongs_to_somebody_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tables.os, "getuid", lambda: 12345)
    assert parser.parse(TEXT).processes
    assert not (folder / "pgasrob" / "grammar").exists()
