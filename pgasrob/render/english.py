"""Numbers, lists and capitals in English sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from pgasrob.robustness.verdict import RECORDED

T = TypeVar("T")


def capital(text: str) -> str:
    """``text`` with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def count(number: int, thing: str) -> str:
    """``1 event``, ``1,200 events``; a thing in -y or -s has its plural in it: ``entry/entries``."""
    one, _, many = thing.partition("/")
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def on_nodes(nodes: int | Literal["all"] | None) -> str:
    """`` on 2 nodes``, to follow a word; nothing when there is no node count."""
    if nodes == "all":
        return " on every number of nodes"
    return "" if nodes is None else f" on {nodes} node{'' if nodes == 1 else 's'}"


def on_range(counts: Sequence[int]) -> str:
    """`` on 2 nodes``, `` on 2..4 nodes``, `` on 2, 4 nodes``, to follow a word."""
    if len(counts) > 1 and list(counts) == list(range(counts[0], counts[-1] + 1)):
        return f" on {counts[0]}..{counts[-1]} nodes"
    return f" on {', '.join(map(str, counts))} node{'' if list(counts) == [1] else 's'}"


def on_counts(counts: Sequence[int]) -> str:
    """`` on 1 node``, `` on 2 and 3 nodes``, to follow a word."""
    return f" on {listed(counts)} node{'' if tuple(counts) == (1,) else 's'}"


def in_runs(engine: str, nodes: int | Literal["all"] | None) -> str:
    """The beginning of a sentence that says what no run does: ``On 2 nodes``; for a recording, which runs these are."""
    if engine == RECORDED:
        return "In the recorded run, and in all that differ from it in what nothing orders,"
    return capital(on_nodes(nodes or 0).lstrip())


NOT_RECORDED = (
    "Of other inputs, other orders of accesses that conflict, and buffers of messages that are in no window, this says "
    "nothing."
)
"""The sentence on what an answer for a recording does not cover."""


SC = "sequentially consistent (SC)"


def spelled_out(sentences: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """``sentences`` with what goes with them; what SC stands for is said where it comes first."""
    spelled = False
    for sentence, beside in sentences:
        yield (sentence if spelled else re.sub(r"(\b[Aa]n )?\bSC\b", _with_article, sentence, count=1)), beside
        spelled = spelled or "SC" in sentence


def _with_article(found: re.Match[str]) -> str:
    return f"{found[1][0]} {SC}" if found[1] else SC


def ranks(numbers: list[int]) -> str:
    """``rank 1``, ``ranks 1 and 2``, ``ranks 1, 2 and 3``."""
    return _numbered("rank", numbers)


def lines(numbers: list[int]) -> str:
    """``line 1``, ``lines 1 and 2``, ``lines 1, 2 and 3``."""
    return _numbered("line", numbers)


def _numbered(thing: str, numbers: list[int]) -> str:
    *first, last = map(str, numbers)
    return f"{thing}s {', '.join(first)} and {last}" if first else f"{thing} {last}"


def listed(things: Sequence[object], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, final = map(str, things)
    return f"{', '.join(first)} {last} {final}" if first else final
