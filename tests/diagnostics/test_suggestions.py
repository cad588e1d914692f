"""What a word was most likely meant to be."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics.suggestions import closest, did_you_mean


@pytest.mark.parametrize(
    ("word", "meant"),
    [("chekc", "check"), ("SHOW", "show"), ("Check", "check"), ("zzz", None), ("", None)],
)
def test_the_closest_word(word: str, meant: str | None) -> None:
    assert closest(word, ["check", "show"]) == meant
    assert did_you_mean(word, ["check", "show"]) == (f"did you mean `{meant}`?" if meant else "")


def test_how_close_it_has_to_be() -> None:
    assert closest("barrier_all", ["barrier"]) == "barrier"
    assert closest("barrier_all", ["barrier"], 0.9) is None
    assert closest("a", []) is None
