"""Lists the corpus of examples: its folders, or the programs of one with their headers."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from pathlib import PurePath
from typing import TypedDict

from pgasrob.render.corpus_catalogue import SETTINGS

EXPECT = "expect:"
FOLDER = 20
"""Characters for the name of a folder; a longer one moves what follows it."""


def folder_lines(paths: Iterable[PurePath], width: int) -> list[str]:
    """A line for each folder of ``paths``: how many programs it has, and their names as far as they fit."""
    paths = list(paths)
    counts = Counter(path.parent.as_posix() for path in paths)
    lines = []
    for folder, count in counts.items():
        names = ", ".join(path.stem for path in paths if path.parent.as_posix() == folder)
        head = f"{folder:<{FOLDER}}  {count:>3}  "
        lines.append(head + textwrap.shorten(names, max(16, width - len(head)), placeholder=" ..."))
    return lines


class ExampleObject(TypedDict):
    """A program of the corpus, below which ``program`` is its path; ``file``: where it is. ``expected``: what its
    header says, None where that is nothing; ``why``: what else the comments at its head say."""

    schema: int
    program: str
    file: str
    expected: str | None
    why: str


def example_to_json(path: PurePath, file: PurePath, text: str) -> ExampleObject:
    """The program ``path`` of the corpus, which is in ``file`` and has this ``text``, as an object for `json.dumps`."""
    expected, why = _head(text)
    return {"schema": 1, "program": path.as_posix(), "file": str(file), "expected": expected or None, "why": why}


def program_lines(programs: Iterable[tuple[PurePath, str]], width: int) -> list[str]:
    """The lines of each program (path and text): what is expected of it, and below why."""
    lines = []
    for path, text in programs:
        expected, why = _head(text)
        lines.append(f"{path.as_posix()}{expected and ': '}{expected}")
        lines += textwrap.wrap(why, width, initial_indent="    ", subsequent_indent="    ")
    return lines


def _head(text: str) -> tuple[str, str]:
    """What the header of a program expects, and why."""
    comments = [
        line.removeprefix("//").strip() for line in takewhile(lambda line: line.startswith("//"), text.splitlines())
    ]
    expected = next((each.removeprefix(EXPECT).strip() for each in comments if each.startswith(EXPECT)), "")
    return expected, " ".join(each for each in comments if not each.startswith((EXPECT, *SETTINGS)))
