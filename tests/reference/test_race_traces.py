"""The races trace by trace in the kernel: the traces, races and runs of the reference in Python; its effort; the turns
that it takes with the search state by state."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgasrob import twins
from pgasrob.api import race as races
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from pgasrob.races import race_check
from pgasrob.races.native_races import NativeTracesRaceSearch
from pgasrob.races.race_check import SEARCH, TRACES
from pgasrob.races.race_definition import DefinitionSearch
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.reference import race_traces
from pgasrob.reference.race_traces import TracesRaceSearch
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.question import Question, Races, Robustness
from pgasrob.robustness.reasons import RunTooLong, StateLimit, TooManyUpdates
from pgasrob.robustness.session import Session
from tests.races.test_races_agree import campaign, compare, drawn, ended
from tests.support import examples, program

pytestmark = pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")

PROGRAMS = Path(__file__).parents[2] / "programs"


def seen_by_both(seeds: Iterable[int]) -> Counter[str]:
    """Compare the kernel with the reference on the programs of ``seeds``; what there was to see."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        _, instance, strict = drawn(seed)
        reference, kernel = TracesRaceSearch(instance, strict), NativeTracesRaceSearch(instance, strict)
        if not ended(reference, 2_000):
            continue
        assert ended(kernel, 2_000), seed
        assert (reference.fault is None) == (kernel.fault is None), seed
        if reference.fault is not None:
            seen["faults"] += 1
            continue
        assert (reference.states, reference.doing) == (kernel.states, kernel.doing), seed
        assert list(reference.races.items()) == list(kernel.races.items()), seed
        assert reference.needs_robust == kernel.needs_robust, seed
        few = NativeTracesRaceSearch(instance, strict, all_=False)
        assert ended(few) and list(few.races) == list(kernel.races)[: len(few.races)], seed
        assert bool(few.races) == bool(kernel.races), seed
        seen.update(
            programs=1,
            events=kernel.transitions,
            traces=kernel.traces,
            races=len(kernel.races),
            harmless=kernel.needs_robust,
        )
    return seen


def test_the_kernel_has_the_traces_and_races_of_the_reference() -> None:
    expected = {"programs": 111, "events": 3_092, "traces": 557, "races": 221, "harmless": 30, "faults": 4}
    assert seen_by_both(range(120)) == expected


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(8))
def test_the_kernel_has_them_on_many_programs(part: int) -> None:
    assert seen_by_both(range(100_000 + 2_500 * part, 102_500 + 2_500 * part))["races"] > 3_000


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(50_000, 60_000), marks=pytest.mark.nightly)])
def test_it_agrees_with_the_definition(seeds: Iterable[int]) -> None:
    def searched(instance: Instance, strict: bool, _: Collection[str]) -> NativeTracesRaceSearch:
        return NativeTracesRaceSearch(instance, strict)

    seen = campaign(seeds, searched)
    assert min(seen["race, not robust"], seen["race, robust"], seen["no race, robust"]) > 2


@pytest.mark.parametrize(
    ("name", "nodes", "events", "effort", "found"),
    [
        ("halo/halo.pgas", 64, 1_156, 4_104, 0),
        ("halo/halo.pgas", 512, 9_220, 32_776, 0),  # 64 for each rank
        ("halo/halo_no_wait.pgas", 512, 3_073, 8_226, 4),
        ("ring/ring_shift_two_buffers.pgas", 512, 10_755, 30_726, 0),
        ("c/openshmem/ring_halo_sync.c", 64, 1_797, 4_433, 2),
        ("c/openshmem/stencil_2d.c", 4, 80_925, 277_145, 0),
    ],
)
def test_the_effort_for_one_trace_is_about_linear(name: str, nodes: int, events: int, effort: int, found: int) -> None:
    read = load(PROGRAMS / name)
    on = read.instantiate(nodes) if isinstance(read, Program) else read.program(nodes).instantiate(nodes)
    search = NativeTracesRaceSearch(on)
    assert ended(search, 10**6)
    assert (search.traces, search.transitions, search.effort, len(search.races)) == (1, events, effort, found)


