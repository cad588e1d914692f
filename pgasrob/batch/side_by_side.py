"""Runs a batch on one process, on several, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pgasrob.batch.checker import convert_each
from pgasrob.batch.job import Checked, Job, tasks
from pgasrob.batch.kept import Kept, KeptError
from pgasrob.program.files import GIVEN
from pgasrob.robustness.watch import Watcher, unwatched

T = TypeVar("T")


def convert_all(
    files: Sequence[str], job: Job, convert: Callable[[Checked], T], watch: Watcher = unwatched
) -> Iterator[T]:
    """As :func:`~pgasrob.batch.checker.convert_each`, with the resources of the job, in the order of the files.

    ``convert`` is a function of a module, and what it returns can be pickled: runs and programs are too deep for that.
    Raises :class:`~pgasrob.batch.cluster.ClusterError`, and :class:`~pgasrob.batch.kept.KeptError`: before the first
    result where none can be kept, and after the last one where some could not.
    """
    if job.resources.cluster is not None:
        from pgasrob.batch.cluster.client import check_on_cluster

        return check_on_cluster(tasks(files, job), job, convert, watch)
    results = _converted(files, job, convert, watch)
    return results if job.kept is None else _kept(results, job.kept)


def _kept(results: Iterator[T], kept: Kept) -> Iterator[T]:
    """``results``, of processes that keep them, and what there is to say about the file."""
    from pgasrob.batch.store import Store, prepare

    prepare(kept)
    try:
        for result in results:
            while kept.damaged:
                kept.say(kept.damaged.pop(0))
            yield result
    finally:
        with suppress(KeptError):
            Store(kept).close()  # so that no log is left beside the file by processes that were killed
    if kept.unkept:
        raise KeptError(kept.unkept[0])


def _converted(files: Sequence[str], job: Job, convert: Callable[[Checked], T], watch: Watcher) -> Iterator[T]:
    todo = tasks(files, job)
    jobs = min(job.resources.jobs, len(todo))
    # What a pipe holds can be read once, so by one process.
    if jobs <= 1 or any(map(_is_pipe, files)):
        return convert_each(files, job, convert, watch)
    from pgasrob.batch.workers import check_on_workers

    return check_on_workers(todo, job, convert, jobs, watch)


def _is_pipe(file: str) -> bool:
    if file in GIVEN:
        return True
    with suppress(OSError, ValueError):  # no operating system would take the name
        return Path(file).is_fifo()
    return False
