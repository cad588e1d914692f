"""The process on a worker's machine in which checks run, one after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from pgasrob.robustness.batch import Checked, Checker, Job, Task
from pgasrob.robustness.native import MissingKernelWarning
from pgasrob.robustness.workers import Interrupts, do


class Request(NamedTuple):
    """What is asked of a worker. ``own_memory``: a check may take the worker's share of its machine, whatever the
    limits of the job say."""

    job: Job
    task: Task
    convert: Callable[[Checked], Any]
    own_memory: bool


class _Pipe:
    """Where messages go."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def send(self, message: tuple[object, ...]) -> None:
        pickle.dump(message, self._file)
        self._file.flush()


def main() -> None:
    """Do what comes from standard input, and tell of it on standard output, until there is nobody to talk to."""
    warnings.simplefilter("ignore", MissingKernelWarning)  # the client has said it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a worker in a terminal: who ends it ends this
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake
    asked: SimpleQueue[Request] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    pipe = _Pipe(told)
    while True:
        request = asked.get()
        do(request.task, pipe, Checker(request.job), request.convert, Interrupts())


def _listen(file: BinaryIO, asked: SimpleQueue[Request]) -> None:
    while True:
        try:
            asked.put(pickle.load(file))
        except BaseException:
            # The worker has ended or wants this to end, in the middle of a check as well.
            os._exit(1)
