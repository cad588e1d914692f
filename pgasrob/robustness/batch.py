"""Many programs and node counts: finding the files, checking each, comparing with its header."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.expectation import read_expectation
from pgasrob.program.files import DISK, Copies, Files, Recorder, files_below
from pgasrob.program.parser import MAX_FILE, read_source
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.program.reading import DEFAULT_READING, Conflicts, FailedPolls, Reading
from pgasrob.robustness.check import PREPARING, Interrupted, check, load
from pgasrob.robustness.engines import DEFAULT_ENGINE
from pgasrob.robustness.kept import Kept
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import Interruption, LeftUndone, NoProgram, NotAsked, Reason, would_be_the_same
from pgasrob.robustness.verdict import Verdict
from pgasrob.robustness.watch import GRACE, LimitReached, Progress, Watch

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.robustness.headers import Header
    from pgasrob.robustness.store import Store
    from pgasrob.robustness.traces.parts import Found

T = TypeVar("T")

SUFFIXES = (".pgas", ".c")
READING, TELLING = "while reading the program", "while writing the run down"
"""What a check is at, for the reasons when a limit ends it."""

Watcher = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Given a title, a context in which one check runs; what it enters is called with the check's progress."""


def unwatched(title: str) -> AbstractContextManager[None]:
    """The watcher that looks away."""
    return nullcontext()


class Answer(Protocol):
    """The answer to a :class:`Question`; ``robustness``: what it has asked of that."""

    @property
    def verdict(self) -> str: ...
    @property
    def reason(self) -> Reason | None: ...
    @property
    def robustness(self) -> Verdict | None: ...
    def without_runs(self, reason: Reason | None = None) -> Answer:
        """The same without the runs that show it, for a ``reason`` that it gives unless it has one."""
        ...


class Question(Protocol):
    """What else is asked of programs: whether they have races.

    ``robustness``: that is asked "first" and as a whole, or "after" this question and without what it means that a
    program is not robust, or "never".
    """

    @property
    def robustness(self) -> Literal["first", "after", "never"]: ...
    def ask(
        self,
        program: Program | CProgram,
        nodes: int,
        job: Job,
        watch: Watch,
        robustness: Verdict | None,
        instance: Instance | None,
    ) -> Answer:
        """The answer for ``program``, of which ``instance`` is there already, or not. Ctrl-C raises a KeyboardInterrupt
        whose ``verdict`` is what was known."""
        ...


class Decide(Protocol):
    """What decides whether a program is robust: :func:`~pgasrob.robustness.check.check`, or what asks it and then goes
    on; a function of a module, or an object that can be pickled."""

    def __call__(
        self,
        program: Program | CProgram,
        nodes: int | None = None,
        engine: str = DEFAULT_ENGINE,
        *,
        heads: int | None = None,
        reductions: tuple[str, ...] | None = None,
        threads: int | None = None,
        failed_polls: FailedPolls = DEFAULT_READING.failed_polls,
        conflicts: Conflicts = DEFAULT_READING.conflicts,
        found: Sequence[Found] = (),
        effect: bool = True,
        watch: Watch | None = None,
        instance: Instance | None = None,
    ) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What to check every program for; ``expect`` also compares each verdict with the program's own header, or that
    which ``headers`` has for its file, which says the node counts, too.

    ``front_end`` says how C files are read, ``files`` where all are. ``further`` is asked, too.
    ``decide`` decides, for the ``machine`` whose expectation a verdict is compared with, where headers have one for it:
    "tso", or none. ``every_count``: what decides answers for every number of nodes at once. ``kept``: results that are
    there already, and where further ones go.
    """

    nodes: tuple[int, ...] | None = None
    engine: str = DEFAULT_ENGINE
    limits: Limits = field(default_factory=Limits)
    heads: int | None = None
    expect: bool = False
    headers: Mapping[str, Header] | None = None
    reductions: tuple[str, ...] | None = None
    threads: int | None = None
    front_end: FrontEnd | None = None
    reading: Reading = DEFAULT_READING
    files: Files = DISK
    further: Question | None = None
    decide: Decide = check
    machine: str = ""
    every_count: bool = False
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on ``file`` at one node count.

    Under ``compared``, ``expected`` is what the header says about that count, None when it says nothing, and
    ``header_errors`` what is wrong with it; ``expected_races`` is the same for races. ``interrupted``: the verdict is
    what was known at Ctrl-C. ``further``: the answer to the further question; None where there is no such question,
    or ``verdict`` says why there is no answer: an `error`, or a limit.
    """

    file: str
    verdict: Verdict
    compared: bool = False
    expected: str | None = None
    header_errors: tuple[Diagnostic, ...] = ()
    interrupted: bool = False
    further: Answer | None = None
    expected_races: str | None = None

    def without_runs(self) -> Checked:
        """The same without the runs that show it, which are large."""
        effect = self.verdict.effect and replace(self.verdict.effect, run=None)
        on_tso = self.verdict.on_tso and replace(self.verdict.on_tso, run=None)
        verdict = replace(
            self.verdict, witness=None, assertion_run=None, deadlock_run=None, effect=effect, on_tso=on_tso
        )
        return replace(self, verdict=verdict, further=self.further and self.further.without_runs())

    @property
    def would_be_the_same(self) -> bool:
        """Whether another check of the same would find the same."""
        answers = [self.verdict, self.verdict.effect, self.further, self.further and self.further.robustness]
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


