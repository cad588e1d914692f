"""A batch on one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pgasrob.robustness.batch import Checked, Job, Watcher, tasks, told_all, unwatched

T = TypeVar("T")


def convert_all(
    files: Sequence[str], job: Job, convert: Callable[[Checked], T], jobs: int = 1, watch: Watcher = unwatched
) -> Iterator[T]:
    """As :func:`~pgasrob.robustness.batch.told_all`, on ``jobs`` processes, in the order of the files.

    ``convert`` is a function of a module, and what it returns can be pickled: runs and programs are too deep for that.
    """
    results = _converted(files, job, convert, jobs, watch)
    return job.kept.around(results) if job.kept else results


def _converted(
    files: Sequence[str], job: Job, convert: Callable[[Checked], T], jobs: int, watch: Watcher
) -> Iterator[T]:
    todo = tasks(files, job)
    jobs = min(jobs, len(todo))
    # What a pipe holds can be read once, so by one process.
    if jobs <= 1 or any(map(_is_pipe, files)):
        return told_all(files, job, convert, watch)
    from pgasrob.robustness.workers import check_on_workers

    return check_on_workers(todo, job, convert, jobs, watch)


def _is_pipe(file: str) -> bool:
    with suppress(OSError, ValueError):  # no operating system would take the name
        return Path(file).is_fifo()
    return False
