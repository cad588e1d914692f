"""Ends a check at its limits of states, time and memory, and reports its progress.

A search looks at its limits itself, between two pieces. All else that a check does (reading, lowering, analyses,
replaying) knows of no limit: while it is at work, a thread watches the clock and the memory, and has it end at its next
stop point (`stop_points.py`). Where it comes to none for `HARD` seconds it is ended at whatever instruction it is: what
that leaves half done matters less than a check that does not end.
"""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from pgasrob.robustness.limits import Limits, resident_memory
from pgasrob.robustness.reasons import MemoryLimit, Reason, StateLimit, TimeLimit
from pgasrob.stop_points import POINT

T = TypeVar("T")

LOOK_AROUND = 0.05
"""Seconds between two looks at the limits."""
PAUSE = 0.05
"""The same for the thread that does so where a check does not look itself."""
GRACE = 0.5
"""Seconds for what is reported of a check that a limit has ended: replaying the runs that are known by then, and
writing them down."""


HARD = 2.0
"""Seconds after a limit within which a stop point is expected."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot of a running search for a display: which phase, states so far, seconds, what the phase is at."""

    phase: str
    states: int
    seconds: float
    doing: str


Watcher = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Given a title, a context in which one check runs; what it enters is called with the check's progress."""


def unwatched(title: str) -> AbstractContextManager[None]:
    """A watcher that shows nothing."""
    return nullcontext()


class LimitReached(Exception):
    """A limit ended the search early: ``reason`` says which."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _Ended(BaseException):
    """Raised in the thread that the ``guard`` watches, at a stop point; None: anywhere, by the innermost guard that was
    not heard. Like KeyboardInterrupt, only who has started the guard may catch it."""

    def __init__(self, guard: _Guard | None = None) -> None:
        self.guard = guard


_at_work = threading.local()
"""``watch`` and ``guard``: those of the innermost :meth:`Watch.within` of this thread."""


def at(phase: str) -> None:
    """Note the phase of the check of this thread from now on, for the reason when a limit ends it."""
    watch: Watch | None = getattr(_at_work, "watch", None)
    if watch is not None:
        watch.phase = phase


class Watch:
    """The ``limits`` of a check that ``started`` then (`time.monotonic`); ``progress`` is called a few times a second.

    Memory counts from the time when the watch is made. ``phase``: what is at work; ``latest``: what was so last, or has
    failed.
    """

    def __init__(self, limits: Limits, progress: Callable[[Progress], None] | None, started: float) -> None:
        self.limits, self.progress, self.started = limits, progress, started
        self._looked = started
        self._resident = resident_memory()
        self._grace, self._more_time = False, 0.0
        self.phase = self.latest = self._failed = ""

    def look_around(self, phase: str, states: int, doing: str = "") -> None:
        """Look at the limits, and report the progress, if it is time to. Raises :class:`LimitReached`."""
        limits = self.limits
        if limits.max_states is not None and states > limits.max_states:
            raise LimitReached(StateLimit(limits.max_states))
        now = time.monotonic()
        if now - self._looked < LOOK_AROUND:
            return
        self._looked = now
        if reached := self._reached(now):
            raise LimitReached(reached)
        if self.progress:
            self.progress(Progress(phase, states, now - self.started, doing))

    def within(self, phase: str, work: Callable[[], T], grace: float = 0, *, looks: bool = False) -> T:
        """What ``work`` gives, ended by :class:`LimitReached` when a limit of time or memory is reached on the way.

        ``phase`` completes the sentence of the reason: "while reading the program"; where one ``within`` stands in
        another, it is that of the inner one. ``grace``: so many seconds there are beyond the time limit, or from now on
        where a limit has been reached before. ``looks``: ``work`` looks around itself, and has something to give when a
        limit is reached, so it is ended only where it has not come to that within `GRACE`.
        """
        outer, self.phase = self.phase, phase
        if outer:
            try:
                return work()
            except BaseException:
                self._failed = self._failed or self.phase
                raise
            finally:
                self.phase = outer
        around, _at_work.watch = getattr(_at_work, "watch", None), self
        now = time.monotonic()
        self._grace = bool(grace)
        if grace and self.limits.timeout is not None:
            self._more_time = grace + max(0.0, now - (self.started + self.limits.timeout))
        until = self._until()
        guard = _Guard(self, None if until is None else until - now, GRACE if looks else 0.0)
        try:
            if reached := self._reached(now):
                raise LimitReached(reached)
            with guard:
                result = work()
            if guard.raised and guard.reached is not None:
                raise LimitReached(guard.reached)  # somewhere on the way it was not let through
            return result
        except _Ended as ended:
            if ended.guard not in (guard, None) or guard.reached is None:
                raise  # it is for a watch around this one
            raise LimitReached(guard.reached) from None
        finally:
            self.latest, self._failed = self._failed or self.phase, ""
            self.phase, self._grace, self._more_time, _at_work.watch = outer, False, 0.0, around
            guard.__exit__()  # what is raised at any instruction may have kept it from that

    def _until(self) -> float | None:
        timeout = self.limits.timeout
        return None if timeout is None else self.started + timeout + self._more_time

    def _reached(self, now: float) -> Reason | None:
        """The limit that has been reached."""
        until = self._until()
        return self.late() if until is not None and now > until else self.too_large()

    def late(self) -> Reason:
        """The reason when the time is up."""
        assert self.limits.timeout is not None
        return TimeLimit(self.limits.timeout, self.phase)

    def too_large(self) -> Reason | None:
        """The reason when the process has grown too much."""
        limit = self.limits.memory
        if limit is not None and not self._grace and resident_memory() - self._resident > limit:
            return MemoryLimit(limit, self.phase)
        return None


class _Guard:
    """Has what the thread that made it does end at its next stop point when a limit of ``watch`` has been reached, of
    which ``seconds`` are left, for ``patience`` seconds."""

    def __init__(self, watch: Watch, seconds: float | None, patience: float) -> None:
        self.reached: Reason | None = None
        self.raised = False
        self.outer: _Guard | None = getattr(_at_work, "guard", None)
        self._watch = watch
        self._until = None if seconds is None else perf_counter() + seconds
        self._patience = patience
        self._since: float | None = None
        self._thread = threading.get_ident()
        self._asked: float | None = None
        self._insisted = False

    def __enter__(self) -> None:
        _at_work.guard = self
        _SENTINEL.add(self)

    def __exit__(self, *exception: object) -> None:
        _at_work.guard = self.outer
        _SENTINEL.remove(self)

    def look(self) -> None:
        """Look at the limits, in the thread of the sentinel."""
        now = perf_counter()
        late = self._until is not None and now > self._until
        reached = self._watch.late() if late else self._watch.too_large()
        self._since = None if reached is None else now if self._since is None else self._since
        if reached is not None and self._since is not None and now - self._since >= self._patience:
            self.reached = self.reached or reached

    def insist(self) -> None:
        """Raise it in the thread that is watched, which has not come to a stop point for too long."""
        now = time.monotonic()
        if self.reached is None or self.raised:
            return
        if self._asked is None:
            self._asked = now
        elif now - self._asked >= HARD:
            self._asked, self._insisted = now, True
            _raise_in(self._thread)

    def relent(self) -> None:
        """Let what has been raised come to pass here, in the thread that is watched, if it has not yet."""
        if self._insisted:
            self._insisted = False
            # There is one at most, and it cannot be taken back: Python 3.11 would go on looking for it for ever.
            with suppress(_Ended):
                _raise_in(self._thread)
                while True:
                    pass

    def pause(self) -> float:
        """Seconds to the next look."""
        left = PAUSE if self._until is None else self._until - perf_counter()
        return min(PAUSE, max(left, PAUSE / 10))


def _raise_in(thread: int) -> None:
    """Have ``thread`` raise `_Ended` at one of its next instructions of Python."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Ended))


