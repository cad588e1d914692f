"""Makes programs for students: blanks out the comments at the head, which say what is expected and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pgasrob.program.expectation import COMMENT, node_count, read_expectation
from pgasrob.program.files import files_below

ENDINGS = (".pgas", ".c")
SOLUTIONS = "solutions"
"""The folders of a lecture that are not handed out."""


def head(text: str) -> int:
    """Where the comments at the beginning of a program end."""
    end = 0
    while comment := COMMENT.match(text, end):
        end = comment.end()
    return end


def handed_out(text: str, file: str) -> str:
    """``text`` with blanks for the comments at its head, so that lines keep their numbers; what these say of the node
    count stays. Raises :class:`pgasrob.diagnostics.SourceError` for a count that is none."""
    text = text.removeprefix("\ufeff")
    end, nodes = head(text), node_count(text, file)
    blanks = "\n" * text[:end].count("\n")
    left = (f"// nodes: {nodes}" if nodes else "") + blanks + text[end:]
    assert read_expectation(left, file) is None or nodes, "what remains says nothing"
    return left


def to_hand_out(paths: Sequence[str]) -> list[tuple[Path, Path]]:
    """The programs below ``paths``, each with its path in the hand-out: below a folder as there, else its name. Folders
    are searched for `.pgas` and `.c` files; those named `solutions` are left out."""
    found: dict[Path, Path] = {}
    for path in paths:
        if os.path.isdir(path):
            below = sorted(Path(file) for file in files_below(path, ENDINGS))
            inside = [(file.relative_to(path), file) for file in below]
            found |= {place: file for place, file in inside if SOLUTIONS not in place.parts}
        else:
            found[Path(Path(path).name)] = Path(path)
    return [(file, place) for place, file in found.items()]
