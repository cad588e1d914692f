"""The menu of example programs: those of the corpus that are one file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from pgasrob.explore.asked_run import Refused
from pgasrob.explore.request_bounds import MOST_TEXT
from pgasrob.program.corpus import NoExample, programs, read

OF_SEVERAL = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"|^// (args|files):', re.MULTILINE)
HAS_MAIN = re.compile(r"\bmain[ \t]*\(")


@cache
def _texts() -> dict[str, str]:
    """The programs by their paths in the corpus; none where this installation has none."""
    found = {}
    try:
        for path in programs():
            if path.suffix in (".pgas", ".c"):
                text = read(path)
                whole = path.suffix == ".pgas" or (HAS_MAIN.search(text) and not OF_SEVERAL.search(text))
                if whole and len(text) <= MOST_TEXT:
                    found[str(path)] = text
    except NoExample:
        return {}
    return found


@cache
def menu() -> list[tuple[str, list[str]]]:
    """The folders, those in C first, each with its programs."""
    folders: dict[str, list[str]] = {}
    for name in _texts():
        path = PurePosixPath(name)
        folders.setdefault(str(path.parent), []).append(path.name)
    order = sorted(folders, key=lambda folder: (folder != "c/mpi", not folder.startswith("c/"), folder))
    return [(folder, folders[folder]) for folder in order]


def example(asked: Any) -> dict[str, str]:
    """The program whose name is in the JSON value ``asked`` of a request. Raises :class:`Refused`."""
    name = asked.get("name") if isinstance(asked, dict) else None
    if not isinstance(name, str) or name not in _texts():
        raise Refused(404, "there is no such example")
    return {"name": name, "text": _texts()[name], "language": "c" if name.endswith(".c") else "pgas"}
