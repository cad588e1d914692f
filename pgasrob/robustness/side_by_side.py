"""A batch on one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pgasrob.program.files import GIVEN
from pgasrob.robustness.batch import Checked, Job, Watcher, tasks, told_all, unwatched

T = TypeVar("T")


def convert_all(
    files: Sequence[str], job: Job, convert: Callable[[Checked], T], jobs: int = 1, watch: Watcher = unwatched
) -> Iterator[T]:
    """As :func:`~pgasrob.robustness.batch.told_all`, on ``jobs`` processes, in the order of the files.

    ``convert`` is a function of a module, and what it returns can be pickled: runs and programs are too deep for that.
    """
    results = _converted(files, job, convert, jobs, watch)
    return results if job.kept is None else _kept(results, job.kept.path)


def _kept(results: Iterator[T], path: str) -> Iterator[T]:
    """``results``, of processes that keep them in the file ``path``; :class:`~pgasrob.robustness.kept.KeptError` comes
    before the first one where that is not possible."""
    from pgasrob.robustness.store import Store

    Store(path).close()  # a connection must not be open when processes fork
    try:
        yield from results
    finally:
        Store(path).close()  # so that no log is left beside the file by processes that were killed


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
    if file in GIVEN:
        return True
    with suppress(OSError, ValueError):  # no operating system would take the name
        return Path(file).is_fifo()
    return False
