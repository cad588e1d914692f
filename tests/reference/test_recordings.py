"""The answers for a recorded trace are those of the definition of the runs that it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.recording.events import Recording
from pgasrob.recording.simulated import recorded, sc_run
from pgasrob.recording.straight import straight_line, trace_of
from pgasrob.reference import recordings as exact
from pgasrob.reference.delaying import Delaying
from pgasrob.reference.recordings import Exact
from pgasrob.robustness.moves import Rerun, in_two_parts
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.mazurkiewicz_trace import Trace
from pgasrob.semantics.replay import replay
from tests.oracle import polls_and_updates, strategies
from tests.oracle.syntax import to_pgas
from tests.recording.oracle import Made, TooLarge, answers, key_of
from tests.robustness.test_engines_agree import CHOICES, FURTHER_CHOICES
from tests.support import examples

MOST_STATES, MOST_COMMANDS = 2_000, 12
FENCED = (1337, 1728, 1556, 245)
"""Seeds of recordings in which a fence keeps accesses from racing: 19 of the 841 with a fence among the first 4,000."""


class Drawn(NamedTuple):
    """A random recording as a program, with its trace and what the oracle says."""

    recording: Recording
    instance: Instance
    trace: Trace
    strict: bool
    cyclic: bool
    races: set[frozenset[Made]]


def drawn(seeds: Iterable[int], oracle: bool = True) -> Iterator[Drawn]:
    """Recordings of random programs; without the ``oracle`` nobody is asked about them."""
    choices = (*CHOICES, *FURTHER_CHOICES)
    for seed in seeds:
        program = (
            polls_and_updates.random_program(seed)
            if seed % 2
            else strategies.random_program(seed, commands=choices[seed // 2 % len(choices)])
        )
        instance = parse(to_pgas(program)).instantiate(program.nodes or 2)
        recording = recorded(instance, sc_run(instance, seed, MOST_COMMANDS))
        line = straight_line(recording)
        trace = trace_of(line, recording)
        strict = seed // 2 % 2 == 1
        try:
            cyclic, races = answers(line, trace, strict, MOST_STATES) if oracle else (False, set())
        except TooLarge:
            continue
        yield Drawn(recording, line, trace, strict, cyclic, races)


def differs(each: Drawn) -> bool:
    """Whether the exact answers are others than the oracle's."""
    asked = Exact(each.instance, each.trace, each.strict)
    races = {frozenset((key_of(race.one), key_of(race.other))) for race in asked.races()}
    return (asked.attack() is not None) != each.cyclic or races != each.races


@pytest.fixture(scope="module")
def sample() -> list[Drawn]:
    return list(drawn((*range(examples(30, nightly=6_000)), *FENCED)))


def test_the_answers_are_those_of_the_definition(sample: list[Drawn]) -> None:
    met: Counter[str] = Counter()
    for each in sample:
        assert not differs(each), [(event.rank, event.command) for event in each.recording.events]
        met["cyclic"] += each.cyclic
        met["races"] += bool(each.races)
        met["neither"] += not (each.cyclic or each.races)
        met["strict"] += each.strict
        for kind in {event.command.kind for event in each.recording.events}:
            met[kind] += 1
        met["polls"] += any(event.seen is not None for event in each.recording.events)
    assert min(met[kind] for kind in ("cyclic", "races", "neither", "strict", "polls")) >= len(sample) // 15, met
    for kind in ("load", "store", "read", "write", "put", "update", "update_from", "notify", "signal", "bundle", "wait",
                 "wait_local", "fence", "await", "barrier", "fetch_add"):  # fmt: skip
        assert met[kind], (kind, met)


def test_runs_replay(sample: list[Drawn]) -> None:
    """The run of an attack has a cycle; that of a race is a run after which nothing but the two need be next."""
    attacks = races = 0
    for each in sample:
        asked = Exact(each.instance, each.trace, each.strict)
        moves = asked.attack()
        if moves is not None:
            computation, _ = in_two_parts(Rerun(each.instance).words(moves))
            replay(each.instance, computation)
            assert HappensBefore(computation).cycle
            attacks += 1
        for race in asked.races():
            replay(each.instance, race.run(each.instance))
            races += 1
    assert attacks >= len(sample) // 10 and races >= len(sample)


BROKEN: dict[str, tuple[object, str, object]] = {
    "no slot bounds a step": (exact, "bounding", lambda *_: ()),
    "fences order nothing": (exact, "is_fenced", lambda *_: False),
    "waits are for nothing": (exact, "waited_for", lambda _: None),
    "a step delays nothing": (Delaying, "placement", lambda self, rank, events: ()),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_code_is_found(name: str, sample: list[Drawn], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BROKEN[name])
    assert any(map(differs, sample))
