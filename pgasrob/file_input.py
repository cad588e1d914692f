"""The one way in which files and the standard input are read: regular files alone, and only up to a size.

What a user names may be anything: a device that never ends, a FIFO that nobody writes to, a folder, a file of a
terabyte. All of them are refused before anything is read, for no limit of time is looked at while the system reads.
Files of the package itself, of the system (`/proc`) and those that this process has just written need none of this;
`tests/test_file_input.py` lists where they are read.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from gzip import GzipFile

MOST_ENTRIES = 10_000
"""Of so many files in a folder the names are compared with one that is not there."""
SOURCE = 16_000_000
"""Bytes of a file that people write: a program, a header, a page, options."""
LARGEST = 1 << 28
"""Bytes of a file that programs write: results, baselines, compilation databases, certificates."""
PIECE = 1 << 20
RAISED = "PGASROB_MAX_FILE"
"""The environment variable with another limit in bytes, for this process and those that it starts."""


class RefusedFile(OSError):
    """A path that is not read although the system would: ``strerror`` says why, and what to do."""


def most_bytes(most: int) -> int:
    """The limit that holds in place of ``most``: it can only be raised."""
    asked = os.environ.get(RAISED, "")
    return max(most, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 20 else most


def opened(path: str | os.PathLike[str], most: int | None = LARGEST) -> BinaryIO:
    """The file ``path``, open for reading from its start; ``most``: the bytes it may have, None for no limit.

    Raises :class:`RefusedFile` for what is no regular file, or a larger one, else OSError, and ValueError for what is
    no path.
    """
    _regular(path, os.stat(path))  # before it is opened, which alone makes some devices do something
    # Without waiting, if somebody has put a FIFO there meanwhile.
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(number)
        _regular(path, found)
        if most is not None and found.st_size > (limit := most_bytes(most)):
            raise _too_large(path, limit)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read(path: str | os.PathLike[str], most: int = LARGEST) -> bytes:
    """What is in the file ``path``. Raises as :func:`opened` does."""
    with opened(path, most) as file:
        return all_of(file, path, most)


def text(path: str | os.PathLike[str], most: int = LARGEST) -> str:
    """The text of the file ``path``. Raises as :func:`opened` does, and UnicodeDecodeError for what is not UTF-8."""
    return read(path, most).decode().replace("\r\n", "\n").replace("\r", "\n")


def standard_input(most: int = LARGEST) -> bytes:
    """All of the standard input. Raises as :func:`opened` does for a file."""
    return all_of(sys.stdin.buffer, "the standard input", most)


def all_of(file: BinaryIO | GzipFile, path: str | os.PathLike[str], most: int) -> bytes:
    """What is left of ``file``, whose size may not be known before: it is packed, or grows. Raises
    :class:`RefusedFile`."""
    limit, pieces = most_bytes(most), []
    left = limit + 1
    while left and (piece := file.read(min(left, PIECE))):  # which takes as much memory as is asked for at once
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise _too_large(path, limit)
    return b"".join(pieces)


def is_too_large(error: BaseException) -> bool:
    """Whether ``error`` says that a file is larger than it may be."""
    return isinstance(error, RefusedFile) and error.errno == errno.EFBIG


def why(error: OSError | ValueError) -> tuple[str, str]:
    """Why a file could not be read, and what to do about it."""
    if isinstance(error, RefusedFile):
        what, _, hint = str(error.strerror).partition("; ")
        return what, hint
    if isinstance(error, IsADirectoryError):
        return "it is a folder, not a file", "name a file in it"
    near = _near(error.filename) if isinstance(error, FileNotFoundError) and isinstance(error.filename, str) else None
    hint = "check the name and the rights" if near is None else f"did you mean `{near}`?"
    return getattr(error, "strerror", None) or str(error), hint


def _near(path: str) -> str | None:
    """The path of a file in the same folder with a name that is much like that in ``path``."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or os.curdir) as entries:
            files = [each.name for each in islice(entries, MOST_ENTRIES) if each.is_file()]
    except OSError:
        return None
    close = next(iter(get_close_matches(name, files, n=1, cutoff=0.8)), None)
    return None if close is None or not close.isprintable() else os.path.join(folder, close)


def _regular(path: str | os.PathLike[str], found: os.stat_result) -> None:
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    pipe = "it is a pipe, not a file; write it to a file, or use - and the standard input where a command takes that"
    other = "it is a device or a socket, not a file; name a file"
    raise RefusedFile(errno.EINVAL, pipe if stat.S_ISFIFO(mode) else other, os.fspath(path))


def _too_large(path: str | os.PathLike[str], limit: int) -> RefusedFile:
    size = f"{limit // 1_000_000} MB" if limit >= 1_000_000 else f"{limit} bytes"
    why = f"it is larger than {size}; name another file, or raise the limit: pgasrob --max-file SIZE"
    return RefusedFile(errno.EFBIG, why, os.fspath(path))
