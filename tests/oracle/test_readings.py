"""The oracle's own tests of both readings: failed polls, updates that commute."""

from __future__ import annotations

from collections import Counter

import pytest

from . import polling
from .definition import decide
from .litmus import COMMUTING, EXTENDED, LITMUS, POLLS, WAITS
from .polls_and_updates import random_program
from .readings import READINGS, Reading
from .removal import is_robust
from .replay import check_witness
from .syntax import Program
from .test_oracle import seeds


def has_verdict(program: Program, reading: Reading, expected: str) -> None:
    result = decide(program, reading=reading)
    assert (result.verdict, result.fault, result.cut) == (expected, False, False)
    plain = decide(program, memo=False, max_runs=800, max_steps=12, reading=reading)
    assert plain.violating in (result.violating, None)
    for each in (result, plain):
        if each.witness:
            check_witness(program, None, each.witness["computation"], each.witness["cycle"], reading=reading)


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("name", POLLS)
def test_polls(name: str, reading: Reading) -> None:
    has_verdict(POLLS[name][0], reading, POLLS[name][1 if reading.failed_polls == "wait" else 2])


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("name", COMMUTING)
def test_updates(name: str, reading: Reading) -> None:
    has_verdict(COMMUTING[name][0], reading, COMMUTING[name][1 if reading.conflicts == "commuting" else 2])


@pytest.mark.parametrize("waits", ["condition", "value"])
@pytest.mark.parametrize("name", WAITS)
def test_waits(name: str, waits: str) -> None:
    has_verdict(WAITS[name][0], Reading(waits=waits), WAITS[name][1 if waits == "condition" else 2])


BY_CONDITION_ALONE = {"await instead": "robust"}
"""Programs that are robust if an await is read by condition: what comes later leaves it true."""


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_other_programs_have_one_verdict(reading: Reading) -> None:
    others = BY_CONDITION_ALONE if reading.waits == "condition" else {}
    for name, (program, expected) in (LITMUS | EXTENDED).items():
        if expected != "unknown":
            assert decide(program, reading=reading).verdict == others.get(name, expected), name


@pytest.fixture
def none_gathers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rank does between flags that it gathers is put off as a whole, and no iteration that is taken out."""
    monkeypatch.setattr(polling, "Gathers", lambda *_: None)


@pytest.mark.parametrize("name", POLLS)
def test_taking_failed_iterations_out_says_the_same(name: str, none_gathers: None) -> None:
    """Loops have longer and longer runs, so that robust programs with loops are robust as far as was looked."""
    found = is_robust(POLLS[name][0], most=20_000, steps=12)
    assert (found is False) == (POLLS[name][1] == "not robust")


# Random programs


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
def test_memo_and_no_memo_agree() -> None:
    tried = seeds(20, nightly=500)
    decided = 0
    for seed in tried:
        program = random_program(seed, hard=True)
        for reading in READINGS:
            memo = decide(program, reading=reading, max_runs=800, max_steps=40)
            plain = decide(program, memo=False, reading=reading, max_runs=300, max_steps=12)
            assert memo.violating == plain.violating or None in (memo.violating, plain.violating), (seed, reading)
            for result in (memo, plain):
                if result.witness:
                    computation, cycle = result.witness["computation"], result.witness["cycle"]
                    check_witness(program, None, computation, cycle, reading=reading)
            decided += plain.violating is not None
    assert decided >= len(tried)


def test_taking_failed_iterations_out_of_random_programs_says_the_same(none_gathers: None) -> None:
    """Neither contradicts the other; where nothing goes round, both know."""
    known: Counter[bool] = Counter()
    for seed in seeds(50, nightly=1_000):
        program = random_program(seed, "polls", hard=True)
        found = is_robust(program, most=800, steps=14)
        result = decide(program, max_runs=800, max_steps=40, reading=Reading(waits="value"))
        assert found is None or result.violating is None or found is not result.violating, seed
        known[found] += result.failed_read
    assert known[True] >= 2 and known[False] >= 3


def test_fewer_events_and_fewer_conflicts_make_fewer_violations() -> None:
    """What one reading calls a violation every other one with more events, or more conflicts, calls one too; and the
    programs are such that it often makes a difference."""
    seen: Counter[str] = Counter()
    for seed in range(50):
        program = random_program(seed)
        found = {}
        for reading in READINGS:
            result = decide(program, reading=reading, max_runs=400, max_steps=40)
            found[reading.failed_polls, reading.conflicts] = result.violating
            seen["failed reads"] += result.failed_read and reading.conflicts == "all"
            seen["updates met"] += result.commuting_met and reading.failed_polls == "wait"
            assert not result.cut
        if None in found.values():
            seen["unknown"] += 1
            continue
        believed, updates, polls, literal = (
            found[name] for name in (("wait", "commuting"), ("wait", "all"), ("count", "commuting"), ("count", "all"))
        )
        assert believed <= updates <= literal and believed <= polls <= literal, seed
        seen["robust"] += not literal
        seen["not robust"] += believed
        seen["with failed polls alone"] += polls > believed
        seen["with all conflicts alone"] += updates > believed
    assert seen["unknown"] <= 10
    assert seen["failed reads"] >= 20 and seen["updates met"] >= 5
    assert seen["with failed polls alone"] >= 4 and seen["with all conflicts alone"] >= 1
    assert seen["robust"] >= 12 and seen["not robust"] >= 12
