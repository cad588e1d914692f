"""The process on a worker's machine in which checks run, and parts of large checks, one after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from pgasrob.batch.checker import Checker
from pgasrob.batch.crew import Interrupts
from pgasrob.batch.job import Checked, Job, Task
from pgasrob.batch.workers import do
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.robustness.trace_parts import Beginning, Path, Report, go_through
from pgasrob.twins import MissingKernelWarning


class Request(NamedTuple):
    """What is asked of a worker: to check the task."""

    job: Job
    task: Task
    convert: Callable[[Checked], Any]


class PartRequest(NamedTuple):
    """What is asked of a worker: to go through a part of a check that another one is at."""

    begin: Beginning
    part: Path


class _Pipe:
    """Where messages go."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._lock = file, threading.Lock()

    def send(self, message: tuple[object, ...]) -> None:
        with self._lock:
            pickle.dump(message, self._file)
            self._file.flush()


class _Check:
    """The messages of a check, and the other workers that go through parts of it
    (:class:`~pgasrob.robustness.trace_parts.Elsewhere`).

    These are asked by messages ("others",), ("part", number, the pickled request) and ("unwanted", number); answers are
    ("others", how many) and (number, what): what has been given away so far, the report and that, or None.
    """

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe, self._lock, self._over = pipe, threading.Lock(), False
        self._answers: dict[object, SimpleQueue[Any]] = {"others": SimpleQueue()}

    def send(self, message: tuple[object, ...]) -> None:
        """Send a message, unless one has said that it is over."""
        with self._lock:
            if not self._over:
                self._pipe.send(message)
            if message[0] in ("result", "failed", "unkept"):
                self._over = True
                for answers in list(self._answers.values()):
                    answers.put(None)

    def answer(self, name: object, what: Any) -> None:
        if (answers := self._answers.get(name)) is not None:
            answers.put(what)

    def count(self) -> int:
        self.send(("others",))
        return self._answers["others"].get() or 0

    def go_through(self, begin: Beginning, part: Path, hear: Callable[[list[Path]], bool]) -> Report | None:
        number = next(_numbers)
        answers = self._answers[number] = SimpleQueue()
        self.send(("part", number, pickle.dumps(PartRequest(begin, part))))
        try:
            while not self._over:
                match answers.get():
                    case None:
                        break
                    case (Report() as report, given):
                        hear(given)
                        return report
                    case given if not hear(given):
                        self.send(("unwanted", number))
                        break
            return None
        finally:
            del self._answers[number]


_numbers = count()
"""Of the parts that are handed out, all different: an answer may come when its check is over."""


def main() -> None:
    """Do the requests from standard input, with messages about them on standard output, until that is closed."""
    warnings.simplefilter("ignore", MissingKernelWarning)  # the client has said it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the worker's terminal ends the worker, which ends this
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake
    asked: SimpleQueue[Request | PartRequest] = SimpleQueue()
    at_work: list[_Check] = []
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked, at_work), daemon=True).start()
    pipe = _Pipe(messages)
    while True:
        request = asked.get()
        if isinstance(request, PartRequest):
            _go_through(request, pipe)
            continue
        at_work[:] = [check := _Check(pipe)]
        job = replace(request.job, resources=replace(request.job.resources, elsewhere=check))
        do(request.task, check, Checker(job), request.convert, Interrupts())


def _go_through(request: PartRequest, pipe: _Pipe) -> None:
    """Go through a part and send ("given", what has been given away of it) now and then, and at the end ("result", the
    report and what has been given away)."""
    try:
        found = go_through(*request, lambda given: pipe.send(("given", given)))
    except Exception as error:
        pipe.send(("failed", internal_error(error, "a part")))
    else:
        pipe.send(("result", found))


def _listen(file: BinaryIO, asked: SimpleQueue[Request | PartRequest], at_work: list[_Check]) -> None:
    while True:
        try:
            message = pickle.load(file)
        except BaseException:
            # The worker has ended or wants this to end, in the middle of a check as well.
            os._exit(1)
        if isinstance(message, Request | PartRequest):
            asked.put(message)
        elif at_work:
            at_work[0].answer(*message)
