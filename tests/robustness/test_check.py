"""From a program to a verdict: limits, SC facts, errors, interruption, and engines that are wrong."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import pgasrob
from pgasrob import twins
from pgasrob.api import check
from pgasrob.cli import cli
from pgasrob.diagnostics import SourceError
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.robustness import check as module
from pgasrob.robustness import session, watch
from pgasrob.robustness.engine import InOnePart, Violation, WithoutFacts
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.reasons import (
    FaultPossible,
    FaultReached,
    InternalError,
    Interruption,
    MemoryLimit,
    NoProgram,
    OutOfMemory,
    PendingBound,
    Reason,
    ScRunsLeft,
    ScStateLimit,
    StateLimit,
    TimeLimit,
)
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.robustness.session import Interrupted
from pgasrob.robustness.verdict import Verdict
from pgasrob.robustness.watch import Progress
from pgasrob.semantics.computation import Event
from pgasrob.semantics.happens_before import HappensBefore
from tests.support import ONE_TO_ONE, program, spelled

NOT_ROBUST = program(ONE_TO_ONE.format(""), nodes=2)
ROBUST = program(ONE_TO_ONE.format("wait(q);"), nodes=2)


FEW = Limits(max_sc_states=3)
OURS = ["attack", "definition", "product"]
"""The engines that need nothing else to be installed."""


class Fake(WithoutFacts, InOnePart):
    """An engine that claims what it is told."""

    states = transitions = 7
    doing = "faking"
    gave_up: Reason | None = None

    def __init__(self, violation: Violation | None = None, error: BaseException | None = None) -> None:
        self.claim, self.error = violation, error
        self.violation: Violation | None = None

    def run(self) -> Iterator[None]:
        yield
        if self.error is not None:
            raise self.error
        self.violation = self.claim


def with_engine(monkeypatch: pytest.MonkeyPatch, engine: Fake) -> None:
    monkeypatch.setitem(ENGINES, "fake", lambda instance, settings: engine)


# Verdicts


@pytest.mark.parametrize("engine", OURS)
def test_a_robust_program(engine: str) -> None:
    verdict = check(ROBUST, engine=engine)
    assert (verdict.verdict, verdict.reason, verdict.witness, verdict.nodes) == ("robust", None, None, 2)
    assert (verdict.engine, verdict.errors) == (engine, ())


@pytest.mark.parametrize("engine", OURS)
def test_a_program_that_is_not_robust_comes_with_a_replayed_run_and_its_cycle(engine: str) -> None:
    verdict = check(NOT_ROBUST, engine=engine)
    assert (verdict.verdict, verdict.reason) == ("not robust", None)
    assert verdict.witness is not None and verdict.witness.shows == "violation"
    assert verdict.witness.run.complete
    assert verdict.witness.cycle == HappensBefore(verdict.witness.run.computation).cycle is not None
    assert (verdict.witness.cycle_type is None) == (engine != "product")


def test_four_heads_on_request() -> None:
    two, four = (check(NOT_ROBUST, engine="product", heads=heads) for heads in (2, 4))
    assert two.verdict == four.verdict == "not robust"
    assert two.stats.states < four.stats.states


def test_the_node_count_is_the_argument_or_the_program_s_or_two() -> None:
    assert check(NOT_ROBUST, nodes=3).nodes == 3
    assert check(NOT_ROBUST).nodes == 2
    assert check(replace(NOT_ROBUST, nodes=3)).nodes == 3
    assert check(replace(NOT_ROBUST, nodes=None)).nodes == 2


def test_the_stats_count_engine_and_sc_states() -> None:
    stats = check(ROBUST, engine="definition").stats
    assert (stats.states, stats.transitions, stats.sequential_states) == (29, 45, 13)
    assert stats.seconds > 0


def test_an_engine_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no engine 'magic'; there is portfolio, attack, product, definition"):
        check(ROBUST, engine="magic")


# Errors


def test_a_rank_without_a_process_is_an_error() -> None:
    verdict = check(program("skip;", "skip;"), nodes=3)
    assert (verdict.verdict, verdict.nodes) == ("error", 3)
    assert [error.code for error in verdict.errors] == ["PG030"]
    assert verdict.reason == NoProgram(verdict.errors[0].message)


@pytest.mark.parametrize("nodes", [-1, 0, 4097])
def test_a_node_count_out_of_bounds_is_an_error(nodes: int) -> None:
    verdict = check(ROBUST, nodes=nodes)
    assert verdict.verdict == "error" and verdict.errors[0].code == ("PG031" if nodes < 1 else "PG039")


def test_a_fault_is_an_error_with_its_run() -> None:
    text = "memory x; register r, s;\nprocess { r <- 3;\n  s <- 1 / (r - 3); }"
    verdict = check(parse(text, "there.pgas"), nodes=1)
    assert verdict.verdict == "error" and verdict.errors == ()
    assert verdict.reason == FaultReached(0, "s <- 1 / (r - 3)", "division by zero: 1 / 0")
    assert str(verdict.reason) == "rank 0 faults at s <- 1 / (r - 3): division by zero: 1 / 0"
    assert verdict.witness is not None and verdict.witness.shows == "fault"
    assert spelled(verdict.witness.run.computation) == "assign0"
    fault = verdict.witness.fault
    assert fault is not None
    assert (fault.rank, fault.line, fault.column, fault.registers) == (0, 3, 3, {"r": 3, "s": 0})


@pytest.mark.parametrize("engine", OURS)
def test_a_fault_near_the_start_is_met_before_a_violation(engine: str) -> None:
    """The same with every engine, also with those that look for both at once."""
    verdict = check(program("write(x, 0, y, q); r <- mem[y]; r <- 1 / s;"), engine=engine)
    assert verdict.verdict == "error"


@pytest.mark.parametrize("engine", OURS)
def test_a_fault_far_away_ends_the_search(engine: str) -> None:
    text = "loop { mem[x] <- r; r <- r + 1; s <- 1 / (r - 3000); if (r < 0) { write(x, 0, y, q); s <- mem[y]; } }"
    verdict = check(program(text), engine=engine, limits=FEW)
    assert verdict.verdict == "error" and verdict.witness is not None
    assert verdict.witness.fault is not None and verdict.witness.fault.registers["r"] == 3000
    assert verdict.stats.states < 30_000


def test_a_fault_of_delayed_steps_alone_is_none() -> None:
    """Only SC runs make a fault: here r is 0 in a delayed run alone."""
    verdict = check(program("write(x, 0, y, q); wait(q); r <- mem[y]; s <- 1 / r;"), nodes=1)
    assert verdict.verdict == "robust"


# Assertions and deadlocks


@pytest.mark.parametrize(
    ("block", "assertions", "deadlock"),
    [
        ("mem[x] <- 1;", None, None),
        ("assert(1);", "hold", None),
        ("assert(r);", "violated", None),
        ("barrier;", None, False),
        ("await(mem[y] == 1);", None, True),
        ("assert(1); barrier;", "hold", False),
        ("assert(0); await(mem[y] == 1); assert(r);", "violated", True),
    ],
)
def test_assertions_and_deadlock(block: str, assertions: Any, deadlock: Any) -> None:
    verdict = check(program(block, nodes=2))
    assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("robust", assertions, deadlock)
    assert (verdict.assertion_run is not None) == (assertions == "violated")
    assert (verdict.deadlock_run is not None) == (deadlock is True)
    shown = [run.shows for run in (verdict.assertion_run, verdict.deadlock_run) if run]
    assert (verdict.witness.shows if verdict.witness else None) == (shown[0] if shown else None)


def test_a_violation_is_shown_before_a_failed_assertion() -> None:
    verdict = check(program("assert(0); write(x, 0, y, q); r <- mem[y];"))
    assert verdict.witness is not None and verdict.witness.shows == "violation"
    assert verdict.assertions == "violated" and verdict.assertion_run is not None


@pytest.mark.parametrize("engine", OURS)
def test_a_robust_verdict_waits_for_all_sc_runs_where_one_may_fault(engine: str) -> None:
    """A fault far away must be found although the engine is done early; an assertion that fails there need not."""
    long = "while (r < 500) { mem[x] <- r; r <- r + 1; } "
    assert check(program(long + "s <- 1 / (r - 500);"), 1, engine, FEW).verdict == "error"
    assert check(program(long + "assert(r == 49);"), 1, engine).assertions == "violated"
    verdict = check(program(long + "assert(r == 49);"), 1, engine, FEW)
    assert (verdict.verdict, verdict.assertions) == ("robust", "unknown")
    assert check(program(long), 1, engine, FEW).verdict == "robust"


def test_a_violation_leaves_open_what_sc_runs_were_not_seen() -> None:
    text = "write(x, 0, y, q); r <- mem[y]; while (r < 5000) { mem[z] <- r; r <- r + 1; } barrier; assert(1);"
    verdict = check(program(text), nodes=1, limits=FEW)
    assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("not robust", "unknown", "unknown")


@pytest.mark.parametrize("engine", OURS)
def test_a_violation_of_a_small_program_leaves_nothing_open(engine: str) -> None:
    """The violation is found long before the last SC run has been seen."""
    text = "write(x, 0, y, q); r <- mem[y]; r <- 0; while (r < {}) {{ mem[z] <- r; r <- r + 1; }} barrier; assert({});"
    for claim, assertions in (("1", "hold"), ("r == 0", "violated")):
        verdict = check(program(text.format(500, claim)), nodes=1, engine=engine)
        assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("not robust", assertions, False)


BESIDE_AN_ASSUME = """nodes 3; memory f; register r;
process 0 { assume(0); }
process { await(mem[f] == 1); r <- swap(3 - me, f, 1); }"""


@pytest.mark.parametrize("engine", OURS)
def test_a_false_assume_of_one_rank_excuses_no_other_that_waits(engine: str) -> None:
    verdict = check(parse(BESIDE_AN_ASSUME), engine=engine)
    assert (verdict.verdict, verdict.deadlock) == ("robust", True)
    one_waits = BESIDE_AN_ASSUME.replace("process {", "process 1 { skip; } process {")
    assert check(parse(one_waits), engine=engine).deadlock is True
    alone = BESIDE_AN_ASSUME.replace("await(mem[f] == 1); r <- swap(3 - me, f, 1);", "await(mem[f] == 0);")
    assert check(parse(alone), engine=engine).deadlock is False


@pytest.mark.parametrize("engine", OURS)
def test_a_wrong_guess_of_a_front_end_is_no_run_and_so_no_deadlock(engine: str) -> None:
    """A C program has no assumes; those that it is lowered to say which way of a call goes on when."""
    text = "memory x; register r; process 0 { r <- mem[x]; assume(r == 1); barrier; } process { barrier; }"
    program = parse(text)
    assert check(program, engine=engine).deadlock is True
    lowered = replace(program, source=replace(program.source, shows_commands=False))
    assert check(lowered, engine=engine).deadlock is False


# Limits


@pytest.mark.parametrize("engine", OURS)
def test_a_limit_of_states_gives_unknown_and_never_robust(engine: str) -> None:
    # The attack engine looks at the limits every 256 states, and needs fewer for these programs with its reductions.
    more: dict[str, Any] = {"nodes": 5, "reductions": ()} if engine == "attack" else {"nodes": 3}
    verdict = check(ROBUST, engine=engine, limits=Limits(max_states=40), **more)
    assert (verdict.verdict, verdict.reason) == ("unknown", StateLimit(40))


@pytest.mark.parametrize("engine", ["definition", "product"])
def test_a_limit_of_states_counts_sc_runs_too(engine: str) -> None:
    text = "loop { r <- r + 1; s <- 1 / (r | 1); }"
    verdict = check(program(text), nodes=1, engine=engine, limits=Limits(max_states=500))
    if engine == "definition":
        assert (verdict.verdict, verdict.faults, verdict.reason) == ("unknown", None, StateLimit(500))
    else:
        assert (verdict.verdict, verdict.faults, verdict.reason) == (
            "robust", "unknown", FaultPossible(StateLimit(500)),
        )  # fmt: skip
        assert str(verdict.reason) == "a fault cannot be excluded: the limit of 500 states was reached"
        assert 500 < verdict.stats.sequential_states < 510


def test_where_nothing_can_fault_a_program_is_robust_though_not_all_sc_runs_were_seen() -> None:
    limits = Limits(max_states=500)
    verdict = check(program("loop { r <- r + 1; assert(1); } barrier;"), 1, "product", limits)
    assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("robust", "unknown", "unknown")
    assert verdict.reason == ScRunsLeft(StateLimit(500))
    assert str(verdict.reason) == "not all sequentially consistent runs were seen: the limit of 500 states was reached"
    assert verdict.stats.sequential_states > 500
    nothing_to_check = check(program("r <- r + 1;"), 1, "product", limits)
    assert (nothing_to_check.verdict, nothing_to_check.reason) == ("robust", None)


def test_a_limit_leaves_open_what_was_not_seen() -> None:
    text = "loop { r <- r + 1; assume(r != -7); s <- 1 / (r | 1); } assert(1); barrier;"
    verdict = check(program(text), nodes=1, limits=Limits(max_states=100))
    assert (verdict.verdict, verdict.faults) == ("robust", "unknown")
    assert (verdict.assertions, verdict.deadlock) == ("unknown", "unknown")


def test_a_limit_keeps_what_was_seen() -> None:
    verdict = check(
        program("assert(r < 9); loop { r <- r + 1; } assert(r < 9);"), nodes=1, limits=Limits(max_states=50_000)
    )
    left = ScRunsLeft(StateLimit(50_000))
    assert (verdict.verdict, verdict.reason, verdict.assertions) == ("robust", left, "violated")
    assert verdict.witness is not None and verdict.witness.shows == "assertion"


PUT_TO_ALL = """memory a = 1, b; register p, r; queue q; nodes 8;
process {
  p <- 0; while (p < nodes) { write(a, p, b, q); p <- p + 1; }
  wait(q); barrier; r <- mem[b]; assert(r == 1);
}"""
"""No step can be the source; on 8 nodes there are millions of SC states."""


@pytest.mark.parametrize("kernel", [True, False], ids=["in Rust", "in Python"])
def test_where_no_step_can_be_the_source_the_facts_do_not_decide(kernel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kernel:
        monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
    # The others are so that it ends soon when the facts do decide.
    limits = Limits(100_000) if kernel and twins.available() else Limits(1_000, max_sc_states=500)
    assert limits.max_sc_states is not None
    verdict = check(parse(PUT_TO_ALL), limits=limits)
    assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("robust", "unknown", "unknown")
    assert verdict.reason == ScRunsLeft(ScStateLimit(limits.max_sc_states))
    # Where the search is looked at now and then, that many states may come to it in between.
    assert limits.max_sc_states <= verdict.stats.sequential_states < limits.max_sc_states + 5_000
    small = check(parse(PUT_TO_ALL), 2, limits=limits)
    assert (small.verdict, small.reason, small.assertions, small.deadlock) == ("robust", None, "hold", False)


def test_a_limit_of_states_below_that_of_the_facts_is_the_one_that_is_told() -> None:
    verdict = check(parse(PUT_TO_ALL), limits=Limits(max_states=300))
    assert (verdict.verdict, verdict.reason) == ("robust", ScRunsLeft(StateLimit(300)))


@pytest.mark.parametrize("engine", OURS)
def test_where_something_may_fault_too_many_sc_runs_leave_that_open_and_not_the_verdict(engine: str) -> None:
    """No step can be the source, and only the SC runs could tell that no divisor is 0. The engine `definition` has as
    many states itself."""
    verdict = check(program("loop { r <- r + 1; s <- 1 / (r | 1); } assert(1);"), 1, engine, Limits(max_states=400))
    found = (verdict.verdict, verdict.faults, verdict.reason, verdict.assertions)
    if engine == "definition":
        assert found == ("unknown", None, StateLimit(400), "unknown")
    else:
        assert found == ("robust", "unknown", FaultPossible(StateLimit(400)), "unknown")
    without = check(program("loop { r <- r + 1; s <- r | 1; } assert(1);"), 1, engine, Limits(max_states=400))
    assert without.faults == (None if engine == "definition" else "none")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a hundredth of a second whenever it is looked at."""
    ticks = count()
    ticking = SimpleNamespace(monotonic=lambda: next(ticks) / 100)
    for looking in (module, session, watch):
        monkeypatch.setattr(looking, "time", ticking)


