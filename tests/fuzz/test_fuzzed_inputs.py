"""Whatever the input: no command breaks on it, ends with another exit code than its help says, or outlives its limits.

30 inputs of each kind, with --nightly 10,000. `python -m tests.fuzz KIND --keep FOLDER` runs them by hand.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.fuzz import watched
from tests.fuzz.damage import damaged, damaged_json
from tests.fuzz.kinds import KEPT, KINDS, LIMITS, MEMORY, SECONDS
from tests.fuzz.watched import Tally, fuzz, wrong
from tests.support import examples


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_breaks(kind: str, tmp_path: Path) -> None:
    tally = Tally()
    broken = list(fuzz(kind, range(examples(20, 10_000)), 0, tmp_path, None, tally))
    assert not broken, f"python -m tests.fuzz {kind} --first N --count 1 --keep FOLDER: {broken}"
    assert tally.codes.total() == examples(20, 10_000)
    # Most are refused, but not all: what is damaged everywhere would be seen to be at once.
    # Not so where a damaged file is left out and the answer is the one without it.
    assert kind in ("explore", "resume") or len(tally.codes) > 1, tally


def test_what_took_too_long_once_keeps_to_its_limits(tmp_path: Path) -> None:
    assert list(fuzz("kept", range(len(KEPT)), 0, tmp_path)) == []


@pytest.mark.parametrize(
    ("found", "what"),
    [
        ({}, []),
        ({"err": "Traceback (most recent call last):"}, ["an internal error"]),
        ({"code": 70, "out": "internal error, please report it"}, ["an internal error", "exit code 70"]),
        ({"code": -11}, ["exit code -11"]),
        ({"seconds": 2 * SECONDS + 0.1}, ["2.1 s of a processor"]),
        ({"bytes": 2 * MEMORY + 1}, ["600 MB"]),
        ({"alone": 1}, ["exit code 1 in a process of its own, and 0 after others"]),
        ({"as_before": False}, ["another result than without the file"]),
        ({"as_before": False, "code": 2}, []),
    ],
)
def test_what_counts_as_broken(found: dict[str, Any], what: list[str]) -> None:
    whole = {"code": 0, "err": "", "out": "", "seconds": 0.0, "bytes": 0, **found}
    assert list(wrong(("check", "x.c", *LIMITS), whole)) == what


def test_a_process_that_dies_or_does_not_answer_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And the inputs behind it are tried all the same."""
    monkeypatch.setattr(watched, "PATIENCE", 4.0)
    found = list(fuzz("breaking", range(5), 0, tmp_path, tmp_path / "kept"))
    assert [(each.number, each.what) for each in found] == [
        (1, f"the process ended with {-signal.SIGABRT}"),
        (3, "no answer after 4 s"),
        (4, "an internal error; exit code -1"),
    ]
    assert "ZeroDivisionError" in found[2].err and (tmp_path / "kept" / "breaking-4" / ".stderr").exists()


def test_damage_is_the_same_each_time_and_of_all_sorts() -> None:
    sample, value = b"process { x = 12; y = 7; }", {"nodes": [1, {"a": "b"}], "run": None}
    texts = [damaged(Random(seed), sample, [sample]) for seed in range(300)]
    values = [damaged_json(Random(seed), value, [value]) for seed in range(300)]
    assert texts == [damaged(Random(seed), sample, [sample]) for seed in range(300)]
    assert min(map(len, texts)) < 10 and max(map(len, texts)) > 20_000
    assert any(b"\0" in text for text in texts) and any(text.startswith(b"\xef\xbb\xbf") for text in texts)
    assert sum(text == sample for text in texts) < 75

    def is_json(text: bytes) -> bool:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
        return True

    assert 150 < sum(map(is_json, values)) < 300
