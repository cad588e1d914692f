"""Segments are decided one by one, with the answers of the whole; what is in pieces is cut alike on both sides."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pgasrob import twins
from pgasrob.program import commands
from pgasrob.program.declarations import Source
from pgasrob.program.expressions import Const, Register
from pgasrob.recording.events import Recorded
from pgasrob.recording.memory_places import SHIFT, NotSupported
from pgasrob.recording.native_recordings import NativeExact
from pgasrob.recording.recorded_names import Called
from pgasrob.recording.trace_segments import Known, Segment, in_cells, segments
from tests.reference.test_recordings import Drawn, drawn
from tests.support import examples

REGISTER = Register("r", 0)


def lines(each: Drawn, events: list[Recorded], standing: list[Recorded]) -> set[tuple[int, ...]]:
    asked = NativeExact(replace(each.recording, events=events, next_commands=standing), each.strict)
    assert asked.look(races=True, attacks=False)
    return {
        tuple(sorted(race.shown.instance.automata[rank].out[index][0].span.line for rank, index, _ in race.sides))
        for race in asked.races()
    }


@pytest.mark.skipif(not twins.available(), reason="the kernel is not built")
def test_segments_have_the_races_of_the_whole() -> None:
    met: Counter[str] = Counter()
    for each in drawn(range(30_000, 30_000 + examples(30, nightly=4_000))):
        if any(
            event.seen is not None or event.command.kind in ("await", "await_add") for event in each.recording.events
        ):
            continue  # a segment does not know the values from before
        parts = list(segments(each.recording.events, each.recording.nodes))
        assert [event for part in parts for event in part] == list(each.recording.events)
        standing = list(each.recording.next_commands)
        last = len(parts) - 1
        found = [lines(each, part, standing if number == last else []) for number, part in enumerate(parts)]
        if not parts or (parts[-1] and parts[-1][-1].command.kind == "barrier"):
            continue  # what stands behind the last barrier has a segment of its own
        assert set().union(*found) == lines(each, list(each.recording.events), standing)
        met["several"] += len(parts) > 1
        met["races"] += any(found)
    assert min(met["several"], met["races"]) >= 1, met


def at(address: int) -> Const:
    return Const(1 << SHIFT | address)


def cells(*events: Recorded) -> list[commands.Command]:
    known = Known(lambda address, size: Called(str(address), size, "signed"), lambda rank, address, size: 0)
    made = in_cells("p", Source("p.c", ""), Segment(2, 1, events), known)
    return [event.command for event in made.events]


def test_a_transfer_is_cut_where_its_target_is_read() -> None:
    put = Recorded(0, commands.Put(at(0), Const(1), at(100), Const(0)), sizes=(8, 8))
    load = Recorded(1, commands.Load(REGISTER, at(104)), sizes=(4,))
    whole = Recorded(0, commands.Store(at(0), Const(0)), sizes=(8,))
    found = cells(whole, put, load)
    assert [command.kind for command in found] == ["store", "store", "put", "put", "load"]
    second = found[3]
    assert isinstance(second, commands.Put) and isinstance(found[4], commands.Load)
    assert second.remote == found[4].address


def test_an_atomic_in_pieces_is_refused() -> None:
    add = Recorded(0, commands.FetchAdd(REGISTER, Const(1), at(0), Const(1)), sizes=(8,))
    with pytest.raises(NotSupported, match="accessed in other sizes"):
        cells(add, Recorded(1, commands.Load(REGISTER, at(4)), sizes=(4,)))
