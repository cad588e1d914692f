"""Where programs are read from: the file system, or copies of files that another machine has."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pgasrob import file_input


class Files(Protocol):
    """Files by their paths, as the user names them."""

    def is_file(self, path: str) -> bool: ...

    def read(self, path: str) -> bytes:
        """What is in the file. Raises OSError, also where it is too large, or ValueError for what is no path."""


GIVEN: dict[str, bytes] = {}
"""Texts given by :func:`give`, by their names."""
PREPROCESSED = re.compile(rb"^[ \t]*#|\bmain\s*\(", re.MULTILINE)
"""Matches what every program in C contains and no program in the core language does."""


def give(data: bytes) -> str:
    """Register a program that is in no file; gives the name by which it can be read, which ends in `.c` for C."""
    name = f"<stdin>{'.c' if PREPROCESSED.search(data) else '.pgas'}"
    GIVEN[name] = data
    return name


class Disk:
    """The file system, with what has been given (:func:`give`)."""

    def is_file(self, path: str) -> bool:
        if path in GIVEN:
            return True
        try:
            return Path(path).is_file()
        except (OSError, ValueError):
            return False

    def read(self, path: str) -> bytes:
        return GIVEN[path] if path in GIVEN else file_input.read(path, file_input.SOURCE)


def files_below(
    folder: str | Path, endings: tuple[str, ...], refused: Callable[[OSError], object] | None = None
) -> Iterator[Path]:
    """The files in ``folder`` and below whose names end so, in no order, hidden files and folders left out.
    ``refused`` is called with the error of each folder that cannot be read."""
    for where, folders, names in os.walk(folder, onerror=refused):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(where, name) for name in names if name.endswith(endings) and not name.startswith("."))


class Recorder(Disk):
    """The file system; ``kept`` has what has been read, or why it could not be."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes | Exception] = {}

    def is_file(self, path: str) -> bool:
        if not super().is_file(path):
            self.kept[path] = FileNotFoundError(path)
            return False
        return True

    def read(self, path: str) -> bytes:
        try:
            self.kept[path] = data = super().read(path)
        except (OSError, ValueError) as error:
            self.kept[path] = error
            raise
        return data


@dataclass(frozen=True, slots=True)
class Copies:
    """What a :class:`Recorder` has kept. A file that it was not asked for raises KeyError."""

    kept: Mapping[str, bytes | Exception]

    def is_file(self, path: str) -> bool:
        return isinstance(self.kept[path], bytes)

    def read(self, path: str) -> bytes:
        kept = self.kept[path]
        if isinstance(kept, Exception):
            raise kept
        return kept


DISK = Disk()


@dataclass(frozen=True, slots=True)
class Texts:
    """These ``texts`` by their names, and no other files: whether one is there is not even asked of the system."""

    texts: Mapping[str, str]

    def is_file(self, path: str) -> bool:
        return path in self.texts

    def read(self, path: str) -> bytes:
        if path not in self.texts:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self.texts[path].encode(errors="replace")


class Overlay:
    """The files ``below``, with other ``texts`` in place of some."""

    def __init__(self, texts: Mapping[str, str], below: Files = DISK) -> None:
        self.texts = {os.path.abspath(path): text for path, text in texts.items()}
        self._below = below

    def is_file(self, path: str) -> bool:
        return os.path.abspath(path) in self.texts or self._below.is_file(path)

    def read(self, path: str) -> bytes:
        text = self.texts.get(os.path.abspath(path))
        return self._below.read(path) if text is None else text.encode(errors="replace")


def name_of(file: str, first: str) -> str:
    """What reports call ``file``: its path from the folder of the program's ``first`` file, or from where both lie."""
    whole, folder = os.path.abspath(file), os.path.dirname(os.path.abspath(first))
    return os.path.relpath(whole, os.path.commonpath((whole, folder)))
