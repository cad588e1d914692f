"""Runs on a Dask worker: has a process of its own do a job, and looks after that process."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

from pgasrob.batch.build_id import Build, build
from pgasrob.batch.cluster.child import Request
from pgasrob.batch.workers import cause_of_death
from pgasrob.robustness.limits import spare_memory

LOOK = 0.2
"""Seconds between two looks at whether the result is still wanted."""
REPORT = 0.5
"""Seconds between two messages about the progress, which all go through the scheduler."""
START = "import sys; sys.path[:] = {path!r}; from pgasrob.batch.cluster.child import main; main()"
"""The program of a child: the same modules as here, whatever the folder."""


class WrongBuild(Exception):
    """This worker has another pgasrob than the client; the text is for the user."""


def do_job(
    wanted: tuple[Any, ...], request: bytes, topic: str, name: tuple[int, int], progress: bool
) -> tuple[str, Any]:
    """What becomes of a pickled :class:`~pgasrob.batch.cluster.child.Request` of a client with the build
    ``wanted``: a word, and what comes with it.

    ("result", the pickled result, or what was found in a part); ("large", its parts); ("failed", the traceback of an
    exception); ("died", how the process ended); ("cancelled", None) when no client seems to want it.
    Events of the ``topic`` say that the job of this ``name`` has begun, and with ``progress`` what it is at.
    """
    # First of all: nothing else need mean the same to another version.
    theirs = Build(*wanted)
    if build() != theirs:
        raise WrongBuild(f"has {build()}, but here it is {theirs}")
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    reported = looked = 0.0
    with _child() as child:
        child.send(with_own_memory(pickle.loads(request), worker))
        while True:
            message = child.next_message(LOOK)
            now = time.monotonic()
            match message:
                case None:
                    pass
                case ("title", nodes, title):
                    worker.log_event(topic, [*name, "title", nodes, title])
                case ("progress", snapshot):
                    if progress and now - reported > REPORT:
                        reported = now
                        worker.log_event(
                            topic, [*name, snapshot.phase, snapshot.states, snapshot.seconds, snapshot.doing]
                        )
                case (("result" | "large" | "failed" | "died") as kind, what):
                    return kind, what
            if now - looked > LOOK:
                looked = now
                task = worker.state.tasks.get(key)
                if task is None or task.state not in ("executing", "long-running"):
                    return "cancelled", None


def with_own_memory(request: Request, worker: Any) -> Request:
    if not request.job.resources.worker_memory:
        return request
    threads = max(worker.state.nthreads, 1)
    limit = getattr(worker.memory_manager, "memory_limit", None)
    shares = [spare_memory(1 if limit else threads), int(limit * 3 // 4 // threads) if limit else None]
    memory = min((share for share in shares if share is not None), default=None)
    return request._replace(job=replace(request.job, limits=replace(request.job.limits, memory=memory)))


class _Child:
    """A process that does one request at a time, and a thread that listens to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", START.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._messages: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self.idle = True
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, request: Request) -> None:
        assert self._process.stdin is not None
        self.idle = False
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
        except OSError:
            pass  # it has died, as the listener says

    def next_message(self, timeout: float) -> tuple[Any, ...] | None:
        try:
            message = self._messages.get(timeout=timeout)
        except Empty:
            return None
        self.idle = message[0] in ("result", "large", "failed")
        return message

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        while True:
            try:
                self._messages.put(pickle.load(self._process.stdout))
            except Exception:  # the end of the stream, in the middle of a message perhaps
                self._messages.put(("died", cause_of_death(self._process.wait())))
                return


_idle: list[_Child] = []
"""Children that wait for work; to start one takes longer than most checks. They end with this process."""


@contextmanager
def _child() -> Iterator[_Child]:
    """A child; ended at the end if it is at work still."""
    try:
        child = _idle.pop()
    except IndexError:
        child = _Child()
    try:
        yield child
    finally:
        if child.idle:
            _idle.append(child)
        else:
            child.end()
