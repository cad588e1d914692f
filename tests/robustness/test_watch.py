"""Limits hold in every phase: where one takes for ever, the reason says which it was, and what is known stays."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pgasrob import twins
from pgasrob.batch.checker import convert_each
from pgasrob.batch.job import Job
from pgasrob.cli import cli
from pgasrob.render.verdict_json import checked_to_json
from pgasrob.robustness import watch
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import LeftUndone, MemoryLimit, TimeLimit
from pgasrob.robustness.watch import LimitReached, Watch, at
from pgasrob.stop_points import POINT, stop_point
from tests.clock import DAY, for_ever, leap, leaping

MINUTE = Limits(timeout=60)

LATE = """#include <shmem.h>
static long x, y; static long flag;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) { shmem_long_p(&x, 1, 1); shmem_long_p(&flag, 1, 1); }
  else { shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1); y = x; }
  shmem_finalize();
}
"""
"""Not robust, which takes a while to find out: nothing orders the two puts."""
IN_TIME = LATE.replace("1); shmem_long_p(&flag", "1); shmem_fence(); shmem_long_p(&flag")


@pytest.fixture
def source(tmp_path: Path) -> Any:
    def written(text: str) -> str:
        (tmp_path / "late.c").write_text(text)
        return str(tmp_path / "late.c")

    return written


def make(monkeypatch: pytest.MonkeyPatch, place: str, instead: Any = for_ever) -> None:
    """Have ``instead`` stand at ``place``: module:name, or module:class.name. `for_ever` takes a day at once."""
    module, _, path = place.partition(":")
    owner: Any = importlib.import_module(f"pgasrob.{module}")
    *classes, name = path.split(".")
    for each in classes:
        owner = getattr(owner, each)
    monkeypatch.setattr(owner, name, instead)
    if instead is for_ever:
        leaping(monkeypatch)


PHASES = {
    "frontends.c.compiler:preprocess": "while reading the program",
    "frontends.c.compiler:compile_unit": "while reading the program",
    "frontends.c.machine:Machine.step": "while lowering the program",
    "frontends.c.driver:assemble": "while lowering the program",
    "program.program:instantiate": "while putting the program on its nodes",
    "analysis.ranges:Ranges.__init__": "in the infeasibility test",
    "robustness.reduction.fixpoint:Fixpoint.finds_e": "in the infeasibility test",
    "robustness.kernel_tables:_Compiler.tables": "in the traces engine",
    "robustness.portfolio:PortfolioSearch._look_for_shorter_runs": "in the traces engine",
}
"""What never ends, and the phase that the reason names, when nothing is known yet."""


@pytest.mark.parametrize(("place", "phase"), PHASES.items())
def test_a_limit_ends_what_decides(place: str, phase: str, source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if "tables" in place and not twins.available():
        pytest.skip("the kernel has not been built")
    file = source(LATE)
    make(monkeypatch, place)
    before = threading.active_count()
    (checked,) = convert_each([file], Job(limits=MINUTE), lambda checked: checked)
    assert (checked.verdict.verdict, checked.verdict.reason) == ("unknown", TimeLimit(60, phase))
    assert threading.active_count() == before


DECORATIONS = {
    "robustness.shrink:Shrinking.run": "the run may be longer than it has to be",
    "robustness.maximal_runs:Runs.explore": "",
    "robustness.effect_search:Viewer": "",
    "render.run_json:late_operations": "the run is not shown",
    "render.run_json:_relation": "the run is not shown",
}
"""What comes after the verdict: it stays, and what is missing is said, in the verdict or in its effect."""


@pytest.mark.parametrize(("place", "missing"), DECORATIONS.items())
def test_a_limit_leaves_the_verdict(place: str, missing: str, source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = source(LATE)
    make(monkeypatch, place)
    (told,) = convert_each([file], Job(limits=MINUTE), lambda checked: (checked.verdict, checked_to_json(checked)))
    verdict, written = told
    assert written["verdict"] == verdict.verdict == "not robust"
    reason = verdict.reason if missing else verdict.effect and verdict.effect.reason
    assert isinstance(reason, LeftUndone) and reason.what == missing if missing else isinstance(reason, TimeLimit)
    assert "time limit of 60 s" in str(reason)
    assert written["reason"] == (str(reason) if missing else None)
    assert (written["witness"] is None) == (missing == "the run is not shown")


def test_a_run_that_is_not_replayed_in_time_shows_nothing(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The violation that was found is kept, and of a failing assertion it is not said that it holds."""
    make(monkeypatch, "robustness.check:replay")
    make(monkeypatch, "robustness.counterexample:replay")
    replaying = TimeLimit(60, "while replaying the run")
    (checked,) = convert_each([source(LATE)], Job(limits=MINUTE), lambda checked: checked)
    assert (checked.verdict.verdict, checked.verdict.witness) == ("not robust", None)
    assert checked.verdict.reason == LeftUndone("the run that shows it was not replayed", replaying)
    fails = IN_TIME.replace("y = x;", "y = x; assert(y == 2);").replace("#include", "#include <assert.h>\n#include", 1)
    (checked,) = convert_each([source(fails)], Job(limits=MINUTE), lambda checked: checked)
    assert (checked.verdict.verdict, checked.verdict.assertions) == ("robust", "unknown")
    assert checked.verdict.reason == LeftUndone("not all that is known is shown", replaying)


