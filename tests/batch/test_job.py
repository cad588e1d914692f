"""Jobs: which checks there are, what is asked in each, and on what a result depends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgasrob.batch.headers import Header
from pgasrob.batch.job import Job, Task, asked, find_programs, tasks
from pgasrob.program.reading import LITERAL_READING
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import (
    EngineChoice,
    ProgramFile,
    Races,
    Resources,
    RobustnessOnEveryCount,
    RobustnessOnTso,
)

LIMITS = Limits(memory=None)


def test_a_task_for_each_file_and_count() -> None:
    assert tasks(["a", "b"], Job((2, 3), limits=LIMITS)) == [
        Task("a", 2, "[1/2] a", True), Task("a", 3, "[1/2] a", False),
        Task("b", 2, "[2/2] b", True), Task("b", 3, "[2/2] b", False),
    ]  # fmt: skip
    assert tasks(["a"], Job(limits=LIMITS)) == [Task("a", None, "[1/1] a", True)]


@pytest.mark.parametrize(
    ("job", "counts"),
    [
        (Job(limits=LIMITS), [4, 5]),
        (Job((2,), limits=LIMITS), [2]),
        (Job(asked=RobustnessOnEveryCount(), limits=LIMITS), [None]),
    ],
)
def test_a_header_of_a_key_says_the_counts_unless_others_do(job: Job, counts: list[int | None]) -> None:
    job = replace(job, headers={"a": Header("key/a", "", (4, 5))})
    assert [task.nodes for task in tasks(["a"], job)] == counts
    assert [task.nodes for task in tasks(["b"], job)] == ([2] if counts == [2] else [None])


def test_what_is_asked_in_one_check() -> None:
    job = Job(asked=RobustnessOnTso(), engine=EngineChoice("attack"), reading=LITERAL_READING, limits=LIMITS)
    question = job.question("a.pgas", 3)
    assert (question.program, question.nodes) == (ProgramFile("a.pgas"), 3)
    assert (question.asked, question.engine, question.reading) == (job.asked, job.engine, LITERAL_READING)
    assert (job.machine, job.every_count) == ("tso", False)
    assert (Job(asked=RobustnessOnEveryCount()).machine, Job(asked=RobustnessOnEveryCount()).every_count) == ("", True)


def test_on_what_a_result_depends() -> None:
    """Not on how much machine there is, as no answer does."""
    job = Job((2,), limits=LIMITS)
    others = (
        replace(job, asked=RobustnessOnTso()),
        replace(job, races=Races()),
        replace(job, races=Races(strict=True)),
        replace(job, engine=EngineChoice("attack")),
        replace(job, engine=EngineChoice("attack", reductions=())),
        replace(job, limits=Limits(max_states=7, memory=None)),
        replace(job, reading=LITERAL_READING),
        replace(job, expect=True),
        replace(job, headers={"a": Header("key/a", "// expect: robust", (2,))}),
    )
    assert len({asked(each, "check") for each in (job, *others)}) == len(others) + 1
    assert asked(job, "check") != asked(job, "race")
    same = replace(job, limits=Limits(memory=5), resources=Resources(3, 4, "tcp://x:1"), nodes=(2, 3))
    assert asked(same, "check") == asked(job, "check")


def test_which_files_are_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b/x.pgas", "b/a.c", "b/.hidden.c", "b/notes.txt", "c/t.litmus", "d/empty.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    assert find_programs(["b", "b/a.c", "absent.c"]) == (["b/a.c", "b/x.pgas", "absent.c"], [])
    files, (problem,) = find_programs(["c"])
    assert not files and problem == (
        "no .pgas or .c file in the folder c: `pgasrob check --network` takes the litmus tests there"
    )
    assert find_programs(["d"], others=[".litmus"])[1] == ["no .pgas, .c or .litmus file in the folder d"]
