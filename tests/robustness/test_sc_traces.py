"""SC runs one of each trace: their facts and what they show, against those of all SC states; programs of many ranks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pgasrob import api
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness import check as module
from pgasrob.robustness import effect_search, sc_facts, sc_traces
from pgasrob.robustness.effect_search import EffectSearch
from pgasrob.robustness.maximal_runs import End, Runs, Viewer
from pgasrob.robustness.sc_traces import ScTraces
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import _Replay, replay
from pgasrob.semantics.sequential import SequentialFacts
from tests.robustness.test_traces_agree import programs
from tests.support import examples

CORPUS = Path(__file__).parents[2] / "programs"
MOST = 2_000


def explored(program: Instance) -> ScTraces:
    traces = ScTraces(program, None)
    for _ in traces.explore():
        pass
    return traces


def compare(program: Instance) -> str:
    """Compare with all SC states; what there was to see."""
    traces, facts, runs = explored(program), SequentialFacts(program), Runs.under_sc(Viewer(program))
    for _ in facts.explore(MOST):
        pass
    if not facts.complete and facts.fault is None:
        return "too large"
    if traces.facts is None:
        assert traces.only() is None
        return "nothing known"
    assert (facts.complete, facts.fault, facts.failed, facts.deadlock) == (True, None, {}, None)
    only = traces.only()
    if only is None:
        return "several"
    found, ends = set(runs.begin()[1]), set()
    for seen in runs.explore():
        if seen is not None:
            (ends if isinstance(seen[1], End) else found).add(seen[1])  # type: ignore[arg-type]
    if runs.undecided:
        return "undecided"
    unused: Any = None
    search = EffectSearch(program, "portfolio", unused, traces)
    search._see_the_only(only)
    assert (search._sights, search._ends) == (found, ends)
    return "one"


def test_facts_and_what_is_seen_are_those_of_all_sc_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sc_traces, "SMALL", 0)
    seen = Counter(map(compare, programs(0, examples(60, 6_000))))
    assert min(seen[each] for each in ("nothing known", "several", "one")) > examples(2, 200), seen


def test_small_programs_are_left_to_searches_that_find_short_runs() -> None:
    program = api.load(CORPUS / "halo" / "halo.pgas")
    assert explored(program.instantiate(2)).facts is None
    assert explored(program.instantiate(40)).facts is not None


@pytest.mark.parametrize(
    ("file", "values"),
    [("halo/halo_no_wait.pgas", ("a", 102, (1,))), ("c/mpi/barrier_halo.c", ("field[3]", 0, (2,)))],
)
def test_what_a_mistake_of_many_ranks_means(file: str, values: tuple[str, int, tuple[int, ...]]) -> None:
    verdict = api.check(CORPUS / file, nodes=100)
    assert (verdict.verdict, verdict.reason, verdict.deadlock) == ("not robust", None, False)
    assert verdict.witness is not None
    assert verdict.effect is not None and verdict.effect.kind == "outcome" and verdict.effect.run is not None
    shown = verdict.effect.values[0]
    assert (shown.name.partition("@")[0], shown.value, shown.in_sc) == values
    for witness in (verdict.witness, verdict.effect.run):
        run = replay(witness.run.instance, witness.run.computation)
        assert run.complete and HappensBefore(run.computation).cycle is not None


def test_runs_of_many_ranks_are_replayed_no_more_often_than_they_have_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The violation around one cycle, it without e and the SC run that this looks like, the only SC run, and the run
    that goes on to an end."""
    replayed: list[int] = []

    def run(self: Any, computation: Any, run: Any = _Replay.run) -> Any:
        replayed.append(len(computation))
        return run(self, computation)

    monkeypatch.setattr(_Replay, "run", run)
    assert api.check(CORPUS / "c" / "mpi" / "barrier_halo.c", nodes=40).verdict == "not robust"
    assert len(replayed) == 5


def test_where_the_answer_is_known_traces_are_looked_at_in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sc_traces, "IN_A_HURRY", 0)
    monkeypatch.setattr(sc_traces, "EFFORT_PER_COMMAND_IN_A_HURRY", 0)
    instance = api.load(CORPUS / "halo" / "halo.pgas").instantiate(400)
    for hurry in (False, True):
        traces = ScTraces(instance, None)
        for _ in traces.explore(hurry):
            pass
        assert (traces.facts is None) == hurry


def test_where_the_answer_is_known_the_states_of_very_many_ranks_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def searched(*_: object) -> NoReturn:
        raise AssertionError("there is no need to")

    text = (Path(__file__).parents[1] / "bench/families/central_barrier.pgas").read_text().replace("wait(q);", "")
    program = parse(text.replace("/*N*/", ""))
    known = api.check(program, nodes=3)
    monkeypatch.setattr(module, "USUAL_PROCESSES", 0)
    monkeypatch.setattr(sc_facts, "search_of_sc_runs", searched)
    hurried = api.check(program, nodes=3)
    assert (known.verdict, known.deadlock) == ("not robust", False)
    assert (hurried.verdict, hurried.deadlock) == ("not robust", "unknown")


def test_where_little_is_looked_at_the_ranks_go_straight_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sc_traces, "SMALL", 0)
    monkeypatch.setattr(effect_search, "MANY_PROCESSES", 1)
    monkeypatch.setattr(effect_search, "MOST_EFFORT_AFTER_WITNESS", 0)
    monkeypatch.setattr(effect_search, "MOST_EFFORT", 0)
    verdict = api.check(CORPUS / "halo" / "halo_no_wait.pgas", nodes=4)
    assert verdict.effect is not None and verdict.effect.kind == "outcome" and verdict.effect.run is not None
    assert verdict.effect.values[0].value not in verdict.effect.values[0].in_sc
