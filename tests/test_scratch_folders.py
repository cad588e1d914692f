"""Temporary folders: those whose processes are gone are removed when the next one is made, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from pgasrob.scratch_folders import LOCK, PREFIX, YOUNG, scratch_folder

OWNER = """import time
from pgasrob.scratch_folders import scratch_folder
with scratch_folder() as folder:
    print(folder, flush=True)
    time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def old(folder: Path) -> Path:
    before = time.time() - 2 * YOUNG
    os.utime(folder, (before, before))
    return folder


def test_it_is_there_and_then_it_is_not() -> None:
    with scratch_folder() as folder:
        (folder / "a").write_text("a")
        with scratch_folder() as other:
            assert folder != other and folder.exists() and old(folder)
            with scratch_folder():
                assert folder.exists(), "a process can have several"
    assert not folder.exists() and not other.exists()


def test_what_a_killed_process_leaves_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        folder = old(Path(running.stdout.readline().strip()))
        assert folder.parent == tmp_path
        with scratch_folder():
            assert folder.exists(), "it is at work"
        running.send_signal(signal.SIGKILL)
    os.utime(folder)
    with scratch_folder():
        assert folder.exists(), "its lock might be about to be taken"
    old(folder)
    with scratch_folder():
        assert not folder.exists()


def test_other_folders_stay(tmp_path: Path) -> None:
    folders = [tmp_path / f"{PREFIX}{name}" for name in ("lockless", "else")]
    outside = tmp_path / "outside"
    for each in (*folders, outside):
        each.mkdir()
    (outside / "kept").write_text("")
    (folders[1] / LOCK).symlink_to(outside / "kept")
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(outside)
    (tmp_path / f"{PREFIX}file").write_text("")
    for each in folders:
        old(each)
    with scratch_folder():
        pass
    assert all(each.exists() for each in folders) and (outside / "kept").exists() and link.is_symlink()
