"""The kernel's answers for a recorded trace are those of `reference.recordings`, and what it shows replays."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pgasrob import twins
from pgasrob.recording.native_recordings import NativeExact
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.recording.oracle import Made
from tests.reference.test_recordings import FENCED, Drawn, drawn
from tests.support import examples

pytestmark = pytest.mark.skipif(not twins.available(), reason="the kernel is not built")


def line(each: Drawn, made: Made) -> int:
    rank, index, _ = made
    return int(each.instance.automata[rank].out[index][0].span.line)


def test_the_kernel_gives_the_same_answers() -> None:
    met: Counter[str] = Counter()
    for each in drawn((*range(10_000, 10_000 + examples(20, nightly=6_000)), *FENCED)):
        asked = NativeExact(each.recording, each.strict)
        assert asked.look(races=True, attacks=True)
        shown = asked.attack()
        assert (shown is not None) == each.cyclic
        if shown is not None:
            replay(shown.instance, shown.run)
            assert HappensBefore(shown.run).cycle
        told = set()
        for race in asked.races():
            sides = frozenset(race.sides)
            assert sides in each.races
            replay(race.shown.instance, race.shown.run)
            told.add(frozenset(line(each, side) for side in sides))
            met["pending"] += any(race.steps)
            met["both pending"] += all(race.steps)
        assert told == {frozenset(line(each, side) for side in sides) for sides in each.races}
        met["cyclic"] += each.cyclic
        met["races"] += bool(told)
    assert min(met.values()) >= 2 and len(met) == 4, met


def test_fences_change_what_the_kernel_answers() -> None:
    for each in drawn(FENCED):
        events = [event for event in each.recording.events if event.command.kind != "fence"]
        races = []
        for recording in (each.recording, replace(each.recording, events=events)):
            asked = NativeExact(recording, each.strict)
            assert asked.look(races=True, attacks=False)
            races.append({frozenset((race.shown.instance.automata[rank].out[index][0].span.line, rank)
                                    for rank, index, _ in race.sides) for race in asked.races()})  # fmt: skip
        assert races[0] < races[1]


def test_what_takes_too_long_is_not_decided() -> None:
    each = next(each for each in drawn(range(10_000, 10_100)) if each.cyclic)
    assert not NativeExact(each.recording, each.strict, limit=0).look(races=True, attacks=True)


def test_the_kernel_looks_at_the_clock() -> None:
    each = next(drawn(range(10_000, 10_020)))
    for seconds, done in ((0.0, False), (-1.0, False), (60.0, True), (None, True)):
        assert NativeExact(each.recording).look(races=True, attacks=True, seconds=seconds) is done