def check_all(files: Sequence[str], job: Job, watch: Watcher = unwatched) -> Iterator[Checked]:
    """Check every file at every node count of ``job``, in order, each result as it comes.

    On Ctrl-C the result of the check at work is what was known by then, and KeyboardInterrupt follows it.
    """
    return told_all(files, job, lambda checked: checked, watch)


def told_all(
    files: Sequence[str], job: Job, convert: Callable[[Checked], T], watch: Watcher = unwatched
) -> Iterator[T]:
    """As :func:`check_all`, each result as ``convert`` makes it."""
    with closing(Checker(job)) as checker:
        for task in tasks(files, job):
            if (kept := checker.kept(task)) is not None:
                yield kept
            elif (checked := checker.check(task, watch)) is not None:
                told = checker.told(checked, convert)
                checker.keep(checked, told)
                yield told
                if checked.interrupted:
                    raise KeyboardInterrupt


def asked(job: Job, what: str) -> str:
    """All of ``job`` that its results depend on, beside the files and how they are read; ``what`` is made of them.

    Limits of memory do not count: what they have ended is asked again (:attr:`Checked.would_be_the_same`).
    """
    decide = f"{job.decide.__module__}.{job.decide.__qualname__}"  # type: ignore[attr-defined]  # a function
    limits = replace(job.limits, memory=None)
    expected = job.expect if job.headers is None else sorted(job.headers.items())
    return repr((what, job.engine, limits, job.heads, expected, job.reductions, job.reading, job.further, decide))


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


