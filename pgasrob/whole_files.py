"""Writes files as a whole: all of the new contents is on the disk under the file's name, or what was there before.

Everything that the package leaves behind for its users goes through :func:`replace_file`; `tests/test_whole_files.py`
has the list of who else opens a file to write.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from os import PathLike

DEVICES = ("/dev/", "/proc/")
"""What is below is written to as it is: `/dev/stdout` may be a file, which others have open."""


class CannotWrite(OSError):
    """A file cannot be written; the text says which and why."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


def replace_file(path: str | PathLike[str], contents: str | bytes, make_folders: bool = False) -> None:
    """Replace what is in the file ``path``, a text in UTF-8 with line ends as they are, by ``contents``.

    They are written to a temporary file beside it, which reaches the disk before it gets the name of the file. A link
    stays, and what it points to is replaced; a file keeps its permissions. A device or a pipe has no contents to be
    replaced, and is written to. ``make_folders``: also the folder of the file, where it is missing. Raises
    :class:`CannotWrite`, and UnicodeEncodeError before anything is written.
    """
    written = contents.encode() if isinstance(contents, str) else contents
    name = os.fspath(path)
    try:
        mode = _mode(name)
        if os.path.abspath(name).startswith(DEVICES) or not (mode is None or stat.S_ISREG(mode)):
            with open(name, "wb") as opened:
                opened.write(written)
        elif mode is not None and not os.access(name, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            target = os.path.realpath(name)
            if make_folders:
                os.makedirs(os.path.dirname(target), exist_ok=True)
            _replace(target, written, None if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        raise CannotWrite(error.errno, error.strerror or str(error), name) from None


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _replace(target: str, written: bytes, rights: int | None) -> None:
    """``rights``: those of the file that is there. A new one has what the umask leaves."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".pgasrob-{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o666 if rights is None else rights)
    try:
        with open(handle, "wb") as opened:
            opened.write(written)
            opened.flush()
            if rights is not None:
                os.chmod(temporary, rights)
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # not every system can open a folder, or has its entries reach the disk so
        entries = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entries)
        finally:
            os.close(entries)
