"""Applies edits, which replace pieces of a text, and follows places from the edited text back to the original."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text`` instead of the characters from ``start`` up to ``end``; of insertions at one place that with the smaller
    ``order`` comes first."""

    start: int
    end: int
    order: int
    text: str


class Overlap(ValueError):
    """Two edits replace the same piece."""


def applied(source: str, edits: Iterable[Edit]) -> str:
    """``source`` with all ``edits``. Raises :class:`Overlap` where they contradict each other."""
    ordered, pieces, at = sorted(set(edits)), [], 0
    if overlap(ordered):
        raise Overlap("two edits are of the same piece")
    for edit in ordered:
        pieces += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, source[at:]])


def overlap(edits: Iterable[Edit]) -> bool:
    """Whether two of ``edits`` contradict each other."""
    ordered = sorted(set(edits))
    return any(later.start < earlier.end for earlier, later in pairwise(ordered))


class Origins:
    """Maps places in an edited text to places in the original."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._pieces = list(self._shifts(sorted(set(edits))))

    @staticmethod
    def _shifts(edits: list[Edit]) -> Iterator[tuple[int, int, int, Edit | None]]:
        """Start and end of each piece of the edited text, where it begins in the text before, and the edit it is of."""
        at = shift = 0
        for edit in edits:
            begin = edit.start + shift
            yield at, begin, at - shift, None
            yield begin, begin + len(edit.text), edit.start, edit
            at = begin + len(edit.text)
            shift = at - edit.end
        yield at, at + 2**62, at - shift, None

    def edit(self, offset: int) -> Edit | None:
        """The edit that the character at ``offset`` is of, None for one of the original."""
        return self._piece(offset)[1]

    def of(self, offset: int) -> tuple[int, bool]:
        """The place in the original of the character at ``offset``, and whether the character is new."""
        place, edit = self._piece(offset)
        return place, edit is not None

    def kept(self, offset: int) -> int | None:
        """The place in the original of the character at ``offset``, or of what its edit replaces; None where the
        character is inserted."""
        place, edit = self._piece(offset)
        return place if edit is None or edit.start < edit.end else None

    def _piece(self, offset: int) -> tuple[int, Edit | None]:
        for begin, end, origin, edit in self._pieces:
            if begin <= offset < end:
                return (origin + offset - begin if edit is None else origin), edit
        raise AssertionError("the last piece has no end")


def lines_of(text: str) -> list[str]:
    """The lines of ``text`` with their ends. Unlike `str.splitlines`, but like compilers and `patch`, it does not end a
    line at a form feed."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def unified_diff(file: str, before: str, after: str) -> str:
    """The difference as `diff -u` prints it, for `patch -p1`."""
    name = file.lstrip("/")
    lines = difflib.unified_diff(lines_of(before), lines_of(after), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
