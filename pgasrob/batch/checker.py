"""Does the checks of a job one by one: reads each program, answers, and compares with its header."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pgasrob.batch.answer import about_robustness
from pgasrob.batch.job import Checked, Job, Task, tasks
from pgasrob.batch.kept import KeptError
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.program.expectation import read_expectation
from pgasrob.program.files import Copies, Files, Recorder
from pgasrob.program.parser import read_source, read_text
from pgasrob.program.program import Program
from pgasrob.robustness.question import ProgramFile, Robustness, node_count
from pgasrob.robustness.reasons import InternalError, Interruption, LeftUndone, NoProgram, NotAsked, OutOfMemory, Reason
from pgasrob.robustness.session import LOWERING, READING, Interrupted, Session
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.verdict import LINES, Verdict
from pgasrob.robustness.watch import GRACE, Watch, Watcher, unwatched

if TYPE_CHECKING:
    from pgasrob.batch.store import Store
    from pgasrob.frontends.lower import CProgram
    from pgasrob.races.race_verdict import RaceVerdict

T = TypeVar("T")

WRITING = "while writing the run down"


def convert_each(
    files: Sequence[str], job: Job, convert: Callable[[Checked], T], watch: Watcher = unwatched
) -> Iterator[T]:
    """Check every file at every node count of ``job``, in order, each result as it comes, as ``convert`` makes it.

    On Ctrl-C the result of the check at work is what was known by then, and KeyboardInterrupt follows it.
    """
    with closing(Checker(job)) as checker:
        for task in tasks(files, job):
            interrupted = False
            try:
                result = checker.kept(task)
                if result is None and (checked := checker.check(task, watch)) is not None:
                    result = checker.converted(checked, convert)
                    checker.keep(checked, result)
                    interrupted = checked.interrupted
            except (KeptError, BrokenPipeError):
                raise
            except Exception as error:
                result = convert(checker.ended_by(error, task))
            if result is not None:
                yield result
            if interrupted:
                raise KeyboardInterrupt


class Checker:
    """Does the tasks of a job one by one; a file is read once for all its node counts.

    ``nodes`` is the node count of the task at work, once it is known. ``found``: as of an
    :class:`~pgasrob.robustness.question.EngineChoice`.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.nodes: int | None = None
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
        :class:`~pgasrob.batch.kept.KeptError`.

        What is checked if there is none is what has been looked at here, whatever becomes of the files meanwhile.
        """
        job, file, self._key = self.job, task.file, None
        if job.kept is None:
            return None
        if self._copied is None or self._copied[0] != file:
            self._copied = None
            with until_limit():
                self._copied = file, Watch(job.limits, None, time.monotonic()).within(READING, lambda: self._read(file))
            if self._copied is None:
                return None  # the check will report the limit
        if self._store is None:
            from pgasrob.batch.store import Store

            self._store = Store(job.kept)
        front_end = job.front_end if file.endswith(".c") else None
        self._key = job.kept.key(file, task.nodes, front_end, self._copied[1])
        return self._store.get(self._key, file if task.nodes is None else f"{file} on {task.nodes} nodes")

    def _read(self, file: str) -> Copies:
        """Copies of all that the program in ``file`` is read from."""
        recorder = Recorder()
        if file.endswith(".c"):  # only when it has been loaded it is known what that is
            self._program = None
            self._file, self._program = file, self._loaded(file, recorder)
        else:
            with suppress(SourceError):
                read_source(file, recorder)
        return Copies(recorder.kept)

    def keep(self, checked: Checked, converted: object) -> None:
        """Keep the result of the latest task as it was ``converted``, if another check would find the same."""
        if self._store is not None and self._key is not None and checked.would_be_the_same:
            self._store.put(self._key, converted)

    @property
    def _files(self) -> Files:
        """The files that the task at work is read from."""
        return self.job.files if self._key is None or self._copied is None else self._copied[1]

    def check(self, task: Task, watcher: Watcher) -> Checked | None:
        """The result of ``task``; None when the file is no program, which its first task has reported.

        Ctrl-C ends the check, with a result that says so.
        """
        job, self.nodes = self.job, None
        watch = self._watch = Watch(job.limits, None, time.monotonic())
        try:
            with until_limit() as stopped:
                program = watch.within(READING, lambda: self.load(task.file))
                if isinstance(program, Verdict):
                    return self.checked(task.file, program) if task.first else None
                self.nodes = watch.within(LOWERING, lambda: node_count(task.nodes, program))
                counts = "every number of" if job.every_count else self.nodes
                with watcher(f"{task.title}, {counts} nodes") as watch.progress:
                    return self.decided(task.file, program, self.nodes)
            assert stopped.reason is not None, "else there is a result"
            return self.unknown(task.file, task.nodes, stopped.reason)
        except KeyboardInterrupt:
            return replace(self.unknown(task.file, task.nodes, Interruption()), interrupted=True)

    def decided(self, file: str, program: Program | CProgram, nodes: int) -> Checked:
        """Ask what the job asks of ``program``, one question after the other."""
        job, races = self.job, self.job.races
        question = replace(job.question(file, nodes), program=program)
        session = Session(question, watch=self._watch)
        verdict = Verdict(file, program.name, nodes, job.engine.name, "unknown", NotAsked(), reading=job.reading)
        answer: RaceVerdict | None = None
        try:
            if races is None or races.robustness == "first":
                verdict = about_robustness(session, job.asked)
            if races is not None and verdict.verdict != "error":
                from pgasrob.races.race_check import RaceDecision

                known = verdict if races.robustness == "first" else None
                decision = RaceDecision(session.asking(replace(question, asked=races)), known)
                answer = decision.verdict()
                if races.robustness == "after" and answer.verdict != "error":
                    verdict = answer.robustness or about_robustness(session, Robustness(effect=False))
                    if answer.verdict == "race" and verdict.verdict == "robust" and answer.robustness is None:
                        from pgasrob.races.consequences import race_consequences

                        going_on = None if races.strict else decision
                        verdict = replace(verdict, races=race_consequences(session, verdict, going_on))
        except KeyboardInterrupt as interrupt:
            known = interrupt.verdict if isinstance(interrupt, Interrupted) else None
            if isinstance(known, Verdict):
                verdict = known
            else:
                verdict, answer = replace(verdict, reason=Interruption()), known or answer
            return replace(self.checked(file, verdict, answer), interrupted=True)
        return self.checked(file, verdict, answer)

    def converted(self, checked: Checked, convert: Callable[[Checked], T]) -> T:
        """``checked``, of the latest task, as ``convert`` makes it; without its runs when a limit ends that."""
        with until_limit() as stopped:
            return self._watch.within(WRITING, lambda: convert(checked), GRACE)
        assert stopped.reason is not None, "else there is a result"
        reason = checked.verdict.reason or LeftUndone("the run is not shown", stopped.reason)
        without = checked.without_runs()
        self._key = None  # it is not kept without them
        races = without.races and without.races.without_runs(reason)
        return convert(replace(without, verdict=replace(without.verdict, reason=reason), races=races))

    def unknown(self, file: str, nodes: int | None, reason: Reason) -> Checked:
        """The result of a check that came to nothing."""
        engine, reading = self.job.engine.name, self.job.reading
        return self.checked(file, Verdict(file, None, nodes, engine, "unknown", reason, reading=reading))

    def ended_by(self, error: Exception, task: Task) -> Checked:
        """The result of ``task`` where an exception has ended it: memory was exhausted, or something is wrong here."""
        if isinstance(error, MemoryError):
            return self.unknown(task.file, self.nodes or task.nodes, OutOfMemory())
        return self.crashed(internal_error(error, task.file), self.nodes or task.nodes)

    def crashed(self, error: Diagnostic, nodes: int | None) -> Checked:
        """The result of a check that came to an internal ``error``. Whatever its header says is not compared with."""
        file, engine, reason = error.file, self.job.engine.name, InternalError(error.message)
        verdict = Verdict(file, None, nodes, engine, "error", reason, reading=self.job.reading, errors=(error,))
        return Checked(file, verdict, self.job.expect)

    def checked(self, file: str, verdict: Verdict, races: RaceVerdict | None = None) -> Checked:
        """``verdict`` and the answer about ``races``, compared with the header of the program if that is part of the
        job."""
        job = self.job
        if not job.expect:
            return Checked(file, verdict, races=races)
        try:
            if job.headers is None:
                expectation = read_expectation(read_text(file, self._files), file)
            else:
                header = job.headers.get(file)
                expectation = read_expectation(header.text, header.path) if header else None
        except SourceError as error:
            return Checked(file, verdict, True, None, tuple(error.diagnostics), races=races)
        # A text that is no program has no node count; its header is read as that of a program on the default count.
        expected = None
        if expectation:
            expected = expectation.at("all" if verdict.every else verdict.nodes, verdict.reading, job.machine)
        expected_races = expectation.races_at(verdict.nodes) if expectation and job.races else None
        whole = set(LINES) <= set(verdict.asked) and not job.machine and not job.every_count
        synchronised = expectation.synchronised_at(verdict.nodes) if expectation and whole else None
        return Checked(file, verdict, True, expected, (), False, races, expected_races, synchronised)

    def load(self, file: str) -> Program | CProgram | Verdict:
        """The program in ``file``, or the verdict `error` that says why there is none."""
        if self._program is None or file != self._file:
            self._program = None
            self._file, self._program = file, self._loaded(file, self._files)
        return self._program

    def _loaded(self, file: str, files: Files) -> Program | CProgram | Verdict:
        try:
            return ProgramFile(file, self.job.front_end, files).load()
        except SourceError as error:
            found = tuple(error.diagnostics)
            reason = NoProgram(found[0].message)
            return Verdict(file, None, None, self.job.engine.name, "error", reason, errors=found)
