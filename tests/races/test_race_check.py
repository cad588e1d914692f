"""Where the answer about races comes from: the search, the check of robustness, the definition; limits and faults."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import twins
from pgasrob.api import check
from pgasrob.api import race as races
from pgasrob.cli import cli
from pgasrob.program.printer import to_source
from pgasrob.program.program import Program
from pgasrob.races import race_check
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, Races
from pgasrob.robustness.reasons import FaultReached, LeftUndone, RunsLeftOut, ScStateLimit, StateLimit, TimeLimit
from pgasrob.robustness.session import Session
from pgasrob.robustness.watch import LimitReached
from tests.clock import for_ever, leaping
from tests.support import program

STORE_BUFFERING = (
    "update(set, 1, 1, x, u); r <- fetch(0, y);",
    "update(set, 1, 0, y, u); r <- fetch(1, x);",
)
"""All of it atomic, and not robust: both may fetch what was there before."""


@pytest.fixture(params=[True, False], ids=["kernel", "Python"])
def any_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param and not twins.available():
        pytest.skip("the kernel has not been built")
    if not request.param:
        monkeypatch.setitem(sys.modules, "pgasrob._kernel", None)
        monkeypatch.setattr("pgasrob.twins.warn_of_a_missing_kernel", lambda: None)


def store_buffering(first: str = "", second: str = "") -> Program:
    return program(
        STORE_BUFFERING[0] + first,
        STORE_BUFFERING[1] + second,
        declarations="memory x, y, w; register r; queue u unordered;",
    )


def lines(verdict: RaceVerdict) -> list[list[str]]:
    """The races as pairs of (rank, access, cell)."""
    return [
        sorted(f"{each.rank} {each.access} {race.run.instance.cell_name(each.cell)}" for each in race.accesses)
        for race in verdict.races
    ]


@pytest.mark.usefixtures("any_engine")
def test_a_race_is_told_with_its_run() -> None:
    verdict = races(program("write(x, 1, y, q);", "r <- mem[y];"))
    assert verdict.verdict == "race" and verdict.robustness is None
    (race,) = verdict.races
    assert race.kind == "remote"
    assert [(each.rank, each.access, each.operation) for each in race.accesses] == [(0, "write", 0), (1, "read", None)]
    assert [replayed.event.kind for replayed in race.run.events] == ["write", "popa"] and not race.run.complete


@pytest.mark.usefixtures("any_engine")
def test_all_or_the_first() -> None:
    both = program("write(x, 1, y, q);\nmem[x] <- 2;\n", "r <- mem[y];")
    assert len(races(both).races) == 1
    every = races(both, all_=True)
    assert sorted(race.kind for race in every.races) == ["local buffer", "remote"]
    assert every.reason is None and every.robustness is not None and every.robustness.verdict == "not robust"


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ("write(x, 1, y, u); mem[x] <- 2;", "local buffer"),
        ("read(x, 1, y, u); read(x, 1, z, u);", "local"),
        ("write(x, 1, y, u); write(x, 1, y, u);", "remote"),
        ("mem[y @ 1] <- 1; barrier;", "remote"),
    ],
)
def test_kinds(block: str, kind: str) -> None:
    other = "r <- mem[y]; barrier;" if "barrier" in block else ""
    assert [race.kind for race in races(program(block, other), all_=True).races] == [kind]


@pytest.mark.usefixtures("any_engine")
def test_where_nothing_can_go_before_a_step_nobody_is_asked() -> None:
    verdict = races(program("put(x, 1, y, q); wait(q); barrier;", "barrier; r <- mem[y];"))
    assert verdict.verdict == "no race" and verdict.robustness is None and verdict.reason is None


@pytest.mark.usefixtures("any_engine")
def test_a_harmless_conflict_asks_for_robustness() -> None:
    """The await may come first; but the program is robust, so there is nothing beyond."""
    waiting = program("write(x, 1, y, q);", "await(mem[y] == 1);")
    verdict = races(waiting)
    assert verdict.verdict == "no race"
    assert verdict.robustness is not None and verdict.robustness.verdict == "robust"
    known = check(waiting)
    assert race_check.races(Session(Question(waiting, asked=Races())), known).robustness is known
    assert races(waiting, strict=True).verdict == "race"


@pytest.mark.usefixtures("any_engine")
def test_deferred_atomics_may_be_race_free_and_not_robust() -> None:
    verdict = races(store_buffering(), strict=True)
    assert verdict.verdict == "no race"
    assert verdict.robustness is not None and verdict.robustness.verdict == "not robust"


def test_awaits_may_be_race_free_and_not_robust() -> None:
    awaits = program("write(x, 1, y, q); await(mem[z] == 0);", "write(x, 0, z, q); await(mem[y] == 0);")
    verdict = races(awaits)
    assert verdict.verdict == "no race"
    assert verdict.robustness is not None and verdict.robustness.verdict == "not robust"
    assert races(awaits, strict=True).verdict == "race"


def test_a_race_does_not_mean_that_it_is_not_robust() -> None:
    racy = program("write(x, 1, y, q);", "r <- mem[y];")
    assert races(racy).verdict == "race" and check(racy).verdict == "robust"


@pytest.mark.usefixtures("any_engine")
def test_a_race_behind_a_violation() -> None:
    """In SC runs one of the two stores at most is come to."""
    behind = store_buffering("if (r == 0) { mem[w @ 0] <- 1; }", "if (r == 0) { mem[w @ 0] <- 2; }")
    verdict = races(behind)
    assert verdict.verdict == "race" and lines(verdict) == [["0 write w@0", "1 write w@0"]]
    assert verdict.robustness is not None and verdict.robustness.verdict == "not robust"
    assert lines(races(behind, engine="definition")) == lines(verdict)


def test_what_lies_beyond_is_searched_within_the_limits() -> None:
    beyond = store_buffering(*("loop { r <- r + 1; }" for _ in range(2)))
    verdict = races(beyond, limits=Limits(max_states=100))
    assert verdict.verdict == "unknown" and isinstance(verdict.reason, StateLimit)
    loop = "loop { update(add, 1, 1, x, u); } r <- mem[y @ 1];"
    racy = program(loop, "mem[y] <- 1;", declarations="memory x, y; register r; queue u unordered;")
    assert races(racy).verdict == "race"


def test_too_many_states_may_have_one_trace() -> None:
    """Nobody conflicts with anybody, which persistent sets see, too; without them the traces do."""
    one = "put(x, me, y, q); r <- mem[z];"
    apart = program(one, nodes=3)

    class Endless:
        """A search with states without end."""

        fault = gave_up = None
        needs_robust = False
        states, transitions, doing = 10**9, 0, ""

        def __init__(self) -> None:
            self.races: dict[object, object] = {}

        def run(self) -> Iterator[None]:
            while True:
                yield

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(race_check, "race_search", lambda *_: Endless())
        assert races(apart).verdict == "no race"
        racy = program("put(x, 1, y, q);", "r <- mem[y];")
        assert races(racy).verdict == races(racy, engine="traces").verdict == "race"
        endless = program("loop { mem[x] <- 1; }")
        given_up = races(endless, limits=Limits(max_states=50))
        assert given_up.verdict == "unknown" and isinstance(given_up.reason, StateLimit)


def test_with_races_the_rest_has_a_limit_of_its_own() -> None:
    more = program("write(x, 1, y, u); write(z, 1, w, u); r <- mem[y @ 1]; s <- mem[w @ 1];",
                   "write(x, 0, y, u); write(z, 0, w, u); r <- mem[y @ 0]; s <- mem[w @ 0];")  # fmt: skip
    whole = races(more, all_=True)
    assert whole.verdict == "race" and whole.reason is None
    cut = races(more, all_=True, limits=Limits(max_sc_states=10))
    assert cut.verdict == "race" and isinstance(cut.reason, LeftUndone) and isinstance(cut.reason.because, ScStateLimit)
    assert {*map(tuple, lines(cut))} <= {*map(tuple, lines(whole))}


@pytest.mark.usefixtures("any_engine")
@pytest.mark.parametrize("engine", race_check.RACE_ENGINES)
def test_faults(engine: str) -> None:
    faulty = program("r <- 1 / r;", "")
    verdict = races(faulty, engine=engine)
    assert verdict.verdict == "error" and isinstance(verdict.reason, FaultReached)
    assert verdict.fault is not None and verdict.fault.fault is not None and verdict.fault.fault.rank == 0


def test_no_program() -> None:
    verdict = races(program("skip;", "skip;"), nodes=3)
    assert verdict.verdict == "error" and verdict.errors


@pytest.mark.parametrize("phase", ["instantiate", "search", "check", "replay"])
def test_the_time_limit_holds_in_every_phase(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    leaping(monkeypatch)
    waiting = program("write(x, 1, y, q);", "await(mem[y] == 1);" if phase == "check" else "r <- mem[y];")
    match phase:
        case "instantiate":
            monkeypatch.setattr(Program, "instantiate", for_ever)
        case "search":
            monkeypatch.setattr(race_check, "race_search", for_ever)
        case "check":
            monkeypatch.setattr("pgasrob.robustness.check.ENGINES", dict.fromkeys(("portfolio",), for_ever))
        case "replay":
            monkeypatch.setattr(race_check, "replay", for_ever)
    verdict = races(waiting, limits=Limits(timeout=60))
    if phase == "replay":  # it was found all the same
        assert verdict.verdict == "race" and isinstance(verdict.reason, LeftUndone)
        assert str(verdict.reason).startswith(
            "two accesses in line 1 race, and the run to them was not replayed: the time"
        )
    else:
        assert verdict.verdict == "unknown" and isinstance(verdict.reason, TimeLimit)
    assert not verdict.races


def test_a_race_is_kept_where_a_limit_ends_its_replay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All outputs know of a race that has no run."""

    def late(*given: object) -> None:
        raise LimitReached(TimeLimit(60, "while replaying the runs to races"))

    monkeypatch.setattr(race_check, "replay", late)
    path = tmp_path / "a.pgas"
    path.write_text(to_source(program("write(x, 1, y, q);", "r <- mem[y];")))
    for command, code, said in (
        ("race", 1, "race on 2 nodes"),
        ("race --all", 1, "race, and the run to them was not replayed"),
        ("race --brief", 1, "race"),
        ("race --format json", 1, '"verdict": "race"'),
        ("race --format csv", 1, "race"),
        ("race --format gcc", 1, "error: race on 2 nodes: lines 8 and 12 race, and the run to them was not replayed"),
        ("race --format github", 1, "was not replayed"),
        ("check --races", 0, "was not replayed"),
        ("check --races --format gcc", 0, "was not replayed"),
    ):
        found = CliRunner().invoke(cli, [*command.split(), str(path)])
        assert not found.exception or isinstance(found.exception, SystemExit), command
        assert found.exit_code == code, (command, found.output)
        assert said in " ".join(found.output.split()), (command, found.output)


def test_what_has_gaps_is_never_without_races() -> None:
    def verdict(*blocks: str) -> RaceVerdict:
        return races(replace(program(*blocks), gaps=("a call of something",)))

    assert isinstance(verdict("write(x, 1, y, q);", "").reason, RunsLeftOut)
    assert verdict("write(x, 1, y, q);", "r <- mem[y];").verdict == "race"


def test_engines() -> None:
    with pytest.raises(ValueError, match="there is search, traces, definition"):
        races(program("skip;"), engine="attack")