@pytest.mark.usefixtures("clock")
def test_a_timeout_gives_unknown() -> None:
    limits = Limits(max_states=5_000, timeout=2.5)
    verdict = check(program("loop { r <- r + 1; }"), 1, "definition", limits)
    assert (verdict.verdict, verdict.reason) == ("unknown", TimeLimit(2.5, "in the search of SC runs"))
    assert 2.5 < verdict.stats.seconds < 2.7


def test_without_limits_an_answer_is_found() -> None:
    assert check(ROBUST, limits=Limits(max_states=None)).verdict == "robust"


def test_an_engine_that_gives_up_gives_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Fake()
    engine.gave_up = PendingBound(32)
    with_engine(monkeypatch, engine)
    assert (check(ROBUST, engine="fake").verdict, check(ROBUST, engine="fake").reason) == ("unknown", PendingBound(32))


def test_unbounded_queues_are_unknown_to_the_definition() -> None:
    verdict = check(program("loop { write(x, 1, y, q); }", ""), engine="definition")
    assert (verdict.verdict, verdict.reason) == ("unknown", PendingBound(32))
    assert check(program("loop { write(x, 1, y, q); }", "")).verdict == "robust"


def test_running_out_of_memory_gives_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    with_engine(monkeypatch, Fake(error=MemoryError()))
    assert (check(ROBUST, engine="fake").verdict, check(ROBUST, engine="fake").reason) == ("unknown", OutOfMemory())


