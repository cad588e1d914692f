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
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, TypeVar

from pgasrob.batch.checker import Checker
from pgasrob.batch.crew import Crew, Interrupts, Watching
from pgasrob.batch.job import Checked, Job, Task
from pgasrob.batch.kept import KeptError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.parent_death import end_with
from pgasrob.program.parser import parse
from pgasrob.robustness.reasons import Interruption, Reason, WorkerDied
from pgasrob.robustness.watch import Progress, Watcher
from pgasrob.twins import MissingKernelWarning

T = TypeVar("T")

START = "fork" if sys.platform == "linux" else "spawn"
"""How processes come to be. A fork has all modules in memory already; elsewhere it is not safe, or not there."""
GRACE = 0.3
"""Seconds that workers have to say what they know at Ctrl-C."""


def check_on_workers(
    tasks: Sequence[Task], job: Job, convert: Callable[[Checked], T], jobs: int, watch: Watcher
) -> Iterator[T]:
    """Do ``tasks`` on ``jobs`` processes: see :func:`~pgasrob.batch.side_by_side.convert_all`."""
    with Interrupts() as interrupts:
        # The cores are taken by the processes.
        yield from _Processes(
            tasks, replace(job, resources=replace(job.resources, threads=1)), convert, watch, jobs
        ).work(interrupts)


class _Worker:
    """A process that does one task at a time."""

    def __init__(self, job: Job, convert: Callable[[Checked], Any], others: Sequence[_Worker]) -> None:
        context: Any = multiprocessing.get_context(START)
        self.connection: Connection[Any, Any]
        self.connection, theirs = context.Pipe()
        ours = [self.connection, *(other.connection for other in others)] if START == "fork" else []
        self.process = context.Process(target=_work, args=(os.getpid(), theirs, ours, job, convert), daemon=True)
        self.process.start()
        theirs.close()
        self.number: int | None = None
        """The number of the task at work."""
        self.nodes: int | None = None
        self.watching: Watching | None = None

    def give(self, number: int, task: Task) -> None:
        self.number, self.nodes = number, task.nodes
        with suppress(OSError):  # it has died, as will be seen when it is listened to
            self.connection.send(task)

    def done(self) -> None:
        if self.watching:
            self.watching.end()
        self.watching = self.number = None

    def interrupt(self) -> None:
        with suppress(OSError):
            os.kill(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        self.done()
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Processes(Crew[T]):
    """A number of worker processes."""

    def __init__(
        self, tasks: Sequence[Task], job: Job, convert: Callable[[Checked], T], watch: Watcher, jobs: int
    ) -> None:
        super().__init__(tasks, job, convert, watch)
        self._jobs = jobs
        self._workers: list[_Worker] = []

    def _end(self) -> None:
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def _work(self, interrupts: Interrupts) -> Iterator[T]:
        # Once, before there are several processes, import whatever a check needs.
        self._convert(self._checker.decided("", parse("process { }"), 1))
        for _ in range(self._jobs):
            self._workers.append(_Worker(self._job, self._convert, self._workers))
        while True:
            for worker in self._workers:
                if worker.number is None and self._given < len(self._tasks):
                    worker.give(self._given, self._tasks[self._given])
                    self._given += 1
            yield from self._ready()  # while all are at work
            if self._returned == len(self._tasks):
                return
            with interrupts.welcome():
                interrupts.due()
                ready = wait([worker.connection for worker in self._workers if worker.number is not None])
            for worker in [worker for worker in self._workers if worker.connection in ready]:
                if not self._listen(worker):
                    self._bury(worker)

    def _last_results(self) -> Iterator[T]:
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

    def _listen(self, worker: _Worker) -> bool:
        """Take one message; whether the worker is alive."""
        try:
            kind, *content = worker.connection.recv()
        except (EOFError, OSError):
            return False
        if kind == "title":
            worker.nodes = content[0]
            worker.watching = Watching(self._watch(content[1]))
        elif kind == "progress":
            if worker.watching:
                worker.watching.show(content[0])
        elif kind == "result":
            assert worker.number is not None
            self._results[worker.number] = content[0]
            worker.done()
        elif kind == "kept":
            assert self._job.kept is not None
            self._job.kept.damaged.extend(content[0])
            self._job.kept.unkept.extend(content[1])
        elif kind == "unkept":
            raise KeptError(content[0])
        else:
            assert worker.number is not None
            self._set(worker.number, self._checker.crashed(content[0], worker.nodes))
            worker.done()
        return True

    def _bury(self, worker: _Worker) -> None:
        """Note the result of a task whose worker has died, and start another one."""
        worker.process.join()
        self._note_unknown(worker, WorkerDied(cause_of_death(worker.process.exitcode)))
        worker.kill()
        self._workers.remove(worker)
        self._workers.append(_Worker(self._job, self._convert, self._workers))

    def _note_unknown(self, worker: _Worker, reason: Reason) -> None:
        assert worker.number is not None
        self._set_unknown(worker.number, worker.nodes, reason)
        worker.done()


def cause_of_death(code: int | None) -> str:
    """How a process ended, from its exit ``code``, as the end of a sentence."""
    if code is None or code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
        why = ", as happens when memory runs out" if name == "SIGKILL" else ""
        return f"was ended by {name}{why}"
    return f"was ended by signal {-code}"


def _work(
    parent: int,
    connection: Connection[Any, Any],
    inherited: Sequence[Connection[Any, Any]],
    job: Job,
    convert: Callable[[Checked], Any],
) -> None:
    """What a worker does: tasks and results, until the connection is closed."""
    end_with(parent)
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


class Messages(Protocol):
    """Where messages go."""

    def send(self, message: tuple[object, ...]) -> None: ...


def do(
    task: Task,
    connection: Messages,
    checker: Checker,
    convert: Callable[[Checked], Any],
    interrupts: Interrupts,
) -> None:
    """Check ``task`` and send ("title", nodes, title), ("progress", snapshot) now and then, and at the end
    ("result", the pickled result), ("unkept", why nothing can be kept) or ("failed", an internal error); before it
    ("kept", the lists of :class:`~pgasrob.batch.kept.Kept`), where there is something in them."""

    def send(*message: object) -> None:
        with interrupts.welcome(False):
            connection.send(message)
        interrupts.due()

    @contextmanager
    def watch(title: str) -> Iterator[Callable[[Progress], None]]:
        send("title", checker.nodes, title)
        yield lambda progress: send("progress", progress)

    try:
        if (result := checker.kept(task)) is None:
            try:
                with interrupts.welcome():
                    interrupts.due()
                    checked = checker.check(task, watch)
            except KeyboardInterrupt:
                checked = replace(checker.unknown(task.file, task.nodes, Interruption()), interrupted=True)
            if checked is not None:
                result = checker.converted(checked, convert)
                checker.keep(checked, result)
        if (kept := checker.job.kept) is not None and (kept.damaged or kept.unkept):
            connection.send(("kept", kept.damaged, kept.unkept))
            kept.damaged.clear()
        pickled = pickle.dumps(result)
    except KeptError as error:
        connection.send(("unkept", str(error)))
    except Exception as error:
        _send_failure(error, task, connection, checker, convert)
    else:
        connection.send(("result", pickled))


def _send_failure(
    error: Exception, task: Task, connection: Messages, checker: Checker, convert: Callable[[Checked], Any]
) -> None:
    """Send the result of a ``task`` that ``error`` has ended."""
    try:
        pickled = pickle.dumps(convert(checker.ended_by(error, task)))
    except Exception:
        connection.send(("failed", internal_error(error, task.file)))
    else:
        connection.send(("result", pickled))
