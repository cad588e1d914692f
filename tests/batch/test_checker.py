"""Many programs: the same results in the same order on one process and on several, whatever happens to one of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pgasrob.batch import workers
from pgasrob.batch.checker import Checker
from pgasrob.batch.job import Checked, Job
from pgasrob.batch.side_by_side import convert_all
from pgasrob.races import race_check
from pgasrob.render.verdict_json import checked_to_json
from pgasrob.robustness.engine import InOnePart, Violation, WithoutFacts
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import EngineChoice, Races, Resources
from pgasrob.robustness.reasons import (
    InternalError,
    Interruption,
    NoProgram,
    NotAsked,
    OutOfMemory,
    Reason,
    SpinFailed,
    StateLimit,
    WorkerDied,
)
from pgasrob.robustness.session import Interrupted
from pgasrob.robustness.verdict import Verdict
from pgasrob.robustness.watch import Progress
from tests.support import check_all

ROOT = Path(__file__).parents[2]
forks = pytest.mark.skipif(workers.START != "fork", reason="what is patched here is there only in a fork")


def told(checked: Checked) -> tuple[str, int | None, str, Reason | None]:
    return checked.file, checked.verdict.nodes, checked.verdict.verdict, checked.verdict.reason


@dataclass(frozen=True)
class Replied:
    """In place of an answer about races: whether it was known if the program is robust."""

    verdict: str
    robustness: Verdict | None = None


def replies(decision: Any) -> Replied:
    bad = decision._session.question.name == "bad"
    return Replied("error" if bad else "known" if decision._robustness else "asked")


@pytest.mark.parametrize(
    ("when", "verdicts", "answers"),
    [
        ("first", ["robust", "robust", "error"], ["known", "error", None]),
        ("after", ["robust", "unknown", "error"], ["asked", "error", None]),
        ("never", ["unknown", "unknown", "error"], ["asked", "error", None]),
    ],
)
def test_races_are_asked_besides(
    when: Any, verdicts: list[str], answers: list[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an error nothing more is asked, and what is not asked has no answer."""
    monkeypatch.setattr(race_check.RaceDecision, "verdict", replies)
    files = [str(tmp_path / f"{name}.pgas") for name in ("good", "bad", "wrong")]
    for file in files[:2]:
        Path(file).write_text(f"program {Path(file).stem}; process {{ skip; }}")
    found = list(check_all(files, Job(races=Races(robustness=when))))
    assert [one.verdict.verdict for one in found] == verdicts
    assert [one.races and one.races.verdict for one in found] == answers
    if when == "never":
        assert isinstance(found[0].verdict.reason, NotAsked)