def test_an_interruption_carries_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    with_engine(monkeypatch, Fake(error=KeyboardInterrupt()))
    with pytest.raises(Interrupted) as caught:
        check(program("assert(r);"), engine="fake")
    verdict = caught.value.verdict
    assert (verdict.verdict, verdict.reason, verdict.assertions) == ("unknown", Interruption(), "violated")
    assert isinstance(caught.value, KeyboardInterrupt)


# Engines that are wrong

WRITE, POPA, POPB = Event("write", 0, 0, None, 0), Event("popa", 0, 0, 0, 0), Event("popb", 0, 0, 1, 0)
LOAD, PENDING = Event("load", 0, 1, 1, 1), Event("write", 0, 2, None, 2)


@pytest.mark.parametrize(
    ("computation", "what"),
    [
        ((WRITE, POPB), "does not replay"),
        ((LOAD,), "does not replay"),
        ((WRITE, POPA, POPB, LOAD), "lacks a happens-before cycle"),
        ((), "lacks a happens-before cycle"),
        ((WRITE, LOAD, POPA), "lacks the end of its operations"),
        ((WRITE, LOAD, POPA, POPB, PENDING), "lacks the end of its operations"),
    ],
)
def test_a_claim_that_does_not_hold_up_is_never_believed(
    computation: tuple[Event, ...], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness is judged by replay and happens-before and not by the engine."""
    with_engine(monkeypatch, Fake(Violation(computation)))
    verdict = check(program("write(x, 0, y, q); r <- mem[y]; write(x, 0, z, q);"), engine="fake")
    assert verdict.verdict == "unknown" and verdict.witness is None
    assert isinstance(verdict.reason, InternalError) and what in verdict.reason.message
    assert str(verdict.reason).startswith("internal error, please report it: the fake engine's run ")


def test_a_claim_that_holds_up_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    with_engine(monkeypatch, Fake(Violation((WRITE, LOAD, POPA, POPB))))
    assert check(program("write(x, 0, y, q); r <- mem[y];"), engine="fake").verdict == "not robust"


# Progress


def test_progress_is_reported_for_each_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_AROUND", 0.0)
    seen: list[Progress] = []
    check(ROBUST, engine="product", progress=seen.append)
    phases = [snapshot.phase for snapshot in seen]
    assert list(dict.fromkeys(phases)) == ["SC runs", "product"]
    seconds, states = ([getattr(snapshot, name) for snapshot in seen] for name in ("seconds", "states"))
    assert seconds == sorted(seconds)
    assert all(found > 0 for found in states)
    assert seen[-1].doing.startswith("cycle types: ")


@pytest.mark.usefixtures("clock")
def test_progress_is_not_reported_too_often() -> None:
    seen: list[Progress] = []
    check(program("loop { r <- r + 1; }"), 1, "definition", Limits(timeout=1), seen.append)
    assert 15 <= len(seen) <= 1 / watch.LOOK_AROUND


# Loading


def test_load_reads_a_program(tmp_path: Path) -> None:
    path = tmp_path / "small.pgas"
    path.write_text("memory x; process { mem[x] <- 1; }")
    assert load(path).source.file == str(path)
    verdict: Verdict = pgasrob.check(pgasrob.load(str(path)))
    assert (verdict.file, verdict.program, verdict.verdict) == (str(path), "small", "robust")


def test_load_refuses_what_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "broken.pgas"
    path.write_text("process {")
    with pytest.raises(SourceError):
        load(path)
    with pytest.raises(SourceError):
        load(tmp_path / "missing.pgas")


def test_checks_do_not_disturb_each_other() -> None:
    first, second = check(NOT_ROBUST), check(NOT_ROBUST)
    assert first.witness is not None and second.witness is not None
    assert first.witness.run.computation == second.witness.run.computation
    assert replace(first.stats, seconds=0.0) == replace(second.stats, seconds=0.0)


# Heads and limits that make no sense


@pytest.mark.parametrize("heads", [-1, 0, 1, 5])
def test_heads_that_would_lose_violations_are_refused(heads: int) -> None:
    """With one head nothing can be delayed, so every program would be called robust."""
    with pytest.raises(ValueError, match="heads"):
        check(NOT_ROBUST, heads=heads)


@pytest.mark.parametrize("engine", ["attack", "definition"])
def test_only_the_product_engine_has_heads(engine: str) -> None:
    with pytest.raises(ValueError, match="product"):
        check(NOT_ROBUST, engine=engine, heads=2)


# Reductions


def test_reductions_are_all_unless_told_otherwise() -> None:
    def states(reductions: Any) -> int:
        verdict = check(ROBUST, 4, reductions=reductions)
        assert verdict.verdict == "robust"
        return verdict.stats.states

    assert states(None) == states(REDUCTIONS) < states(["persistent"]) < states(()) == 313


def test_reductions_that_do_not_exist() -> None:
    with pytest.raises(ValueError, match=r"no reduction 'persistant'.*did you mean `persistent`"):
        check(ROBUST, reductions=["persistant"])


@pytest.mark.parametrize("engine", ["product", "definition"])
def test_only_the_attack_engine_has_reductions(engine: str) -> None:
    with pytest.raises(ValueError, match="attack"):
        check(ROBUST, engine=engine, reductions=())


# Memory

LARGE = """memory x, y; register r, s; queue q; process {
  loop { mem[x] <- r; r <- r + 1; if (r < 0) { write(x, me, y, q); r <- mem[y]; } } }"""
"""Its states never end, and there seems to be something to find."""


@pytest.mark.parametrize("engine", OURS)
def test_a_memory_limit_gives_unknown(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process seems to grow by 1,000 bytes whenever it is looked at, which is after every piece of a search."""
    monkeypatch.setattr(watch, "LOOK_AROUND", 0.0)
    sizes = count(0, 1_000)
    monkeypatch.setattr(watch, "resident_memory", lambda: next(sizes))
    verdict = check(parse(LARGE), 2, engine, Limits(max_states=None, memory=500_000))
    phase = "in the search of SC runs" if engine != "attack" else "in the attack engine"
    assert (verdict.verdict, verdict.reason) == ("unknown", MemoryLimit(500_000, phase))
    assert next(sizes) <= 503_000


@pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")
def test_the_kernel_counts_its_memory_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "resident_memory", lambda: 0)
    verdict = check(parse(LARGE), 2, limits=Limits(max_states=None, memory=5_000_000))
    assert (verdict.verdict, verdict.reason) == ("unknown", MemoryLimit(5_000_000, "in the traces engine"))


