"""A batch on several processes: results in the order given, as they come, whatever becomes of a process.

A worker is sent a task, which names a file, and sends back the result as its caller wants it. Programs and runs are
nested too deeply to be pickled.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from pgasrob.program.parser import parse
from pgasrob.robustness.batch import Checked, Checker, Job, Task, Watcher
from pgasrob.robustness.kept import KeptError
from pgasrob.robustness.native import MissingKernelWarning
from pgasrob.robustness.reasons import Interruption, Reason, WorkerDied
from pgasrob.robustness.watch import Progress

T = TypeVar("T")

START = "fork" if sys.platform == "linux" else "spawn"
"""How processes come to be. A fork has all modules in memory already; elsewhere it is not safe, or not there."""
GRACE = 0.3
"""Seconds that workers have to say what they know at Ctrl-C."""


def check_on_workers(
    tasks: Sequence[Task], job: Job, convert: Callable[[Checked], T], jobs: int, watch: Watcher
) -> Iterator[T]:
    """Do ``tasks`` on ``jobs`` processes: see :func:`~pgasrob.robustness.side_by_side.convert_all`."""
    with Interrupts() as interrupts:
        # The cores are taken by the processes.
        crew = _Crew(tasks, replace(job, threads=1), convert, watch)
        try:
            crew.start(jobs)
            for result in crew.results(interrupts):
                with interrupts.welcome():
                    yield result
        except KeyboardInterrupt:
            yield from crew.last_results()
            raise
        finally:
            crew.end()


class WorkerError(RuntimeError):
    """A check raised an exception in another process; the text is its traceback."""


class Interrupts:
    """Ctrl-C, put off where it would leave something half done: a message half sent, a result half noted."""

    def __init__(self) -> None:
        self.asked = self._welcome = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        # Where Ctrl-C is ignored (a background job) it stays so, and only the main thread can say what it does.
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        # A second one must not cut short what is done about the first.
        if self._welcome and not again:
            raise KeyboardInterrupt

    @contextmanager
    def welcome(self, yes: bool = True) -> Iterator[None]:
        """A context in which Ctrl-C may come at any point, or, with ``yes`` false, at none."""
        before, self._welcome = self._welcome, yes
        try:
            yield
        finally:
            self._welcome = before

    def due(self) -> None:
        """Raise what was put off."""
        if self.asked:
            raise KeyboardInterrupt


class _Worker:
    """A process that does one task at a time."""

    def __init__(self, job: Job, convert: Callable[[Checked], Any], others: Sequence[_Worker]) -> None:
        context: Any = multiprocessing.get_context(START)
        self.connection: Connection[Any, Any]
        self.connection, theirs = context.Pipe()
        ours = [self.connection, *(other.connection for other in others)] if START == "fork" else []
        self.process = context.Process(target=_work, args=(theirs, ours, job, convert), daemon=True)
        self.process.start()
        theirs.close()
        self.number: int | None = None
        """The number of the task at work."""
        self.nodes: int | None = None
        self._watching: AbstractContextManager[Callable[[Progress], None] | None] | None = None
        self._progress: Callable[[Progress], None] | None = None

    def give(self, number: int, task: Task) -> None:
        self.number, self.nodes = number, task.nodes
        with suppress(OSError):  # it has died, as will be seen when it is listened to
            self.connection.send(task)

    def watch(self, watching: AbstractContextManager[Callable[[Progress], None] | None]) -> None:
        self._watching, self._progress = watching, watching.__enter__()

    def show(self, progress: Progress) -> None:
        if self._progress:
            self._progress(progress)

    def done(self) -> None:
        if self._watching:
            self._watching.__exit__(None, None, None)
        self._watching = self._progress = self.number = None

    def interrupt(self) -> None:
        with suppress(OSError):
            os.kill(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        self.done()
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Crew(Generic[T]):
    """The workers, and the results that wait for earlier ones."""

    def __init__(self, tasks: Sequence[Task], job: Job, convert: Callable[[Checked], T], watch: Watcher) -> None:
        self._tasks, self._job, self._convert, self._watch = tasks, job, convert, watch
        self._checker = Checker(job)
        self._workers: list[_Worker] = []
        self._given = self._told = 0
        """How many tasks have been given to workers, and how many results have been told."""
        # Pickled: many results can pile up behind a long check.
        self._results: dict[int, bytes] = {}

    def start(self, jobs: int) -> None:
        # Once, before there are several processes, import whatever a check needs.
        self._convert(self._checker.decided("", parse("process { }"), 1))
        for _ in range(jobs):
            self._workers.append(_Worker(self._job, self._convert, self._workers))

    def end(self) -> None:
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def results(self, interrupts: Interrupts) -> Iterator[T]:
        while True:
            for worker in self._workers:
                if worker.number is None and self._given < len(self._tasks):
                    worker.give(self._given, self._tasks[self._given])
                    self._given += 1
            yield from self._ready()  # while all are at work
            if self._told == len(self._tasks):
                return
            with interrupts.welcome():
                interrupts.due()
                ready = wait([worker.connection for worker in self._workers if worker.number is not None])
            for worker in [worker for worker in self._workers if worker.connection in ready]:
                if not self._listen(worker):
                    self._bury(worker)

    def last_results(self) -> Iterator[T]:
        """After Ctrl-C: what there is of the tasks that have been given to workers."""
        until = time.monotonic() + GRACE
        for worker in self._busy():
            worker.interrupt()
        while (busy := self._busy()) and (left := until - time.monotonic()) > 0:
            for connection in wait([worker.connection for worker in busy], left):
                worker = next(worker for worker in busy if worker.connection is connection)
                if not self._listen(worker):
                    self._note_unknown(worker, Interruption())
        for worker in self._busy():
            self._note_unknown(worker, Interruption())
        yield from self._ready()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.number is not None]

    def _ready(self) -> Iterator[T]:
        """The results whose turn it is."""
        while (pickled := self._results.pop(self._told, None)) is not None:
            self._told += 1
            result: T | None = pickle.loads(pickled)
            if result is not None:
                yield result

    def _listen(self, worker: _Worker) -> bool:
        """Take one message; says whether the worker lives."""
        try:
            kind, *told = worker.connection.recv()
        except (EOFError, OSError):
            return False
        if kind == "title":
            worker.nodes = told[0]
            worker.watch(self._watch(told[1]))
        elif kind == "progress":
            worker.show(told[0])
        elif kind == "result":
            assert worker.number is not None
            self._results[worker.number] = told[0]
            worker.done()
        elif kind == "unkept":
            raise KeptError(told[0])
        else:
            raise WorkerError(told[0])
        return True

    def _bury(self, worker: _Worker) -> None:
        """A worker has died: its task has a result all the same, and another takes its place."""
        worker.process.join()
        self._note_unknown(worker, WorkerDied(cause_of_death(worker.process.exitcode)))
        worker.kill()
        self._workers.remove(worker)
        self._workers.append(_Worker(self._job, self._convert, self._workers))

    def _note_unknown(self, worker: _Worker, reason: Reason) -> None:
        assert worker.number is not None
        file = self._tasks[worker.number].file
        result = self._convert(self._checker.unknown(file, worker.nodes, reason))
        self._results[worker.number] = pickle.dumps(result)
        worker.done()


def cause_of_death(code: int | None) -> str:
    """What a process that has ended with ``code`` has come to, as the end of a sentence."""
    if code is None or code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
        why = ", as happens when memory runs out" if name == "SIGKILL" else ""
        return f"was ended by {name}{why}"
    return f"was ended by signal {-code}"


def _work(
    connection: Connection[Any, Any],
    inherited: Sequence[Connection[Any, Any]],
    job: Job,
    convert: Callable[[Checked], Any],
) -> None:
    """A worker's life: tasks and results, until there is nobody to talk to."""
    # It has been said by the process that began this one.
    warnings.simplefilter("ignore", MissingKernelWarning)
    # Their other ends would never know that the parent has gone.
    for each in inherited:
        each.close()
    gc.freeze()  # modules and tables that stay need not be gone through again and again
    checker = Checker(job)
    with Interrupts() as interrupts, suppress(EOFError, OSError):
        while True:
            do(connection.recv(), connection, checker, convert, interrupts)