def test_the_memory_counts_where_nobody_looks(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    make(monkeypatch, "frontends.c.machine:Machine.step")
    sizes = count(0, 200_000)
    monkeypatch.setattr(watch, "resident_memory", lambda: next(sizes))
    (checked,) = convert_each([source(LATE)], Job(limits=Limits(memory=1_000_000)), lambda checked: checked)
    assert checked.verdict.reason == MemoryLimit(1_000_000, "while lowering the program")


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("outcomes", "frontends.c.machine:Machine.step"),
        ("repair", "frontends.c.compiler:compile_unit"),
        ("repair", "repairs.search:Clauses"),
        ("thrift", "repairs.thrift:savings"),
        ("explain", "robustness.explanation:reorder"),
    ],
)
def test_other_commands_have_limits_too(command: str, place: str, source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    make(monkeypatch, place)
    file = source(IN_TIME if command == "thrift" else LATE)
    result = CliRunner().invoke(cli, [command, file, "--timeout", "60"])
    assert result.exit_code == 3, result.output
    assert "time limit of" in result.output


def test_the_exit_code_says_that_it_is_not_known(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    make(monkeypatch, "frontends.c.machine:Machine.step")
    result = CliRunner().invoke(cli, ["check", source(LATE), "--timeout", "60"])
    assert result.exit_code == 3
    assert "the time limit of 60 s was reached while lowering the program" in " ".join(result.output.split())


def test_watches_stand_in_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends what is within it, whichever limit comes first."""
    leaping(monkeypatch)

    def inner(seconds: float) -> str:
        try:
            return Watch(Limits(timeout=seconds), None, time.monotonic()).within("inside", for_ever)
        except LimitReached as limit:
            return str(limit.reason)

    outer = Watch(Limits(timeout=1.5 * DAY), None, time.monotonic())
    assert outer.within("outside", lambda: inner(60)) == "the time limit of 60 s was reached inside"
    with pytest.raises(LimitReached, match=r"129600 s was reached outside"):
        outer.within("outside", lambda: inner(10 * DAY))


def test_nothing_is_raised_behind_it() -> None:
    before = threading.active_count()
    for _ in range(30):
        with pytest.raises(LimitReached):
            Watch(Limits(timeout=1e-4), None, time.monotonic()).within("briefly", for_ever)
        assert Watch(Limits(timeout=60), None, time.monotonic()).within("briefly", lambda: 7) == 7
    assert threading.active_count() == before


def threads() -> int:
    """Those of this process, as the system counts them: Python knows of those alone that it has wrapped."""
    return len(os.listdir("/proc/self/task"))


def fewest_threads() -> int:
    """Those that stay: one that has nothing more to do is there until the system has let it end."""
    found = []
    for _ in range(50):
        found.append(threads())
        time.sleep(0.002)
    return min(found)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="nobody says how many threads there are")
def test_one_thread_watches_all_and_goes_away() -> None:
    """To start one for each piece of work would take longer than most of them; a fork wants none."""
    watch._SENTINEL.rest()
    before, watching = fewest_threads(), Watch(MINUTE, None, time.monotonic())
    assert {watching.within("briefly", threads) for _ in range(50)} == {before + 1}
    watch._SENTINEL.rest()
    until = time.monotonic() + 20
    while threads() > before and time.monotonic() < until:
        time.sleep(watch.PAUSE)
    assert threads() == before
    assert watching.within("again", threads) == before + 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_is_watched_too() -> None:
    def forked() -> int:
        child = os.fork()
        if not child:
            signal.alarm(60)  # where nobody watches it has to end all the same
            try:
                Watch(Limits(timeout=0.05), None, time.monotonic()).within("in the child", for_ever)
            except LimitReached:
                os._exit(7)
            finally:
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert Watch(Limits(timeout=60), None, time.monotonic()).within("around it", forked) == 7


def test_what_is_swallowed_is_raised_again() -> None:
    def deaf() -> None:
        for _ in range(3):
            try:
                for_ever()
            except BaseException:
                continue

    with pytest.raises(LimitReached):
        Watch(Limits(timeout=0.05), None, time.monotonic()).within("deaf", deaf)


def test_the_phase_may_change_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    leaping(monkeypatch)

    def work() -> None:
        at("further on")
        for_ever()

    at("nowhere")
    with pytest.raises(LimitReached) as ended:
        Watch(MINUTE, None, time.monotonic()).within("at first", work)
    assert ended.value.reason == TimeLimit(60, "further on")


def test_work_is_ended_at_stop_points_alone() -> None:
    """Between two of them it may leave things half done."""
    steps: list[str] = []

    def work() -> None:
        while True:
            stop_point()
            steps.append("begun")
            until = time.perf_counter() + 3 * watch.PAUSE
            while time.perf_counter() < until:
                pass
            steps.append("done")

    with pytest.raises(LimitReached):
        Watch(Limits(timeout=watch.PAUSE), None, time.monotonic()).within("step by step", work)
    assert steps and steps.count("begun") == steps.count("done")


def test_what_comes_to_no_stop_point_is_ended_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is ended by then is left alone."""
    monkeypatch.setattr(watch, "HARD", 0.05)

    def endless() -> None:
        while True:
            pass

    for _ in range(3):
        with pytest.raises(LimitReached, match=r"time limit of 0\.05 s"):
            Watch(Limits(timeout=0.05), None, time.monotonic()).within("in it", endless)
        with pytest.raises(LimitReached):
            Watch(Limits(timeout=0.05), None, time.monotonic()).within("in it", lambda: (time.sleep(0.3), stop_point()))
        before, end = sys.gettrace(), time.monotonic() + 0.2
        sys.settrace(lambda *_: None)  # this shows what Python is left to raise
        while time.monotonic() < end:
            pass
        sys.settrace(before)


def test_what_has_no_stop_point_gives_its_result() -> None:
    def work() -> int:
        until = time.perf_counter() + 3 * watch.PAUSE
        while time.perf_counter() < until:
            pass
        return 7

    assert Watch(Limits(timeout=watch.PAUSE), None, time.monotonic()).within("straight on", work) == 7
    assert not POINT.due, "nothing else is to end"


def test_other_threads_go_on() -> None:
    """A limit ends what its own thread does."""
    begun, go_on = threading.Event(), threading.Event()
    done: list[int] = []

    def other() -> None:
        begun.set()
        while not go_on.is_set():
            stop_point()
        done.append(Watch(MINUTE, None, time.monotonic()).within("beside", lambda: 7))

    beside = threading.Thread(target=lambda: Watch(MINUTE, None, time.monotonic()).within("beside", other), daemon=True)
    beside.start()
    begun.wait(20)
    with pytest.raises(LimitReached):
        Watch(Limits(timeout=0.05), None, time.monotonic()).within("in front", for_ever)
    go_on.set()
    beside.join(20)
    assert done == [7]


@pytest.mark.parametrize("limits", [MINUTE, Limits(memory=1)], ids=["time", "memory"])
def test_what_looks_around_itself_gives_what_it_has(monkeypatch: pytest.MonkeyPatch, limits: Limits) -> None:
    """Nobody ends it from outside as long as it comes to its end by itself."""
    leaping(monkeypatch)
    sizes = count()
    monkeypatch.setattr(watch, "resident_memory", lambda: next(sizes))
    watching, reasons = Watch(limits, None, time.monotonic()), []

    def work() -> str:
        leap()
        for states in count():
            try:
                watching.look_around("a search", states)
            except LimitReached as limit:
                reasons.append(limit.reason)
                until = time.perf_counter() + 5 * watch.PAUSE
                while time.perf_counter() < until:
                    pass
                return "what it has"
        return ""

    monkeypatch.setattr(watch, "GRACE", 60.0)
    assert watching.within("in it", work, looks=True) == "what it has"
    assert [type(reason) for reason in reasons] == [TimeLimit if limits.timeout else MemoryLimit]


@pytest.mark.parametrize("limits", [Limits(timeout=0.1), Limits(memory=1)], ids=["time", "memory"])
def test_what_should_look_around_and_does_not_is_ended(monkeypatch: pytest.MonkeyPatch, limits: Limits) -> None:
    sizes = count()
    monkeypatch.setattr(watch, "resident_memory", lambda: next(sizes))
    with pytest.raises(LimitReached, match="in it"):
        Watch(limits, None, time.monotonic()).within("in it", for_ever, looks=True)
