"""Folders for files that nobody needs afterwards, which do not outlive their process for long.

A process that is killed leaves its folder behind. Each has a file that its process holds a lock of, which the system
gives up with the process, whatever ends it; whoever makes a folder next removes those whose locks are free.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOCK = "pgasrob-", ".in-use"
YOUNG = 60.0
"""Seconds in which a folder is left alone: its process may be about to take the lock."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder, which is removed behind the ``with``."""
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            _taken(lock)
            yield folder
        finally:
            os.close(lock)


def _sweep(of: Path) -> None:
    """Remove this user's folders whose processes are gone."""
    with suppress(OSError):
        for folder in of.glob(f"{PREFIX}*"):
            with suppress(OSError):
                found = folder.lstat()
                if found.st_uid == os.getuid() and time.time() - found.st_mtime > YOUNG and _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether nobody holds the lock of a folder that has one."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        return _taken(lock)
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    """Take a lock, unless another process has it; False where the system has none."""
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
