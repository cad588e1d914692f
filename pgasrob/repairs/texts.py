"""The files of a program as one text, so that edits of all of them are edits of it.

Each file but the first is preceded by its path and its name in reports, in a form that no source contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.program.declarations import Source
from pgasrob.program.files import name_of
from pgasrob.repairs.edits import unified_diff

MARK = re.compile("\x1c([^\x1c]*)\x1c([^\x1c]*)\x1c\n")


@dataclass(frozen=True, slots=True)
class Part:
    """A ``file``, "" for the first one, with what reports call it; its ``text`` begins at ``start``."""

    file: str
    name: str
    start: int
    text: str


def joined(source: Source) -> str:
    """The texts of all files."""
    others = (f"\x1c{file}\x1c{name_of(file, source.file)}\x1c\n{text}" for file, text in source.others.items())
    return "".join([source.text, *others])


def parts(text: str) -> list[Part]:
    """The files of a joined ``text``."""
    file = name = ""
    start, found = 0, []
    for mark in MARK.finditer(text):
        found.append(Part(file, name, start, text[start : mark.start()]))
        file, name, start = mark[1], mark[2], mark.end()
    return [*found, Part(file, name, start, text[start:])]


def changed(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """The files that differ in two joined texts, "" for the first file, with their old and new texts."""
    for old, new in zip(parts(before), parts(after), strict=True):
        if old.text != new.text:
            yield old.file, old.text, new.text


def diff(first: str, before: str, after: str) -> str:
    """The difference of two joined texts, whose ``first`` file this is, as `diff -u` prints it."""
    return "".join(unified_diff(file or first, *texts) for file, *texts in changed(before, after))
