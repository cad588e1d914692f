"""The portfolio: what settles what, in which order, and what limits leave."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgasrob import twins
from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness import portfolio, turns
from pgasrob.robustness.engine import Settings
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.portfolio import PortfolioSearch
from pgasrob.robustness.reasons import ScRunsLeft, StateLimit
from tests.bench.families import ONE_TRACE
from tests.support import program

PROGRAMS = Path(__file__).parents[2] / "programs"

ENDLESS_PUTS = "loop { write(x, (me + 1) % nodes, y, q); }"
"""A run has no end, and no step can be the source."""
ENDLESS_LOOKS = "loop { r <- mem[y]; write(x, (me + 1) % nodes, y, q); s <- mem[z]; write(x, (me + 1) % nodes, z, q); }"
"""Here steps can, and no trace has an end."""
TOKEN_RING, HALO = (load(PROGRAMS / name) for name in ("ring/token_ring.pgas", "halo/halo.pgas"))
"""Robust: infeasibility does not see that the first is."""


def settled(source: Program, nodes: int = 2) -> tuple[str, str]:
    verdict = check(source, nodes)
    return verdict.verdict, verdict.stats.settled_by


@pytest.fixture(params=["in Rust", "in Python"], autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in Python":
        monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
        monkeypatch.setattr(twins, "warn_of_a_missing_kernel", lambda: None)
    elif not twins.available():
        pytest.skip("needs the kernel")


def test_what_settles_what() -> None:
    assert settled(HALO) == ("robust", "infeasibility")
    assert settled(TOKEN_RING) == ("robust", "traces")
    assert settled(load(PROGRAMS / "halo/halo_no_wait.pgas")) == ("not robust", "traces")
    assert settled(program(ENDLESS_PUTS)) == ("robust", "infeasibility")
    assert settled(program(ENDLESS_LOOKS)) == ("not robust", "attack")


@pytest.mark.parametrize("last", ["traces", "attack"])
def test_turns_go_on_where_they_stopped(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either settles it where the other is slow, with budgets of next to nothing at first."""
    monkeypatch.setattr("pgasrob.robustness.native_traces.PIECE", 1)
    monkeypatch.setattr("pgasrob.robustness.native_attack.PIECE", 1)
    monkeypatch.setattr("pgasrob.reference.attack_search.PIECE", 1)
    for module in (turns, portfolio):
        monkeypatch.setattr(module, "FIRST", 1)
    slow = 1e9 if last == "traces" else 1e-9
    monkeypatch.setattr(portfolio, "EFFORT_PER_RANK", slow)
    monkeypatch.setattr(portfolio, "EVENTS_PER_STATE", slow)
    assert settled(TOKEN_RING, 3) == ("robust", last)


def test_large_programs_get_more_in_their_first_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """And only there: what their size gives them does not make up for turns that give nothing more."""
    monkeypatch.setattr("pgasrob.robustness.native_traces.PIECE", 1)
    monkeypatch.setattr(portfolio, "SMALL", 0)
    monkeypatch.setattr(portfolio, "EFFORT_PER_RANK", 1e-9)
    monkeypatch.setattr(portfolio, "COMMANDS_PER_EFFORT", 1e9)
    assert settled(TOKEN_RING, 3) == ("robust", "traces")
    monkeypatch.setattr(portfolio, "EFFORT_PER_COMMAND", 1)
    assert settled(TOKEN_RING, 3) == ("robust", "attack")


def test_a_limit_is_not_passed_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in ("robustness.native_traces", "robustness.native_attack", "reference.attack_search"):
        monkeypatch.setattr(f"pgasrob.{engine}.PIECE", 1)
    verdict = check(TOKEN_RING, 3, limits=Limits(10))
    assert (verdict.verdict, verdict.reason, verdict.stats.settled_by) == ("unknown", StateLimit(10), "")
    verdict = check(HALO, 3, limits=Limits(10))
    assert (verdict.verdict, verdict.reason) == ("robust", ScRunsLeft(StateLimit(10)))


@pytest.mark.parametrize("family", ONE_TRACE, ids=lambda family: family.__name__)
def test_what_is_synchronised_has_one_trace_at_any_size(family: Callable[[int], str]) -> None:
    """So the events are as many as the commands that are issued, and nothing is followed in vain."""
    sizes = (2, 4, 16) if twins.available() else (2, 4)
    for nodes in sizes:
        search = PortfolioSearch(parse(family(nodes)).instantiate(nodes), Settings())
        for _ in (*search.run(), *search.learn(None)):
            pass
        assert search.violation is None and search.gave_up is None
        traces = search.searches["traces"]
        assert isinstance(traces, TraceSearch | NativeTraceSearch)
        assert (traces.traces, traces.exploration.redundant, traces.violation) == (1, 0, None)


def test_facts_have_short_runs() -> None:
    """The trace that shows it is a whole one; what is told ends at the assertion."""
    blocks = "r <- mem[y]; assert(r == 0); r <- mem[w]; r <- mem[w];", "mem[z] <- 1; r <- swap(0, y, 1); mem[z] <- 2;"
    verdict = check(program(*blocks), 2)
    assert verdict.assertions == "violated" and verdict.assertion_run is not None
    assert [event.kind for event in verdict.assertion_run.run.computation] == ["store", "swap", "load", "assert"]


def test_a_fault_is_an_error_whatever_finds_it() -> None:
    verdict = check(program("r <- mem[y]; s <- 1 / (1 - r);", "r <- swap(0, y, 1); write(x, 0, z, q);"), 2)
    assert verdict.verdict == "error" and verdict.witness is not None
    assert [event.kind for event in verdict.witness.run.computation] == ["swap", "load"]
