"""What batches on processes and on clusters share: results in the order of the tasks, and Ctrl-C."""

from __future__ import annotations

import pickle
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

from pgasrob.batch.checker import Checker
from pgasrob.batch.job import Checked, Job, Task
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.watch import Progress, Watcher

T = TypeVar("T")


class Interrupts:
    """Ctrl-C, put off where it would leave something half done: a message half sent, a result half noted."""

    def __init__(self) -> None:
        self.asked = self._welcome = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        # Where Ctrl-C is ignored (a background job) it stays so, and only the main thread can say what it does.
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        # A second one must not cut short what is done about the first.
        if self._welcome and not again:
            raise KeyboardInterrupt

    @contextmanager
    def welcome(self, yes: bool = True) -> Iterator[None]:
        """A context in which Ctrl-C may interrupt at any point, or, with ``yes`` false, nowhere."""
        before, self._welcome = self._welcome, yes
        try:
            yield
        finally:
            self._welcome = before

    def due(self) -> None:
        """Raise a KeyboardInterrupt that was put off."""
        if self.asked:
            raise KeyboardInterrupt


class Watching:
    """The display of a check that another process does."""

    def __init__(self, context: AbstractContextManager[Callable[[Progress], None] | None]) -> None:
        self._context, self._show = context, context.__enter__()

    def show(self, progress: Progress) -> None:
        if self._show:
            self._show(progress)

    def end(self) -> None:
        self._context.__exit__(None, None, None)


class Crew(ABC, Generic[T]):
    """Workers at ``tasks``, and the results that wait for earlier ones."""

    def __init__(self, tasks: Sequence[Task], job: Job, convert: Callable[[Checked], T], watch: Watcher) -> None:
        self._tasks, self._job, self._convert, self._watch = tasks, job, convert, watch
        self._checker = Checker(job)
        self._given = self._returned = 0
        """How many tasks have been handed out, and how many results have been returned."""
        # Pickled: many results can pile up behind a long check.
        self._results: dict[int, bytes] = {}

    def work(self, interrupts: Interrupts) -> Iterator[T]:
        """Do the tasks; the results as they come, in order."""
        try:
            for result in self._work(interrupts):
                with interrupts.welcome():
                    yield result
        except KeyboardInterrupt:
            yield from self._last_results()
            raise
        finally:
            self._end()

    @abstractmethod
    def _work(self, interrupts: Interrupts) -> Iterator[T]: ...

    @abstractmethod
    def _last_results(self) -> Iterator[T]:
        """After Ctrl-C: what there is of the tasks that have been handed out."""

    @abstractmethod
    def _end(self) -> None: ...

    def _ready(self) -> Iterator[T]:
        """The results that come next in order."""
        while (pickled := self._results.pop(self._returned, None)) is not None:
            self._returned += 1
            result: T | None = pickle.loads(pickled)
            if result is not None:
                yield result

    def _set_unknown(self, number: int, nodes: int | None, reason: Reason) -> None:
        """Note `unknown` as the result of a task, for ``reason``."""
        self._set(number, self._checker.unknown(self._tasks[number].file, nodes, reason))

    def _set(self, number: int, checked: Checked) -> None:
        """Note the result of a task."""
        self._results[number] = pickle.dumps(self._convert(checked))
