"""Suggests known words for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The word of ``known`` that is most like ``word``, None when none is at least so much ``alike``."""
    from difflib import get_close_matches  # takes longer to import than this module

    candidates = list(known)
    same = [candidate for candidate in candidates if candidate.casefold() == word.casefold()]
    return next(iter(same or get_close_matches(word, candidates, n=1, cutoff=alike)), None)


def did_you_mean(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """A question that names the closest word, or "" when none is close: "did you mean `ring`?"."""
    found = closest(word, known, alike)
    return f"did you mean `{found}`?" if found else ""
