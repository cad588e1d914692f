"""The line above a program in the editor (a code lens): its verdicts on the node counts that were checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from lsprotocol.types import CodeLens, Command, Range

from pgasrob.lsp.edited_program import Found
from pgasrob.lsp.positions import NOWHERE, Places

BEGINNING = {
    ".c": re.compile(r"/\*(?s:.*?)\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|(?P<here>\bmain)\s*\("),
    ".pgas": re.compile(r"/\*(?s:.*?)\*/|//[^\n]*|(?P<here>\b(?:program|process))\b"),
}
"""By file ending: the first match of the group ``here`` is where the program begins; comments and strings match too."""
WORDS = {"unknown": "not known"}


def lenses(file: str, text: str, found: Sequence[Found]) -> list[CodeLens]:
    """The lens of the program ``text`` in ``file``; none when nothing was checked."""
    known = [each for each in found if each.nodes is not None]
    if not known:
        return []
    return [CodeLens(_beginning(file, text), Command(summary(known), ""))]


def summary(found: Iterable[Found]) -> str:
    """The verdicts in short: `robust on 2..4`."""
    return "; ".join(
        f"{WORDS.get(verdict, verdict)} on {_numbers([each.nodes or 0 for each in group])}"
        for verdict, group in groupby(found, lambda each: each.verdict)
    )


def _numbers(counts: Sequence[int]) -> str:
    if len(counts) > 1 and counts == list(range(counts[0], counts[-1] + 1)):
        return f"{counts[0]}..{counts[-1]} nodes"
    return f"{', '.join(map(str, counts))} node{'' if list(counts) == [1] else 's'}"


def _beginning(file: str, text: str) -> Range:
    pattern = next(pattern for ending, pattern in BEGINNING.items() if file.endswith(ending))
    for match in pattern.finditer(text):
        if match["here"]:
            before = text[: match.start("here")]
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            return Range(*(Places(text).position(line, column + more) for more in (0, len(match["here"]))))
    return NOWHERE
