"""Loops of random C programs that are kept do what their iterations do when they are written out (`looping_c`)."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob import Limits, SourceError, check
from pgasrob.frontends.c import driver, merge_points
from pgasrob.frontends.c.facts import Facts, KeepsLoops
from pgasrob.frontends.c.moved import Folding
from pgasrob.frontends.lower import parse_c
from tests.frontends.looping_c import drawn
from tests.support import examples

LIMITS = Limits(max_states=60_000, timeout=60, memory=500_000_000)
WRITTEN_OUT = 1_000_000_000, 8
KEPT = (2, 1), (3, 1), (4, 2)
"""From so many commands on loops are kept, when something takes more than so many values."""
BATCHES = 4
Facet = str | bool | None


def found(text: str, bounds: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[Facet, ...], bool]:
    """Verdict, assertions and deadlock, and whether a loop has been kept. What is refused has no meaning: an error."""
    monkeypatch.setattr(merge_points, "LONG_CODE", bounds[0])
    monkeypatch.setattr(merge_points, "FEW_VALUES", bounds[1])
    learned: list[Facts] = []

    def noted(keeps_loops: KeepsLoops, folding: Folding, units: int) -> Facts:
        learned.append(Facts(keeps_loops, folding, units))
        return learned[-1]

    monkeypatch.setattr(driver, "Facts", noted)
    try:
        verdict = check(parse_c(text).program(2), limits=LIMITS, threads=1)
    except SourceError:
        return ("error",), any(each.loops_kept for each in learned)
    if verdict.verdict == "error":
        return ("error",), any(each.loops_kept for each in learned)
    # An assertion that is known to hold is not in the program any more.
    return (verdict.verdict, verdict.assertions or "hold", verdict.deadlock), any(each.loops_kept for each in learned)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_loops_that_are_kept_say_the_same(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    kept_loops, programs = 0, range(batch, examples(36, 2_000), BATCHES)
    for seed in programs:
        text, bounds = drawn(Random(seed)), KEPT[seed % len(KEPT)]
        written_out, _ = found(text, WRITTEN_OUT, monkeypatch)
        kept, keeps = found(text, bounds, monkeypatch)
        kept_loops += keeps
        if "unknown" not in (*written_out, *kept):
            assert kept == written_out, f"seed {seed}, {bounds}\n{text}"
    assert kept_loops > len(programs) // 3