class Tells(Protocol):
    """Where messages go."""

    def send(self, message: tuple[object, ...]) -> None: ...


def do(
    task: Task,
    connection: Tells,
    checker: Checker,
    convert: Callable[[Checked], Any],
    interrupts: Interrupts,
) -> None:
    """Check ``task``, and tell of it: ("title", nodes, title), ("progress", snapshot) now and then, and at the end
    ("result", the pickled result), ("unkept", why nothing can be kept) or ("failed", the traceback of an exception)."""

    def send(*message: object) -> None:
        with interrupts.welcome(False):
            connection.send(message)
        interrupts.due()

    @contextmanager
    def watch(title: str) -> Iterator[Callable[[Progress], None]]:
        send("title", checker.nodes, title)
        yield lambda progress: send("progress", progress)

    try:
        if (told := checker.kept(task)) is None:
            try:
                with interrupts.welcome():
                    interrupts.due()
                    checked = checker.check(task, watch)
            except KeyboardInterrupt:
                checked = replace(checker.unknown(task.file, task.nodes, Interruption()), interrupted=True)
            if checked is not None:
                told = checker.told(checked, convert)
                checker.keep(checked, told)
        result = pickle.dumps(told)
    except KeptError as error:
        connection.send(("unkept", str(error)))
    except Exception:
        connection.send(("failed", traceback.format_exc()))
    else:
        connection.send(("result", result))