class Checker:
    """Does the tasks of a job one by one; a file is read once for all its node counts.

    ``nodes`` is the node count of the task at work, once it is known. ``found``: see
    :func:`~pgasrob.robustness.check.check`.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.nodes: int | None = None
        self.found: Sequence[Found] = ()
        self._watch = Watch(job.limits, None, time.monotonic())
        self._file: str | None = None
        self._program: Program | CProgram | Verdict | None = None
        self._store: Store | None = None
        self._copied: tuple[str, Copies] | None = None
        self._key: str | None = None

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def kept(self, task: Task) -> Any:
        """The result of ``task`` that is kept; None where there is none. Raises
        :class:`~pgasrob.robustness.kept.KeptError`.

        What is checked if there is none is what has been looked at here, whatever becomes of the files meanwhile.
        """
        job, file, self._key = self.job, task.file, None
        if job.kept is None:
            return None
        if self._copied is None or self._copied[0] != file:
            self._copied = None
            try:
                found = Watch(job.limits, None, time.monotonic()).within(READING, lambda: self._read(file))
            except LimitReached:  # as the check will say
                return None
            self._copied = file, found
        if self._store is None:
            from pgasrob.robustness.store import Store

            self._store = Store(job.kept.path)
        front_end = job.front_end if file.endswith(".c") else None
        self._key = job.kept.key(file, task.nodes, front_end, self._copied[1])
        return self._store.get(self._key)

    def _read(self, file: str) -> Copies:
        """All that the program in ``file`` is read from."""
        recorder = Recorder()
        if file.endswith(".c"):  # only when it has been loaded it is known what that is
            self._program = None
            self._file, self._program = file, _load(file, self.job, recorder)
        else:
            with suppress(SourceError):
                read_source(file, recorder)
        return Copies(recorder.kept)

    def keep(self, checked: Checked, told: object) -> None:
        """Keep what is ``told`` of the latest task, whose result is ``checked``, if another check would say the same.
        Raises :class:`~pgasrob.robustness.kept.KeptError`."""
        if self._store is not None and self._key is not None and checked.would_be_the_same:
            self._store.put(self._key, told)

    @property
    def _files(self) -> Files:
        """Where the task at work is read from."""
        return self.job.files if self._key is None or self._copied is None else self._copied[1]

    def check(self, task: Task, watch: Watcher) -> Checked | None:
        """The result of ``task``; None when the file is no program and its first task has told that.

        Ctrl-C ends the check, with a result that says so.
        """
        job = self.job
        limits = self._watch = Watch(job.limits, None, time.monotonic())
        try:
            program = limits.within(READING, lambda: self.load(task.file))
            if isinstance(program, Verdict):
                return self.checked(task.file, program) if task.first else None
            self.nodes = task.nodes or program.nodes or DEFAULT_NODES
            counts = "every number of" if self.job.every_count else self.nodes
            with watch(f"{task.title}, {counts} nodes") as limits.progress:
                return self.decided(task.file, program, self.nodes)
        except LimitReached as limit:
            return self.unknown(task.file, task.nodes, limit.reason)
        except KeyboardInterrupt:
            return replace(self.unknown(task.file, task.nodes, Interruption()), interrupted=True)

    def decided(self, file: str, program: Program | CProgram, nodes: int) -> Checked:
        """Ask what the job asks of ``program``, one question after the other."""
        question, watch = self.job.further, self._watch
        verdict = Verdict(file, program.name, nodes, self.job.engine, "unknown", NotAsked(), reading=self.job.reading)
        answer: Answer | None = None
        instance: Instance | None = None
        try:
            if question is not None:
                # Both questions are about one instance. What is wrong with it is for the first of them to say.
                with suppress(SourceError, LimitReached, MemoryError):
                    instance = watch.within(PREPARING, lambda: program.instantiate(nodes, self.job.reading))
            if question is None or question.robustness == "first":
                verdict = self._robustness(program, nodes, watch, True, instance)
            if question is not None and verdict.verdict != "error":
                known = verdict if question.robustness == "first" else None
                answer = question.ask(program, nodes, self.job, watch, known, instance)
                if question.robustness == "after" and answer.verdict != "error":
                    verdict = answer.robustness or self._robustness(program, nodes, watch, False, instance)
        except Interrupted as interrupt:
            return replace(self.checked(file, interrupt.verdict, answer), interrupted=True)
        except KeyboardInterrupt as interrupt:
            found: Answer | None = getattr(interrupt, "verdict", answer)
            return replace(self.checked(file, replace(verdict, reason=Interruption()), found), interrupted=True)
        return self.checked(file, verdict, answer)

    def _robustness(
        self, program: Program | CProgram, nodes: int, watch: Watch, effect: bool, instance: Instance | None
    ) -> Verdict:
        job = self.job
        return job.decide(
            program,
            nodes,
            job.engine,
            heads=job.heads,
            reductions=job.reductions,
            threads=job.threads,
            failed_polls=job.reading.failed_polls,
            conflicts=job.reading.conflicts,
            found=self.found,
            effect=effect,
            watch=watch,
            instance=instance,
        )

    def told(self, checked: Checked, convert: Callable[[Checked], T]) -> T:
        """``checked``, of the latest task, as ``convert`` makes it; without its runs when a limit ends that."""
        try:
            return self._watch.within(TELLING, lambda: convert(checked), GRACE)
        except LimitReached as limit:
            reason = checked.verdict.reason or LeftUndone("the run is not shown", limit.reason)
            without = checked.without_runs()
            self._key = None  # it is not kept without them
            further = without.further and without.further.without_runs(reason)
            return convert(replace(without, verdict=replace(without.verdict, reason=reason), further=further))

    def unknown(self, file: str, nodes: int | None, reason: Reason) -> Checked:
        """The result of a check that came to nothing."""
        return self.checked(
            file, Verdict(file, None, nodes, self.job.engine, "unknown", reason, reading=self.job.reading)
        )

    def checked(self, file: str, verdict: Verdict, further: Answer | None = None) -> Checked:
        """``verdict`` and the answer to the ``further`` question, compared with the header of the program if that is
        part of the job."""
        if not self.job.expect:
            return Checked(file, verdict, further=further)
        try:
            if self.job.headers is None:
                expectation = read_expectation(read_text(file, self._files), file)
            else:
                header = self.job.headers.get(file)
                expectation = read_expectation(header.text, header.path) if header else None
        except SourceError as error:
            return Checked(file, verdict, True, None, tuple(error.diagnostics), further=further)
        # A text that is no program has no node count; its header is read as that of a program on the default count.
        machine = self.job.machine
        expected = None
        if expectation:
            expected = expectation.at("all" if verdict.every else verdict.nodes, verdict.reading, machine)
        expected_races = expectation.races_at(verdict.nodes) if expectation and self.job.further else None
        return Checked(file, verdict, True, expected, further=further, expected_races=expected_races)

    def load(self, file: str) -> Program | CProgram | Verdict:
        """The program in ``file``, or the verdict `error` that says why there is none."""
        if self._program is None or file != self._file:
            self._program = None
            self._file, self._program = file, _load(file, self.job, self._files)
        return self._program


def read_text(file: str, files: Files = DISK) -> str:
    """The text of ``file`` as far as it can be read; a file that is no program may still have a header."""
    try:
        return files.read(str(Path(file)), MAX_FILE).decode(errors="replace")
    except (OSError, ValueError):
        return ""


def _load(file: str, job: Job, files: Files) -> Program | CProgram | Verdict:
    """The program in ``file``, or the verdict `error` that says why there is none."""
    try:
        return load(file, job.front_end, files)
    except SourceError as error:
        found = tuple(error.diagnostics)
        return Verdict(file, None, None, job.engine, "error", NoProgram(found[0].message), errors=found)
