"""Runs on a Dask worker: has a process of its own do a job, and looks after that process."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from pgasrob.batch.build_id import Build, build
from pgasrob.batch.cluster.child import PartRequest, Request
from pgasrob.batch.workers import cause_of_death
from pgasrob.robustness.limits import spare_memory

if TYPE_CHECKING:
    from distributed import Client, Future

FETCH = 60.0
"""Seconds in which a result comes from its worker, or the worker is gone."""
AHEAD = 2
"""Jobs that are handed out for every thread of the cluster, so that none waits for the next one."""
DO_JOB = "__import__('pgasrob.batch.cluster.worker', fromlist=['do_job']).do_job(*arguments)"
"""What a worker evaluates. The function itself could not be unpickled where there is no pgasrob: the scheduler would
refuse it, and a worker would go down instead of reporting an ImportError."""
LOOK = 0.2
"""Seconds between two looks at whether the result is still wanted."""
COUNT = 2.0
"""Seconds between two looks at whether the workers are there that go through parts."""
REPORT = 0.5
"""Seconds between two messages about the progress, which all go through the scheduler."""
START = "import sys; sys.path[:] = {path!r}; from pgasrob.batch.cluster.child import main; main()"
"""The program of a child: the same modules as here, whatever the folder."""


class WrongBuild(Exception):
    """This worker has another pgasrob than the client; the text is for the user."""


def do_job(wanted: tuple[Any, ...], request: bytes, topic: str, name: int, progress: bool) -> tuple[str, Any]:
    """What becomes of a pickled :class:`~pgasrob.batch.cluster.child.Request` of a client with the build
    ``wanted``, or of a request for a part: a word, and what comes with it.

    ("result", the pickled result, or what was found in a part); ("failed", the traceback of an exception); ("died", how
    the process ended); ("cancelled", None) when no client seems to want it. Events of the ``topic`` say that the job of
    this ``name`` has begun, and with ``progress`` what it is at; or what has been given away of a part.
    """
    # First of all: nothing else need mean the same to another version.
    theirs = Build(*wanted)
    if build() != theirs:
        raise WrongBuild(f"has {build()}, but here it is {theirs}")
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    reported = looked = 0.0
    with _child() as child, _Others(child, wanted) as others:
        child.send(with_own_memory(pickle.loads(request), worker))
        while True:
            message = child.next_message(LOOK)
            now = time.monotonic()
            match message:
                case None:
                    pass
                case ("title", nodes, title):
                    worker.log_event(topic, [name, "title", nodes, title])
                case ("given", given):
                    worker.log_event(topic, [name, pickle.dumps(given)])
                case ("others",):
                    others.tell_how_many()
                case ("part", number, part):
                    others.hand_out(number, part)
                case ("unwanted", number):
                    others.take_back(number)
                case ("progress", snapshot):
                    if progress and now - reported > REPORT:
                        reported = now
                        worker.log_event(
                            topic, [name, snapshot.phase, snapshot.states, snapshot.seconds, snapshot.doing]
                        )
                case (("result" | "failed" | "died") as kind, what):
                    return kind, what
            if now - looked > LOOK:
                looked = now
                others.look(now)
                task = worker.state.tasks.get(key)
                if task is None or task.state not in ("executing", "long-running"):
                    return "cancelled", None


def with_own_memory(request: Request | PartRequest, worker: Any) -> Request | PartRequest:
    if isinstance(request, PartRequest) or not request.job.resources.worker_memory:
        return request
    threads = max(worker.state.nthreads, 1)
    limit = getattr(worker.memory_manager, "memory_limit", None)
    shares = [spare_memory(1 if limit else threads), int(limit * 3 // 4 // threads) if limit else None]
    memory = min((share for share in shares if share is not None), default=None)
    return request._replace(job=replace(request.job, limits=replace(request.job.limits, memory=memory)))


class _Others:
    """Other workers, who go through parts of the check of ``child``, which are jobs of the build ``wanted``. The child
    hears from them as :class:`~pgasrob.batch.cluster.child` has it."""

    def __init__(self, child: _Child, wanted: tuple[Any, ...]) -> None:
        self._child, self._wanted, self._topic = child, wanted, f"pgasrob-{uuid.uuid4().hex}"
        self._client: Client | None = None
        self._workers: list[str] = []
        self._futures: dict[int, Future[Any]] = {}
        self._looked = 0.0

    def __enter__(self) -> _Others:
        return self

    def __exit__(self, *exception: object) -> None:
        for number in list(self._futures):
            self.take_back(number)
        if self._client is not None:
            with suppress(Exception):
                self._client.unsubscribe_topic(self._topic)

    def tell_how_many(self) -> None:
        """How many parts to hand out at a time: by the threads of the cluster beside that which is at the check."""
        from distributed import get_client, get_worker

        free = {}
        with suppress(Exception):
            self._client = client = get_client()
            client.subscribe_topic(self._topic, lambda event: self._hear(*event[1]))
            free = client.nthreads()
            free[get_worker().address] -= 1
        self._workers = [address for address, threads in free.items() if threads > 0]
        self._child.send(("others", AHEAD * sum(free.values())))

    def _hear(self, number: int, given: bytes) -> None:
        if number in self._futures:
            self._child.send((number, pickle.loads(given)))

    def look(self, now: float) -> None:
        """Give up the parts that are out when one of the workers is lost: the scheduler would wait for it to come back,
        and does not say who is at which part."""
        if not self._futures or now - self._looked < COUNT:
            return
        self._looked, there = now, set(self._workers)
        with suppress(Exception):
            assert self._client is not None
            there = set(self._client.nthreads())
        if not there.issuperset(self._workers):
            self._workers = [address for address in self._workers if address in there]
            for number in list(self._futures):
                self.take_back(number)
                self._child.send((number, None))

    def hand_out(self, number: int, part: bytes) -> None:
        assert self._client is not None, "it has asked how many there are"
        if not self._workers:
            self._child.send((number, None))
            return
        arguments = (self._wanted, part, self._topic, number, False)
        # What has been begun, first.
        future = self._client.submit(
            eval, DO_JOB, {"arguments": arguments}, pure=False, priority=1, workers=self._workers
        )
        self._futures[number] = future
        future.add_done_callback(lambda future: self._take(number, future))

    def _take(self, number: int, future: Future[Any]) -> None:
        """Tell what a part has come to; None where it is lost, whatever has become of it."""
        answer = None
        with suppress(Exception):
            kind, what = future.result(timeout=FETCH)
            answer = what if kind == "result" else None
        if self._futures.pop(number, None) is not None:
            self._child.send((number, answer))

    def take_back(self, number: int) -> None:
        future = self._futures.pop(number, None)
        if future is not None and not future.done():
            with suppress(Exception):
                future.cancel(force=True)


class _Child:
    """A process that does one request at a time, and a thread that listens to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", START.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._messages: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._lock = threading.Lock()
        self.idle = True
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: object) -> None:
        """Send it a request, or an answer to what it asked of others."""
        stdin = self._process.stdin
        assert stdin is not None
        with self._lock, suppress(OSError):  # it has died, as the listener says
            self.idle = self.idle and not isinstance(message, Request | PartRequest)
            pickle.dump(message, stdin)
            stdin.flush()

    def next_message(self, timeout: float) -> tuple[Any, ...] | None:
        try:
            message = self._messages.get(timeout=timeout)
        except Empty:
            return None
        self.idle = message[0] in ("result", "failed")
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
