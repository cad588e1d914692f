"""A batch on the workers of a Dask scheduler: results in the order given, as they come."""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from pgasrob.batch.build_id import build
from pgasrob.batch.cluster import ClusterError
from pgasrob.batch.cluster.child import Request
from pgasrob.batch.cluster.worker import AHEAD, DO_JOB, FETCH, WrongBuild
from pgasrob.batch.crew import Crew, Interrupts, Watching
from pgasrob.batch.job import Checked, Job, Task
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.program.files import Copies, Recorder
from pgasrob.program.parser import read_source
from pgasrob.robustness.reasons import Interruption, Reason, WorkerDied
from pgasrob.robustness.session import READING
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Progress, Watch, Watcher, unwatched

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

CONNECT = 10.0
"""Seconds that a scheduler has to answer."""
PATIENCE = 60.0
"""Seconds to wait for a worker when there is none."""
LOOK = 2.0
"""Seconds between two looks at how many workers there are."""
TLS_HINT = (
    "tls:// takes certificates that the scheduler trusts: DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY name their files"
)


def check_on_cluster(
    tasks: Sequence[Task],
    job: Job,
    convert: Callable[[Checked], T],
    watch: Watcher = unwatched,
) -> Iterator[T]:
    """Do ``tasks`` on the workers of the scheduler of the job: see :func:`~pgasrob.batch.side_by_side.convert_all`.

    A job whose worker is lost is done again by another; one that has lost too many, as the scheduler has it, is
    `unknown`. Raises :class:`ClusterError`.
    """
    with Interrupts() as interrupts:
        with interrupts.welcome():
            client = _connected(job.resources.cluster or "")
        yield from _Jobs(client, tasks, job, convert, watch).work(interrupts)


def _connected(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError("a cluster needs dask.distributed: pip install 'pgasrob[cluster]'") from None
    for name in ("distributed", "distributed.client"):  # what there is to say is said here
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(_greet(address))
        return Client(address, timeout=CONNECT, set_as_default=False, name="pgasrob")
    except (OSError, TypeError, ValueError) as error:  # TypeError: an encrypted address without certificates
        why = str(error) or type(error).__name__
        hint = TLS_HINT if address.startswith("tls://") else "`dask scheduler` starts one and says its address"
        raise ClusterError(f"no Dask scheduler at {address} ({why}); {hint}") from None


async def _greet(address: str) -> None:
    """See that there is a scheduler: a Client waits for ever for one that says nothing, and complains at the end of the
    program about an address that is none."""
    from distributed import Security, rpc

    secured = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT, connection_args=secured) as there:
        who = await asyncio.wait_for(there.identity(), CONNECT)
    if who["type"] != "Scheduler":
        raise ValueError(f"what is there is a {who['type']}")