@pytest.mark.parametrize("operation", ["put(x, 1, y, q);", "put(x, 1, y, u);"])
def test_steps_that_stop_all_that_comes_after_them_take_no_longer(operation: str) -> None:
    """Of one pair of places one race is enough."""
    loop = f"while (r < 1000) {{ {operation} r <- r + 1; }}"
    search = NativeTracesRaceSearch(
        program(loop, "", declarations="memory x, y; register r; queue q; queue u unordered;").instantiate()
    )
    assert ended(search, 10**5)
    assert search.effort < 4 * search.transitions and len(search.races) == (", u)" in operation)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("write(x, 0, y, q); write(w, 0, y, q); r <- mem[y];", {(1, 3), (2, 3)}),
        ("bundle; write(x, 0, y, q); signal(add, 1, 0, y, q); r <- mem[y];", {(2, 4), (3, 4)}),
        ("write(x, 0, y, q); write(w, 0, y, q); wait(q); r <- mem[y];", set()),
    ],
)
def test_what_stops_behind_the_source_does_not_meet_it(body: str, found: set[tuple[int, int]]) -> None:
    """Two operations of a queue are under way together: what comes next races with both."""
    text = body.replace("; ", ";\n")
    declarations = "memory x, y, w; register r; queue q; queue u unordered;"
    on = program(text, "", declarations=declarations).instantiate(reading=Reading(conflicts="all"))
    for search in (TracesRaceSearch(on), NativeTracesRaceSearch(on), DefinitionSearch(on)):
        assert ended(search)
        assert {(one.line, other.line) for one, other in search.races} == found, type(search)


def test_a_robust_program_in_which_two_operations_are_under_way() -> None:
    seen = compare(55_404, lambda instance, strict, _: NativeTracesRaceSearch(instance, strict))
    assert seen["race, robust"] == 1


def test_a_source_that_comes_again_behind_a_fence_is_another_one() -> None:
    """Of the write in line 2, the first one has the last write behind it, too: it alone races with the load."""
    text = """while (r < 2) {
        write(x, 0, y, u);
        if (r == 0) { fence(u); }
        if (r == 1) { write(x, 0, y, u); }
        r <- r + 1; }
        s <- mem[y];"""
    on = program(text, declarations="memory x, y; register r, s; queue u unordered;").instantiate()
    for search in (TracesRaceSearch(on), NativeTracesRaceSearch(on)):
        assert ended(search)
        assert {(one.line, other.line) for one, other in search.races} == {(2, 4), (2, 6), (4, 6)}


REPEATED = (
    *("write(x, 0, y, q);", "write(w, 0, y, q);", "write(w, r % 2, y, q);", "signal(add, 1, 0, y, q);") * 2,
    *("write(x, 0, y, u);", "fence(u);") * 3,
    *("fence(q);", "bundle;", "read(w, 0, y, u);", "s <- mem[y];"),
)


