"""The table of what exists twice: with the kernel searches are native, without it they are references."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import pytest

from pgasrob import twins
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.recording.native_recordings import NativeExact
from pgasrob.recording.simulated import recorded, sc_run

PROGRAM = """
memory x, y; register r; queue q;
process 0 { write(x, 1, y, q); r <- mem[y @ 1]; }
process 1 { mem[y] <- 1; }
"""
MADE: list[tuple[Callable[[Instance], object], str, str]] = [
    (lambda instance: twins.attack_search(instance, ()), "NativeSearch", "AttackSearch"),
    (lambda instance: twins.search_of_sc_runs(instance, (), None), "NativeFacts", "SequentialFacts"),
    (lambda instance: twins.trace_search(instance), "NativeTraceSearch", "TraceSearch"),
    (lambda instance: twins.race_search(instance, False, None, 1), "NativeRaceSearch", "RaceSearch"),
    (
        lambda instance: twins.race_trace_search(instance, False, None),
        "NativeTracesRaceSearch",
        "TracesRaceSearch",
    ),
]
needs_kernel = pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")


@pytest.fixture
def instance() -> Instance:
    return parse(PROGRAM).instantiate(2)


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
    twins.warn_of_a_missing_kernel.cache_clear()


@needs_kernel
@pytest.mark.parametrize(("make", "native", "reference"), MADE)
def test_with_the_kernel_searches_are_native(
    make: Callable[[Instance], object], native: str, reference: str, instance: Instance
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(make(instance)).__name__ == native
    assert twins.missing_kernel() is None and twins.kernel_file() is not None and twins.kernel_format() is not None


@pytest.mark.parametrize(("make", "native", "reference"), MADE)
@pytest.mark.usefixtures("no_kernel")
def test_without_it_they_are_references_and_that_is_said_once(
    make: Callable[[Instance], object], native: str, reference: str, instance: Instance
) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert {type(make(instance)).__name__ for _ in range(2)} == {reference}
    assert [each.category for each in said] == [twins.MissingKernelWarning]
    assert twins.missing_kernel() == twins.MISSING_KERNEL
    assert twins.kernel_file() is None and twins.kernel_format() is None


@pytest.mark.parametrize("kernel", [pytest.param(True, marks=needs_kernel), False])
def test_traces_without_sources_are_searched_by_either(
    kernel: bool, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kernel:
        monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
        monkeypatch.setattr(twins, "warn_of_a_missing_kernel", lambda: None)
    whole = twins.trace_search(instance)
    for _ in whole.run():
        pass
    assert whole.traces == 1
    no_source = [0] * sum(len(automaton.transitions) for automaton in instance.automata)
    assert whole.violation is not None
    without = twins.trace_search(instance, sources=no_source)
    for _ in without.run():
        pass
    assert without.violation is None


@needs_kernel
def test_recordings_are_answered_by_the_kernel_and_short_ones_by_the_reference_too(instance: Instance) -> None:
    answers = twins.recorded_answers(recorded(instance, sc_run(instance, 0, 10)), DEFAULT_READING)
    assert isinstance(answers, NativeExact)
    assert answers.look(races=True, attacks=True)


def test_the_traces_of_executions_leave_idle_rounds_out() -> None:
    instance = parse(
        "memory x; register r; process 0 { r <- 0; while (r == 0) { r <- mem[x]; } } process 1 { mem[x] <- 1; }"
    )
    found = [trace for trace in twins.traces_without_idle_rounds(instance.instantiate(2)).run() if trace is not None]
    assert 1 <= len(found) <= 3