class _Jobs(Crew[T]):
    """The jobs that are handed out."""

    def __init__(
        self,
        client: Client,
        tasks: Sequence[Task],
        job: Job,
        convert: Callable[[Checked], T],
        watch: Watcher,
    ) -> None:
        # The cores are taken by the jobs.
        super().__init__(tasks, replace(job, resources=replace(job.resources, threads=1)), convert, watch)
        self._client, self._address = client, job.resources.cluster
        self._news: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._topic = f"pgasrob-{uuid.uuid4().hex}"
        client.subscribe_topic(self._topic, lambda event: self._news.put(tuple(event[1])))
        self._copied: dict[str, Copies] = {}
        """By file; read once, so that all parts are of one program whatever becomes of the file meanwhile."""
        self._futures: dict[int, Future[Any]] = {}
        self._watching: dict[int, Watching] = {}
        self._nodes: dict[int, int | None] = {}
        """The node counts of the tasks at work, where they are known."""
        self._threads, self._looked, self._seen, self._ever = 1, 0.0, time.monotonic(), False

    def _work(self, interrupts: Interrupts) -> Iterator[T]:
        while self._returned < len(self._tasks):
            with interrupts.welcome():
                interrupts.due()
                self._count_workers()
            while self._given < len(self._tasks) and len(self._futures) < AHEAD * self._threads:
                self._begin(self._given)
                self._given += 1
            news: tuple[Any, ...] = ()
            with interrupts.welcome(), suppress(Empty):
                interrupts.due()
                news = self._news.get(timeout=LOOK)
            match news:
                case (number, "done", future):
                    if self._futures.get(number) is future:
                        with interrupts.welcome():
                            self._take(number, future)
                case (number, "title", nodes, title) if number in self._futures:
                    self._done(number)  # by a worker that is lost
                    self._nodes[number] = nodes
                    self._watching[number] = Watching(self._watch(title))
                case (number, phase, states, seconds, doing) if number in self._watching:
                    self._watching[number].show(Progress(phase, states, seconds, doing))
            yield from self._ready()

    def _last_results(self) -> Iterator[T]:
        for number, future in list(self._futures.items()):
            with suppress(Exception):
                if future.status == "finished":
                    self._take(number, future)
        for number in sorted(self._futures):
            self._note_unknown(number, Interruption())
        yield from self._ready()

    def _end(self) -> None:
        for number in list(self._watching):
            self._done(number)
        with suppress(Exception):
            self._client.cancel(list(self._futures.values()), force=True)
        with suppress(Exception):
            self._client.close(timeout=CONNECT)

    def _begin(self, number: int) -> None:
        """Hand out a task whose files can be copied."""
        file, limits = self._tasks[number].file, self._job.limits
        try:
            with until_limit(memory=True) as stopped:
                Watch(limits, None, time.monotonic()).within(READING, lambda: self._copies(file))
        except Exception as error:
            self._note_crash(number, internal_error(error, file))
            return
        if stopped.reason is None:
            self._submit(number)
        else:
            self._note_unknown(number, stopped.reason)

    def _submit(self, number: int) -> None:
        task = self._tasks[number]
        request = Request(replace(self._job, files=self._copies(task.file)), task, self._convert)
        arguments = (tuple(build()), pickle.dumps(request), self._topic, number, self._watch is not unwatched)
        future = self._client.submit(eval, DO_JOB, {"arguments": arguments}, pure=False)
        self._futures[number] = future
        future.add_done_callback(lambda future: self._news.put((number, "done", future)))

    def _copies(self, file: str) -> Copies:
        """Copies of all files that are read to check ``file``."""
        if file not in self._copied:
            recorder = Recorder()
            if file.endswith(".c"):
                from pgasrob.frontends.lower import read_c

                read_c(file, self._job.front_end, recorder)
            else:
                with suppress(SourceError):
                    read_source(file, recorder)
            self._copied[file] = Copies(recorder.kept)
        return self._copied[file]

    def _take(self, number: int, future: Future[Any]) -> None:
        """Note the result of a job."""
        from distributed import CancelledError, KilledWorker

        try:
            kind, what = future.result(timeout=FETCH)
        except TimeoutError:
            self._submit_again(number)
        except KilledWorker:
            how = "was lost with its worker, as often as the scheduler allows"
            self._note_unknown(number, WorkerDied(how))
        except WrongBuild as wrong:
            raise ClusterError(f"a worker {wrong}; install the same on all machines") from None
        except (ImportError, AttributeError) as error:
            raise ClusterError(
                f"a worker has no pgasrob, or another one ({error}); install {build()} on all machines"
            ) from None
        except CancelledError:
            raise ClusterError(f"the scheduler at {self._address} is lost, or has cancelled the jobs") from None
        else:
            match kind:
                case "result":
                    self._results[number] = what
                    self._forget(number)
                case "died":
                    self._note_unknown(number, WorkerDied(what))
                case "cancelled":
                    self._submit_again(number)
                case _:
                    self._note_crash(number, what)

    def _note_crash(self, number: int, error: Diagnostic) -> None:
        self._set(number, self._checker.crashed(error, self._nodes.get(number, self._tasks[number].nodes)))
        self._forget(number)

    def _submit_again(self, number: int) -> None:
        self._end_job(number)
        self._submit(number)

    def _note_unknown(self, number: int, reason: Reason) -> None:
        self._set_unknown(number, self._nodes.get(number, self._tasks[number].nodes), reason)
        self._forget(number)

    def _forget(self, number: int) -> None:
        if number in self._futures:
            self._end_job(number)
        self._nodes.pop(number, None)

    def _end_job(self, number: int) -> None:
        """The job has ended, or is to end."""
        self._done(number)
        future = self._futures.pop(number)
        if not future.done():
            future.cancel(force=True)

    def _done(self, number: int) -> None:
        if number in self._watching:
            self._watching.pop(number).end()

    def _count_workers(self) -> None:
        """Count the workers, now and then; give up when there has been none for long."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        try:
            self._threads = sum(self._client.nthreads().values())
        except (OSError, RuntimeError) as error:
            raise ClusterError(f"the scheduler at {self._address} is lost ({error})") from None
        if self._threads:
            self._seen, self._ever = now, True
            return
        self._threads = 1  # which may have a cluster that adapts begin
        if now - self._seen < PATIENCE:
            return
        if not self._ever:
            raise ClusterError(
                f"the scheduler at {self._address} has no workers; `dask worker {self._address}` starts one"
            )
        for number in range(self._returned, len(self._tasks)):
            if number not in self._results:
                self._note_unknown(number, WorkerDied("is lost with all workers of the cluster"))
        self._given = len(self._tasks)