def test_a_source_that_comes_again_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not the program is robust."""
    again, repeats = list[bool](), race_traces.Stopping._repeats

    def note_and_go_on(*of: Any) -> bool:
        again.append(repeats(*of))
        return False

    for seed in range(examples(25, nightly=4_000)):
        source = random.Random(seed)
        drawn_body = [
            (source.choice(REPEATED), source.choice(("", "", "r == 0", "r == 1"))) for _ in range(source.randint(1, 4))
        ]
        body = " ".join(f"if ({when}) {{ {each} }}" if when else each for each, when in drawn_body)
        text = f"while (r < {source.randint(2, 3)}) {{ {body} r <- r + 1; }} s <- mem[y];"
        declarations = "memory x, y, w; register r, s; queue q; queue u unordered;"
        on = program(text, declarations=declarations, nodes=source.randint(1, 2)).instantiate()
        short, whole = TracesRaceSearch(on), TracesRaceSearch(on)
        if not ended(short, 1_500):
            continue
        with monkeypatch.context() as patch:
            patch.setattr(race_traces.Stopping, "_repeats", note_and_go_on)
            assert ended(whole, 10**6)
        assert set(short.races) == set(whole.races), text
    assert sum(again) > 10


def test_a_signal_goes_without_a_put_before_its_bundle() -> None:
    early = "put(x, 1, y, u); bundle; put(x, 1, w, u); signal(set, 1, 1, z, u);"
    for block, found in ((early, 1), (early.replace("bundle; ", ""), 0)):
        search = NativeTracesRaceSearch(
            program(
                block,
                "await(mem[z] == 1); r <- mem[y];",
                declarations="memory x, y, z, w; register r; queue u unordered;",
            ).instantiate()
        )
        assert ended(search) and len(search.races) == found


def test_limits() -> None:
    endless = NativeTracesRaceSearch(program("loop { r <- 1 - r; }", "").instantiate(), longest=3_000)
    assert not ended(endless, 10**5) and isinstance(endless.gave_up, RunTooLong)
    halo = load(PROGRAMS / "halo" / "halo.pgas").instantiate(64)
    with pytest.raises(MemoryError):
        ended(NativeTracesRaceSearch(halo, memory_limit=50_000))


def told(found: RaceVerdict) -> tuple[str, set[tuple[int, int]], bool]:
    if found.verdict == "error":  # whatever has been found before the fault
        return found.verdict, set(), False
    return found.verdict, {race.lines for race in found.races}, found.reason is None


def test_the_answer_is_the_same_whoever_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()
    limits = Limits(max_states=20_000, max_sc_states=300)
    for seed in range(40):
        _, on, strict = drawn(seed)
        question = Question(on.program, on.nodes, Races(strict, every=True), on.reading, limits=limits)
        found = []
        for order in ((SEARCH,), (TRACES, SEARCH), race_check.ORDER):
            with monkeypatch.context() as patch:
                patch.setattr(race_check, "ORDER", order)
                found.append(told(race_check.races(Session(question, instance=on))))
        assert found[0] == found[1] == found[2], seed
        seen[f"{found[0][0]}, {'whole' if found[0][2] else 'in part'}"] += 1
    assert seen["race, whole"] > 15 and seen["no race, whole"] > 5, seen


def test_a_search_that_has_found_a_race_goes_on_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[str] = Counter()
    search = race_check.race_search
    monkeypatch.setattr(race_check, "race_search", lambda *of: made.update(searches=1) or search(*of))
    seen: Counter[int] = Counter()
    for seed in range(60):
        _, on, _ = drawn(seed)
        question = Question(on.program, on.nodes, Races(), on.reading)
        decision, made["searches"] = race_check.RaceDecision(Session(question, instance=on)), 0
        if decision.verdict().verdict != "race":
            continue
        known = check(Session(replace(question, asked=Robustness(effect=False)), instance=on))
        if known.verdict != "robust":
            continue
        found = decision.all_races(known)
        assert made["searches"] == 1
        every = race_check.races(Session(replace(question, asked=Races(every=True)), instance=on), known)
        assert told(found) == told(every), seed
        seen[len(found.races)] += 1
    assert seen[1] > 2 and sum(seen.values()) - seen[1] > 2, seen


def test_states_behind_a_violation_are_searched_whoever_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """That rank 1 reads 0 and then 1 is not sequentially consistent; the state search goes on past the write that has
    stopped, and the traces do not."""
    stale = program(
        "write(x, 1, y, u);\ns <- mem[z]; if (s == 0) {\nmem[w @ 1] <- 1; }",
        "mem[z @ 0] <- 1;\nr <- mem[y];\ns <- mem[w]; if (r == 0) { if (s == 1) {\nmem[y] <- 2; } }",
        declarations="memory x = 1, y, z, w; register r, s; queue u unordered;",
    )
    limits = Limits(max_sc_states=1)
    by_traces = races(stale, all_=True, engine=TRACES, limits=limits)
    assert len(by_traces.races) == 3
    monkeypatch.setattr(race_check, "ORDER", (TRACES, SEARCH))
    found = races(stale, all_=True, limits=limits)
    assert found.robustness is not None and found.robustness.verdict == "not robust"
    assert len(found.races) == 4


@pytest.mark.parametrize("reason", [TooManyUpdates(), None])
def test_who_gives_up_leaves_it_to_the_other(monkeypatch: pytest.MonkeyPatch, reason: TooManyUpdates | None) -> None:
    class Given(TracesRaceSearch):
        """Has given up before it begins, or has as many states as are allowed."""

        def run(self):  # type: ignore[no-untyped-def]
            self.gave_up = reason
            while reason is None:
                yield

        @property
        def states(self) -> int:
            return 10**9

    monkeypatch.setattr(race_check, "race_trace_search", lambda instance, strict, *_: Given(instance, strict))
    monkeypatch.setattr(race_check, "ORDER", (TRACES, SEARCH))
    quiet = program("put(x, 1, y, q); wait(q); barrier;", "barrier; r <- mem[y];")
    verdict = races(quiet)
    assert (verdict.verdict, verdict.reason) == ("no race", None)
    alone = races(quiet, engine=TRACES)
    assert alone.verdict == "unknown"
    assert alone.reason == reason if reason else isinstance(alone.reason, StateLimit)