def test_a_memory_limit_that_does_for_nothing_at_all() -> None:
    verdict = check(ROBUST, limits=Limits(memory=1))
    assert verdict.verdict in ("unknown", "robust")
    if verdict.verdict == "unknown":
        assert isinstance(verdict.reason, MemoryLimit) and verdict.reason.size == 1


def test_an_interruption_while_the_engine_is_made_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(instance: Any, settings: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setitem(ENGINES, "fake", make)
    with pytest.raises(Interrupted) as caught:
        check(ROBUST, engine="fake")
    assert (caught.value.verdict.verdict, caught.value.verdict.reason) == ("unknown", Interruption())


def test_with_and_without_the_kernel_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for counts and the run that is shown, which of several may differ."""
    texts = [ONE_TO_ONE.format(between) for between in ("", "wait(q);", "assert(r);")]
    texts += ["await(mem[y] == 1);", "r <- 1 / s; write(x, 0, y, q); r <- mem[y];", "barrier; assert(me);"]

    def told() -> list[Any]:
        found = [check(program(text), nodes) for text in texts for nodes in (1, 2, 3)]
        return [(verdict.verdict, verdict.reason, verdict.assertions, verdict.deadlock) for verdict in found]

    first = told()
    monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
    assert told() == first


def test_the_library_warns_of_a_missing_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
    twins.warn_of_a_missing_kernel.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(ROBUST, engine="product")  # which is in Python anyway
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check(ROBUST)
        check(NOT_ROBUST)
    assert [warning.category for warning in told] == [pgasrob.MissingKernelWarning]
    said = str(told[0].message)
    assert "has no native kernel" in said and "Rust toolchain" in said and "`python -P`" in said


def test_many_ranks_that_share_nothing_are_decided_at_once() -> None:
    """Only two of twelve ranks share a cell, so hardly any of the cycle types is possible."""
    star = parse("memory x, y; queue q; nodes 12; process 0 { write(x, 1, y, q); wait(q); } process { skip; }")
    verdict = check(star, engine="product", limits=Limits(max_states=50, timeout=60))  # time only so that it ends
    assert (verdict.verdict, verdict.stats.states) == ("robust", 7)


@pytest.mark.parametrize("reductions", [REDUCTIONS, (), *((name,) for name in REDUCTIONS)], ids=str)
@pytest.mark.parametrize(
    "blocks",
    [
        "process 0 { write(x, r - 1, x, q); } process 1 { assert(r == 1); }",
        "process 0 { choose { await(mem[y] == 1); } or { r <- 1 / r; } } process 1 { await(mem[y] == 1); }",
    ],
)
def test_nothing_is_said_to_hold_beside_a_fault(blocks: str, reductions: tuple[str, ...]) -> None:
    found = check(parse(f"memory x, y; register r; queue q; nodes 2; {blocks}"), reductions=reductions)
    assert found.verdict == "error" and found.assertions != "hold" and found.deadlock is not False


def test_a_violation_is_kept_where_a_limit_ends_its_replay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def late(self: object) -> None:
        raise watch.LimitReached(TimeLimit(60, "while replaying the run"))

    path = tmp_path / "a.pgas"
    path.write_text(to_source(NOT_ROBUST))
    with monkeypatch.context() as within:
        within.setattr("pgasrob.robustness.counterexample.Counterexample.judged", late)
        verdict = pgasrob.check(path)
        assert (verdict.verdict, verdict.witness) == ("not robust", None)
        assert str(verdict.reason).startswith("the run that shows it was not replayed: the time limit of 60 s")
        for command, said in (
            ("check", "not robust"),
            ("check --format gcc", "error: not robust on 2 nodes"),
            ("check --brief", "error: not robust on 2 nodes"),
            ("repair", "unknown"),
            ("thrift", "unknown"),
            ("explain", "no computation to explain it with"),
        ):
            found = CliRunner().invoke(cli, [*command.split(), str(path)])
            assert said in " ".join(found.output.split()), command
            assert not found.exception or isinstance(found.exception, SystemExit), command
    # Where there is some time left it is shown after all.
    once = iter([True])
    judged = module.Counterexample.judged

    def late_once(self: Any) -> Any:
        return late(self) if next(once, False) else judged(self)

    monkeypatch.setattr("pgasrob.robustness.counterexample.Counterexample.judged", late_once)
    assert pgasrob.check(path).witness is not None
