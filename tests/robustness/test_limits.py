"""Limits, and the memory that there is."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pgasrob.robustness import limits as module
from pgasrob.robustness.limits import LEAST_MEMORY, Limits, resident_memory, size_text, spare_memory


@pytest.mark.parametrize(
    "limits",
    [{"max_states": 0}, {"max_states": -1}, {"timeout": 0.0}, {"timeout": -1.0}, {"memory": 0}, {"memory": -5}],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="limit"):
        Limits(**limits)


def test_unless_told_otherwise_a_check_may_take_three_quarters_of_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_free_in_the_machine", lambda: 8_000_000_000)
    monkeypatch.setattr(module, "_free_in_the_group", lambda: None)
    assert spare_memory() == Limits().memory == 6_000_000_000
    assert spare_memory(3) == 2_000_000_000
    monkeypatch.setattr(module, "_free_in_the_group", lambda: 4_000_000_000)
    assert spare_memory() == 3_000_000_000
    monkeypatch.setattr(module, "_free_in_the_group", lambda: 0)
    assert spare_memory() == LEAST_MEMORY
    monkeypatch.setattr(module, "_free_in_the_machine", lambda: None)
    monkeypatch.setattr(module, "_free_in_the_group", lambda: None)
    assert spare_memory() is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is the most there has been")
def test_the_memory_of_the_process_is_measured() -> None:
    before = resident_memory()
    assert 5_000_000 < before < 100_000_000_000
    ballast = bytearray(50_000_000)
    ballast[::1000] = b"x" * len(ballast[::1000])
    assert 45_000_000 < resident_memory() - before < 70_000_000


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1, "1 bytes"), (999, "999 bytes"), (1_000, "1 kB"), (500_000_000, "500 MB"), (1_500_000_000, "1.5 GB"),
        (999_999_999, "1 GB"), (17_344_000_000, "17.3 GB"), (9 * 10**15, "9e+03 TB"),
    ],
)  # fmt: skip
def test_sizes_are_told_in_three_digits(size: int, text: str) -> None:
    assert size_text(size) == text
