"""The process on a worker's machine in which checks run, one after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from pgasrob.batch.checker import Checker
from pgasrob.batch.crew import Interrupts
from pgasrob.batch.job import Checked, Job, Task
from pgasrob.batch.workers import do
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import FoundInPart, Subtrees
from pgasrob.robustness.question import node_count
from pgasrob.robustness.session import PREPARING, Failed, Session
from pgasrob.robustness.trace_parts import go_through, parts_of
from pgasrob.robustness.verdict import Verdict
from pgasrob.twins import MissingKernelWarning


class Request(NamedTuple):
    """What is asked of a worker. ``part``: to go through this part of the exploration only; ``found``: what has been
    found in all parts."""

    job: Job
    task: Task
    convert: Callable[[Checked], Any]
    part: Subtrees | None = None
    found: Sequence[FoundInPart] = ()


class _Pipe:
    """Where messages go."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def send(self, message: tuple[object, ...]) -> None:
        pickle.dump(message, self._file)
        self._file.flush()


def main() -> None:
    """Do the requests from standard input, with messages about them on standard output, until that is closed."""
    warnings.simplefilter("ignore", MissingKernelWarning)  # the client has said it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the worker's terminal ends the worker, which ends this
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake
    asked: SimpleQueue[Request] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    pipe = _Pipe(messages)
    while True:
        request = asked.get()
        checker = Checker(request.job)
        checker.found = request.found
        try:
            done = request.job.engine.name == "traces" and not request.found and _in_parts(request, checker, pipe)
        except Exception as error:
            pipe.send(("failed", internal_error(error, request.task.file)))
        else:
            if not done:
                do(request.task, pipe, checker, request.convert, Interrupts())


def _in_parts(request: Request, checker: Checker, pipe: _Pipe) -> bool:
    """Go through the part that is asked for and send ("result", what was found); or, where the whole is asked for and
    large, send ("large", its parts). False when neither is the case."""
    job, task = request.job, request.task
    session = Session(job.question(task.file, task.nodes))
    instance = session.attempt(PREPARING, lambda: _instance(request, checker))
    if instance is None or isinstance(instance, Failed):
        return False  # the check will report it
    if request.part is None:
        parts = session.attempt(PREPARING, lambda: parts_of(instance, job.limits.memory))
        if isinstance(parts, Failed) or len(parts) <= 1:
            return False
        pipe.send(("large", parts))
        return True
    title = f"{task.title}, {instance.nodes} nodes, subtree {request.part.first + 1}"
    pipe.send(("title", instance.nodes, title))
    found = go_through(instance, request.part, job.limits, lambda progress: pipe.send(("progress", progress)))
    pipe.send(("result", found))
    return True


_last: list[tuple[object, Instance]] = []
"""What the last request was about: the next one is likely to be for another part of it."""


def _instance(request: Request, checker: Checker) -> Instance | None:
    """The instance to explore; None when the file is no program. Raises SourceError when it is none on so many
    nodes."""
    job, task = request.job, request.task
    about = (job.files, job.front_end, job.reading, task.file, task.nodes)
    if not _last or _last[0][0] != about:
        program = checker.load(task.file)
        if isinstance(program, Verdict):
            return None
        _last[:] = [(about, program.instantiate(node_count(task.nodes, program), job.reading))]
    return _last[0][1]


def _listen(file: BinaryIO, asked: SimpleQueue[Request]) -> None:
    while True:
        try:
            asked.put(pickle.load(file))
        except BaseException:
            # The worker has ended or wants this to end, in the middle of a check as well.
            os._exit(1)
