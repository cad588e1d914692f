"""The checks that a batch is asked to do, and the result of each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pgasrob.diagnostics import Diagnostic
from pgasrob.program.files import DISK, Files, files_below
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import (
    AboutRobustness,
    EngineChoice,
    ProgramFile,
    Question,
    Races,
    Resources,
    Robustness,
    RobustnessOnEveryCount,
    RobustnessOnTso,
)
from pgasrob.robustness.reasons import would_be_the_same
from pgasrob.robustness.verdict import Verdict

if TYPE_CHECKING:
    from pgasrob.batch.headers import Header
    from pgasrob.batch.kept import Kept
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.races.race_verdict import RaceVerdict

SUFFIXES = (".pgas", ".c")


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked of every program, at each of ``nodes`` (its own count when None).

    ``asked`` about robustness, and ``races`` besides. ``expect`` also compares each verdict with the program's own
    header, or that which ``headers`` has for its file, which says the node counts, too. ``front_end`` says how C files
    are read, ``files`` where all are. ``kept``: results that are there already, and where further ones go. The rest is
    as of a :class:`~pgasrob.robustness.question.Question`.
    """

    nodes: tuple[int, ...] | None = None
    asked: AboutRobustness = field(default_factory=Robustness)
    races: Races | None = None
    engine: EngineChoice = field(default_factory=EngineChoice)
    reading: Reading = DEFAULT_READING
    limits: Limits = field(default_factory=Limits)
    resources: Resources = field(default_factory=Resources)
    front_end: FrontEnd | None = None
    files: Files = DISK
    expect: bool = False
    headers: Mapping[str, Header] | None = None
    kept: Kept | None = None

    def question(self, file: str, nodes: int | None, files: Files | None = None) -> Question:
        """What is asked about the program in ``file``, which is read from ``files``."""
        program = ProgramFile(file, self.front_end, self.files if files is None else files)
        return Question(program, nodes, self.asked, self.reading, self.engine, self.limits, self.resources)

    @property
    def every_count(self) -> bool:
        """Whether the answers are about every number of nodes at once."""
        return isinstance(self.asked, RobustnessOnEveryCount)

    @property
    def machine(self) -> str:
        """The machine whose expectation in headers verdicts are compared with, where there is one: "tso", or ""."""
        return "tso" if isinstance(self.asked, RobustnessOnTso) else ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on ``file`` at one node count.

    Under ``compared``, ``expected`` is what the header says about that count, None when it says nothing, and
    ``header_errors`` what is wrong with it; ``expected_races`` is the same for races, and ``expected_synchronised``
    where it was asked whether the program is correctly synchronised. ``interrupted``: the verdict is what was known at
    Ctrl-C. ``races``: the answer about races; None where they were not asked for, or ``verdict`` says why there is no
    answer: an `error`, or a limit.
    """

    file: str
    verdict: Verdict
    compared: bool = False
    expected: str | None = None
    header_errors: tuple[Diagnostic, ...] = ()
    interrupted: bool = False
    races: RaceVerdict | None = None
    expected_races: str | None = None
    expected_synchronised: str | None = None

    def without_runs(self) -> Checked:
        """The same without the runs that show it, which are large."""
        effect = self.verdict.effect and replace(self.verdict.effect, run=None)
        on_tso = self.verdict.on_tso and replace(self.verdict.on_tso, run=None)
        verdict = replace(
            self.verdict,
            witness=None,
            assertion_run=None,
            deadlock_run=None,
            illegal_calls=tuple(replace(each, run=None) for each in self.verdict.illegal_calls),
            effect=effect,
            on_tso=on_tso,
            races=self.verdict.races and self.verdict.races.without_runs(),
        )
        return replace(self, verdict=verdict, races=self.races and self.races.without_runs())

    @property
    def would_be_the_same(self) -> bool:
        """Whether another check of the same would find the same."""
        answers = [
            self.verdict,
            self.verdict.effect,
            self.verdict.races,
            self.races,
            self.races and self.races.robustness,
        ]
        reasons = [each.reason for each in answers if each is not None]
        return not self.interrupted and all(map(would_be_the_same, reasons))


class Task(NamedTuple):
    """One check of a batch: a file at a node count (the program's own when None); ``title`` is for a display.

    A file that is no program has one result and not one per count, which comes with its ``first`` task.
    """

    file: str
    nodes: int | None
    title: str
    first: bool


def find_programs(paths: Sequence[str], others: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The files that ``paths`` stand for, each once, in order; and what is wrong with folders among them.

    Folders are searched for programs, hidden files and folders left out. ``others``: the suffixes of what the caller
    looks for besides.
    """
    files: list[str] = []
    problems: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(str(Path(path)))
            continue
        refused: list[OSError] = []
        found = sorted(files_below(path, SUFFIXES, refused.append))
        problems += [f"cannot read the folder {error.filename}: {error.strerror}" for error in refused]
        if not found and not refused:
            *kinds, last = (*SUFFIXES, *others)
            problem = f"no {', '.join(kinds)} or {last} file in the folder {path}"
            if next(files_below(path, (".litmus",)), None):
                problem += ": `pgasrob check --network` takes the litmus tests there"
            problems.append(problem)
        files += map(str, found)
    return list(dict.fromkeys(files)), problems


def asked(job: Job, what: str) -> str:
    """A text of all of ``job`` that its results depend on, beside the files and how they are read; ``what``: the form
    of the results.

    Limits of memory do not count: what they have ended is asked again (:attr:`Checked.would_be_the_same`).
    """
    limits = replace(job.limits, memory=None)
    expected = job.expect if job.headers is None else sorted(job.headers.items())
    return repr((what, job.asked, job.races, job.engine, limits, expected, job.reading))


def tasks(files: Sequence[str], job: Job) -> list[Task]:
    """The checks of ``job``, in order."""
    return [
        Task(file, nodes, f"[{number}/{len(files)}] {file}", place == 0)
        for number, file in enumerate(files, start=1)
        for place, nodes in enumerate(_counts(file, job))
    ]


def _counts(file: str, job: Job) -> Sequence[int | None]:
    """The node counts to check ``file`` at; None: its own, or every number of nodes."""
    header = job.headers.get(file) if job.headers is not None and not job.every_count else None
    return job.nodes or (header.counts if header else (None,))
