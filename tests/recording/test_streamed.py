"""The segments that the kernel says have to be looked at are those in which the slow way finds something new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pgasrob import twins
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.recording import recorded_answers
from pgasrob.recording.lowering import Lowering
from pgasrob.recording.memory_places import NotSupported
from pgasrob.recording.native_recordings import NativeExact
from pgasrob.recording.recorded_answers import RecordedTrace, check_trace, trace_races
from pgasrob.robustness.question import Races
from pgasrob.runtime.record.records import TraceError
from tests.recording.damaged_traces import samples
from tests.recording.random_traces import Drawn
from tests.support import examples

pytestmark = pytest.mark.skipif(not twins.reads_traces(), reason="the kernel is not built, or is an older one")
ALL = Reading(DEFAULT_READING.failed_polls, "all")


class Slow:
    """What the segments have, all looked at one by one."""

    def __init__(self, path: str, reading: Reading, attacks: bool, strict: bool) -> None:
        trace = RecordedTrace(path)
        self.fresh, self.attacked, self.segments = set[int](), set[int](), 0
        known = set[frozenset[object]]()
        for number, recording in enumerate(trace.segments()):
            if attacks:
                exact = NativeExact(recording, reading=reading)
                assert exact.look(races=False, attacks=True)
                if exact._kernel.attacks:
                    self.attacked.add(number)
            exact = NativeExact(recording, strict, ALL)
            assert exact.look(races=True, attacks=False)
            for one, other in exact._kernel.races:
                lines = frozenset(exact._turns[side[0]][0].span.line for side in (one, other))
                if lines not in known:
                    self.fresh.add(number)
                known.add(lines)
            self.segments += 1
        self.events, self.illegal = trace.events, trace.illegal_calls


def compared(path: str, met: Counter[str], strict: bool) -> None:
    for attacks, reading in ((True, DEFAULT_READING), (False, ALL)):
        try:
            slow = Slow(path, reading, attacks, strict and not attacks)
        except (NotSupported, TraceError):
            met["refused"] += 1
            trace = RecordedTrace(path)
            assert trace.scan(reading, attacks=attacks) is None
            return
        trace = RecordedTrace(path)
        found = trace.scan(reading, attacks=attacks, strict=strict and not attacks)
        if found is None:
            met["left alone"] += 1
            return
        assert (found.fresh, found.attacked, found.events) == (slow.fresh, slow.attacked, slow.events), path
        assert trace.illegal_calls == slow.illegal
        met["read"] += 1
        met["segments"] += slow.segments
        met["fresh"] += len(slow.fresh)
        met["attacked"] += len(slow.attacked)
        met["clean"] += slow.segments - len(slow.fresh | slow.attacked)
        met["illegal"] += bool(slow.illegal)


def test_random_traces(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    path = tmp_path / "run.pgastrace"
    for seed in range(examples(12, nightly=4_000)):
        drawn = Drawn(seed)
        path.write_bytes(drawn.content)
        met.update(drawn.met)
        compared(str(path), met, strict=seed % 3 == 0)
    if examples(0):
        assert met["read"] >= 5_000, met
        assert min(met[name] for name in (*OCCURS, "left alone")) >= 50, met
    else:
        assert {name: met[name] for name in FOUND} == FOUND, met


ALIKE = 6
"""A seed of a trace in which a rank makes the same call before and after one that changes what it does."""
OCCURS = (
    *("fresh", "attacked", "clean", "illegal", "refused", "changed", "view", "RUN", "LOAD", "STORE", "LOAD_RANGE"),
    *("STORE_RANGE", "UPDATE", "PUT", "GET", "ATOMIC", "FLUSH", "QUIET", "FENCE", "WAIT_UNTIL", "WINDOW_FENCE"),
)
FOUND = {"read": 22, "segments": 150, "fresh": 22, "attacked": 6, "clean": 128}


def answers(path: str) -> list[object]:
    checked = check_trace(path)
    found: list[object] = [checked.verdict, checked.reason, checked.legal, checked.illegal_calls, checked.races]
    found += [checked.witness and checked.witness.run.computation, checked.stats and checked.stats.states]
    for asked in (Races(), Races(every=True)):
        races = trace_races(path, asked)
        found += [races.verdict, races.reason, [(race.lines, race.run.computation) for race in races.races]]
    return found


def test_the_answers_are_those_of_the_slow_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.pgastrace"
    contents = [*samples(), *(Drawn(seed).content for seed in range(100, 100 + examples(1, nightly=500)))]
    for content in contents if examples(0) else contents[::3]:
        path.write_bytes(content)
        found = answers(str(path))
        with monkeypatch.context() as slow:
            slow.setattr(recorded_answers, "scan", lambda *_: None)
            assert answers(str(path)) == found


def test_what_loops_do_to_memory_that_is_theirs_alone_costs_nothing(tmp_path: Path) -> None:
    """A loop with more accesses than there may be states."""
    drawn = Drawn(0, 1)
    drawn.sweep(10_000_000)
    path = tmp_path / "run.pgastrace"
    path.write_bytes(drawn.content)
    found = check_trace(str(path))
    assert found.verdict == "robust" and found.stats is not None and found.stats.states > 10_000_000


def test_calls_that_are_taken_to_be_alike_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody looks at what has been noted of a rank in between."""
    monkeypatch.setattr(Lowering, "noted_of", lambda *_: None)
    path = tmp_path / "run.pgastrace"
    path.write_bytes(Drawn(ALIKE).content)
    with pytest.raises(AssertionError):
        compared(str(path), Counter(), strict=False)


def test_two_fences_that_wait_for_nobody(tmp_path: Path) -> None:
    path = tmp_path / "run.pgastrace"
    path.write_bytes(Drawn(100_127).content)
    assert trace_races(str(path), Races()).verdict == "race"