def _stop() -> None:
    """At a stop point: end what this thread does, if a limit of it has been reached."""
    guard: _Guard | None = getattr(_at_work, "guard", None)
    while guard is not None:
        if guard.reached is not None:
            guard.raised = True
            raise _Ended(guard)
        guard = guard.outer


POINT.ask = _stop


class _Sentinel:
    """The thread that has the guards look at their limits: one for all of them and for what comes next, since to start
    one takes longer than what many of them watch. It ends when there has been nothing to watch for a while, and before
    the process forks."""

    def __init__(self) -> None:
        self._guards: set[_Guard] = set()
        self._lately = self._there = False
        self._lock, self._asleep = _thread.allocate_lock(), _thread.allocate_lock()
        self._asleep.acquire()

    def add(self, guard: _Guard) -> None:
        with self._lock:
            self._guards.add(guard)
            self._lately = True
            if not self._there:
                _thread.start_new_thread(self._watch, ())
                self._there = True
            elif guard.pause() < PAUSE:
                self._wake()

    def remove(self, guard: _Guard) -> None:
        with self._lock:
            self._guards.discard(guard)
            guard.relent()
            POINT.due = POINT.due and any(each.reached is not None for each in self._guards)

    def rest(self) -> None:
        """Have the thread end, unless there is something to watch."""
        while self._there and not self._guards:
            with self._lock:
                self._lately = False
                self._wake()
            time.sleep(PAUSE / 100)

    def _wake(self) -> None:
        if self._asleep.locked():
            self._asleep.release()

    def _watch(self) -> None:
        while True:
            with self._lock:
                pause = min((guard.pause() for guard in self._guards), default=PAUSE)
            self._asleep.acquire(timeout=pause)
            with self._lock:
                guards = tuple(self._guards)
                if not guards and not self._lately:
                    self._there = False
                    return
                self._lately = False
            for guard in guards:
                with suppress(MemoryError):  # at the next look there may be some
                    guard.look()
            with self._lock:
                POINT.due = any(guard.reached is not None for guard in self._guards)
                for guard in self._guards:
                    guard.insist()


_SENTINEL = _Sentinel()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_SENTINEL.rest, after_in_child=_SENTINEL.__init__)  # type: ignore[misc]
