"""The nearest violation: as few steps as there are, and none only where that is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.explore import nearest as search
from pgasrob.explore.nearest import choices, choices_of, nearest
from pgasrob.explore.position import follow
from pgasrob.robustness.load import load
from pgasrob.semantics.happens_before import HappensBefore

PROGRAMS = Path(__file__).parents[2] / "programs"
BROKEN = "one_to_one/one_to_one.pgas"
ROBUST = "one_to_one/one_to_one_wait.pgas"


@pytest.mark.parametrize(
    "path", [BROKEN, "mcs_lock/mcs_lock_late_reset.pgas", "c/openshmem/message_passing_no_fence.c"]
)
def test_its_way_leads_to_a_cycle_and_no_earlier(path: str) -> None:
    program = load(PROGRAMS / path)
    instance = program.instantiate()
    start, _ = follow(instance, (), True)
    found = nearest(program, start)
    assert found.way
    way = choices(start, found.way)
    for taken in range(len(way) + 1):
        position, stop = follow(instance, way[:taken], True)
        assert stop is None
        assert (HappensBefore(position.computation).cycle is not None) == (taken == len(way))
        left = nearest(program, position).way
        assert left is not None
        assert len(left) <= len(way) - taken


def test_none_is_proved_where_all_was_seen_from_there() -> None:
    """A violation from the start counts no more once the run has gone past it."""
    program = load(PROGRAMS / BROKEN)
    position, stop = follow(program.instantiate(), ("0.0", "1.0", "s0.0", "s0.0", "s1.0", "s1.0", "0.1"), True)
    assert stop is None
    assert nearest(program, position)[:2] == (None, True)


def test_a_limit_proves_nothing_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_STATES", 5)
    broken, robust = load(PROGRAMS / BROKEN), load(PROGRAMS / ROBUST)
    found = nearest(broken, follow(broken.instantiate(), ("0.0",), True)[0])
    assert (found.way, found.proved, found.robust) == (None, False, False)
    # What the engines know of the whole program is said.
    assert found.elsewhere
    run = choices_of(broken.instantiate(), found.elsewhere)
    position, stop = follow(broken.instantiate(), run, False)
    assert stop is None
    assert HappensBefore(position.computation).cycle
    found = nearest(robust, follow(robust.instantiate(), ("0.0",), True)[0])
    assert (found.way, found.proved, found.robust) == (None, True, True)


def test_what_the_engines_do_not_know_either_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_STATES", 5)
    monkeypatch.setattr(search, "SEARCH_SECONDS", 1e-9)
    robust = load(PROGRAMS / ROBUST)
    assert nearest(robust, follow(robust.instantiate(), (), True)[0])[:2] == (None, False)


def test_gaps_of_a_program_are_no_proof() -> None:
    program = load(PROGRAMS / ROBUST)
    position, _ = follow(program.instantiate(), (), True)
    object.__setattr__(position.instance.program, "gaps", ("a value that is not known",))
    assert nearest(program, position)[:2] == (None, False)
