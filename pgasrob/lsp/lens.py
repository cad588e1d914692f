"""The line above a program in the editor (a code lens): what is the answer on the node counts that were checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from lsprotocol.types import CodeLens, Command, Range

from pgasrob.lsp.edited_program import Found
from pgasrob.lsp.positions import NOWHERE, Places
from pgasrob.render.english import on_range
from pgasrob.render.synchronised_json import in_brief

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
    """The answers in short: `robust on 2..4 nodes`."""
    pieces = []
    for answer, group in groupby(found, lambda each: in_brief(each.synchronised, each.verdict, "")):
        same = [*group]
        where = on_range([each.nodes or 0 for each in same])
        pieces.append(in_brief(same[0].synchronised, WORDS.get(answer, same[0].verdict), where))
    return "; ".join(pieces)


def _beginning(file: str, text: str) -> Range:
    pattern = next(pattern for ending, pattern in BEGINNING.items() if file.endswith(ending))
    for match in pattern.finditer(text):
        if match["here"]:
            before = text[: match.start("here")]
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            return Range(*(Places(text).position(line, column + more) for more in (0, len(match["here"]))))
    return NOWHERE