def test_ctrl_c_keeps_the_answer_about_races(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise Interrupted(Replied("cut"))

    monkeypatch.setattr(race_check.RaceDecision, "verdict", interrupted)
    (tmp_path / "p.pgas").write_text("process { skip; }")
    results = check_all([str(tmp_path / "p.pgas")], Job(races=Races()))
    one = next(results)
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert one.interrupted and one.races == Replied("cut")
    assert isinstance(one.verdict.reason, Interruption)


class Fake(WithoutFacts, InOnePart):
    """An engine that does to the program what its name says, after a time that gets shorter with every program."""

    states = transitions = 0
    doing = ""
    violation: Violation | None = None
    gave_up: Reason | None = None

    def __init__(self, instance: Any, settings: Any) -> None:
        self.name = instance.program.name
        self.delay = 0.3 / instance.nodes

    def run(self) -> Iterator[None]:
        if self.name == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.name == "exits":
            os._exit(7)
        elif self.name == "raises":
            raise ValueError("something is wrong")
        elif self.name == "endless":
            while True:
                time.sleep(0.01)
                self.states += 1
                yield
        elif self.name in ("left", "right"):
            self.meet("left" if self.name == "right" else "right")
        time.sleep(self.delay)
        yield

    def meet(self, other: str) -> None:
        """Wait for the check of ``other`` to begin."""
        Path(self.name).touch()
        until = time.monotonic() + 60
        while not Path(other).exists():
            if time.monotonic() > until:
                self.gave_up = SpinFailed("nobody there")
                return
            time.sleep(0.01)


def fake(jobs: int, **options: Any) -> Job:
    """Work for the fake engine on so many processes."""
    return Job(engine=EngineChoice("fake"), resources=Resources(jobs=jobs), **options)


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(ENGINES, "fake", Fake)
    monkeypatch.chdir(tmp_path)
    for name in ("fine", "good", "killed", "exits", "raises", "endless", "left", "right"):
        Path(f"{name}.pgas").write_text(f"// expect: robust\nprogram {name}; process {{ }}")
    Path("none.pgas").write_text("process {")
    return tmp_path


def test_several_processes_say_what_one_says() -> None:
    files = sorted(map(str, (ROOT / "programs/one_to_one").glob("*.pgas")))
    files += sorted(map(str, (ROOT / "programs/faults").glob("*.pgas")))
    one, two = (
        [{**result, "stats": None} for result in convert_all(files, job, checked_to_json)]
        for job in (Job((1, 2, 3), expect=True, resources=Resources(jobs=jobs)) for jobs in (1, 2))
    )
    assert len(one) == 3 * len(files) > 20
    assert one == two


@forks
@pytest.mark.parametrize("jobs", [1, 2, 3, 9])
def test_results_come_in_the_order_given(fakes: Path, jobs: int) -> None:
    """The later ones take less time, and a file that is no program has one result."""
    job = fake(jobs, nodes=(1, 3, 9))
    found = list(convert_all(["fine.pgas", "none.pgas", "good.pgas"], job, told))
    assert [(file, nodes) for file, nodes, _, _ in found] == [
        ("fine.pgas", 1), ("fine.pgas", 3), ("fine.pgas", 9), ("none.pgas", None),
        ("good.pgas", 1), ("good.pgas", 3), ("good.pgas", 9),
    ]  # fmt: skip


@forks
def test_results_come_as_soon_as_they_can(fakes: Path) -> None:
    ended = []

    @contextmanager
    def watch(title: str) -> Iterator[None]:
        yield
        ended.append(title)

    job = fake(2, limits=Limits(timeout=20))
    results = convert_all(["fine.pgas", "endless.pgas"], job, told, watch)
    assert next(results) == ("fine.pgas", 2, "robust", None)
    assert not any("endless" in title for title in ended)
    results.close()  # type: ignore[attr-defined]


@forks
def test_checks_run_side_by_side(fakes: Path) -> None:
    """Each waits for the other to begin."""
    found = list(convert_all(["left.pgas", "right.pgas"], fake(2), told))
    assert [(verdict, reason) for _, _, verdict, reason in found] == [("robust", None)] * 2


@forks
@pytest.mark.parametrize(("name", "reason"), [
    ("killed", WorkerDied("was ended by SIGKILL, as happens when memory runs out")),
    ("exits", WorkerDied("ended with code 7")),
])  # fmt: skip
def test_a_process_that_dies_costs_one_result(fakes: Path, name: str, reason: Reason) -> None:
    files = ["fine.pgas", f"{name}.pgas", "good.pgas"]
    for jobs in (2, 3):
        assert list(convert_all(files * 2, fake(jobs), told)) == 2 * [
            ("fine.pgas", 2, "robust", None), (f"{name}.pgas", 2, "unknown", reason), ("good.pgas", 2, "robust", None),
        ]  # fmt: skip
    (compared,) = [
        result for result in convert_all(files, fake(2, nodes=(3,), expect=True), checked_to_json)
        if result["file"] == f"{name}.pgas"
    ]  # fmt: skip
    assert (compared["nodes"], compared["verdict"], compared.get("expected")) == (3, "unknown", "robust")


@forks
@pytest.mark.parametrize("jobs", [1, 3])
def test_an_internal_error_is_the_result_of_one_file(fakes: Path, jobs: int) -> None:
    """Of 100 files 99 have their results, and the error says what to report."""
    names = [f"fine{number}" for number in range(100)]
    names[40] = "raises"
    for name in names:
        expected = "error" if name == "raises" else "robust"
        Path(f"{name}.pgas").write_text(f"// expect: {expected}\nprogram {name}; process {{ }}")
    job = fake(jobs, nodes=(200,), expect=True)
    found = list(convert_all([f"{name}.pgas" for name in names], job, checked_to_json))
    wrong = found.pop(40)
    assert [(result["verdict"], result.get("as_expected")) for result in found] == [("robust", True)] * 99
    assert (wrong["verdict"], wrong["nodes"], wrong.get("reason_code")) == ("error", 200, "internal-error")
    assert wrong.get("as_expected") is False, "the error that a header expects is another one"
    (error,) = wrong["errors"]
    assert (error["code"], error["message"]) == ("PG190", "internal error: ValueError: something is wrong")
    assert "please report it" in str(error["hint"])


def test_what_cannot_be_converted_is_an_internal_error(fakes: Path) -> None:
    def converted(checked: Checked) -> Any:
        if checked.verdict.verdict == "robust":
            raise IndexError("out of range")
        return checked.verdict

    first, second = convert_all(["fine.pgas", "none.pgas"], fake(1), converted)
    assert (first.verdict, first.reason) == ("error", InternalError("internal error: IndexError: out of range"))
    assert second.verdict == "error" and isinstance(second.reason, NoProgram)


@forks
@pytest.mark.parametrize("jobs", [1, 2])
def test_without_memory_one_file_is_unknown(fakes: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    def load(self: Checker, file: str) -> Any:
        if file == "good.pgas":
            raise MemoryError
        return loading(self, file)

    loading = Checker.load
    monkeypatch.setattr(Checker, "load", load)
    found = list(convert_all(["fine.pgas", "good.pgas", "fine.pgas"], fake(jobs), told))
    assert [(verdict, reason) for _, _, verdict, reason in found] == [
        ("robust", None), ("unknown", OutOfMemory()), ("robust", None),
    ]  # fmt: skip


def test_an_internal_error_is_not_kept(fakes: Path) -> None:
    (found,) = check_all(["raises.pgas"], fake(1))
    assert found.verdict.verdict == "error" and not found.would_be_the_same


@forks
def test_no_process_is_left_behind(fakes: Path) -> None:
    import multiprocessing

    list(convert_all(["fine.pgas", "killed.pgas", "good.pgas"], fake(2), told))
    results = convert_all(["fine.pgas", "endless.pgas"], fake(2), told)
    next(results)
    assert multiprocessing.active_children()
    results.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@forks
@pytest.mark.parametrize(
    ("jobs", "when"),
    [(1, {"fake 2"}), (2, {"fake 2", "fake 4"}), (3, {"fake 2", "fake 4", "end 5"})],
)
def test_ctrl_c_ends_it_with_what_is_known(
    fakes: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, when: set[str]
) -> None:
    """It comes while the last ones are at work."""
    monkeypatch.setattr(workers, "GRACE", 60.0)
    files = ["fine.pgas", "endless.pgas", "good.pgas", "endless.pgas", "fine.pgas"]
    news: set[str] = set()

    @contextmanager
    def watch(title: str) -> Iterator[Any]:
        number = title[1]
        yield lambda progress: note(f"{progress.phase} {number}")
        note(f"end {number}")

    def note(what: str) -> None:
        news.add(what)
        if when <= news and "interrupted" not in news:
            news.add("interrupted")
            os.kill(os.getpid(), signal.SIGINT)

    found: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        # With the limit it ends one way or the other, and that tells which.
        found.extend(convert_all(files, fake(jobs, limits=Limits(timeout=120)), told, watch))
    known = [("fine.pgas", 2, "robust", None), ("endless.pgas", 2, "unknown", Interruption())]
    more = [("good.pgas", 2, "robust", None), ("endless.pgas", 2, "unknown", Interruption())]
    last = [("fine.pgas", 2, "robust", None)]
    assert found == {1: known, 2: known + more, 3: known + more + last}[jobs]


@forks
def test_progress_is_told_from_afar(fakes: Path) -> None:
    titles: list[str] = []
    seen: list[Progress] = []

    @contextmanager
    def watch(title: str) -> Iterator[Any]:
        titles.append(title)
        yield seen.append

    job = fake(2, limits=Limits(max_states=100))
    found = list(convert_all(["endless.pgas", "fine.pgas"], job, told, watch))
    assert [reason for _, _, _, reason in found] == [StateLimit(100), None]
    assert sorted(titles) == ["[1/2] endless.pgas, 2 nodes", "[2/2] fine.pgas, 2 nodes"]
    assert len([snapshot for snapshot in seen if snapshot.phase == "fake"]) >= 3


def test_what_is_known_without_its_runs() -> None:
    (checked,) = check_all([str(ROOT / "programs/one_to_one/one_to_one.pgas")], Job())
    assert checked.verdict.witness is not None
    slim = checked.without_runs()
    assert slim.verdict.verdict == "not robust" and slim.verdict.stats == checked.verdict.stats
    assert slim.verdict.witness is None


def test_what_comes_from_a_pipe_is_refused_once() -> None:
    """Nobody may ever write to it, and whoever reads it second finds nothing."""
    here, there = os.pipe()
    try:
        found = list(convert_all([f"/dev/fd/{here}"], Job((2, 3), resources=Resources(jobs=2)), told))
    finally:
        os.close(here)
        os.close(there)
    assert [result[1:3] for result in found] == [(None, "error")]
