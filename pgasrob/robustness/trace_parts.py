"""An exploration of traces in parts, of which several may be gone through at a time.

Whoever goes through a part gives away, each time that this has taken :data:`LARGE`, what there is to try at the first
node where there is more than what is being followed: a new part, which comes next in the order of the search. When this
happens depends on the part alone. So parts and their counts do not depend on how many workers there are, and nor does
the answer: what is known is what has been found in the parts that come before the first one that is not done. The
others have been gone through ahead of their time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import ref

if TYPE_CHECKING:
    from pgasrob._kernel import Traces
    from pgasrob.robustness.kernel_tables import Tables
    from pgasrob.robustness.moves import KernelMove

LARGE = 1 << 20
"""Effort after which a part is divided: part of a second."""
CHUNK = 1 << 15
"""Effort between two looks at what others have found, once there are several parts."""
IDLE = 0.5
"""Seconds after which nobody helps a search that has not been asked to go on."""
CALLER = "whoever calls `run`"
"""The owner of the parts that are not gone through by others."""
PAUSE = 0.01
"""Seconds between two looks at what another one is at."""

Path = Sequence[Sequence[tuple[int, int]]]
"""A part as the kernel has it, where ``split`` says what it is."""


class Report(NamedTuple):
    """What going through a part has come to: the attributes of the kernel's ``Traces``."""

    events: int
    effort: int
    traces: int
    redundant: int
    complete: bool
    undecided_ends: bool
    too_long: bool
    gave_up: bool
    undecided: list[tuple[int, int]]
    violation: list[KernelMove] | None
    fault: tuple[list[KernelMove], int, int] | None
    failed: list[tuple[int, list[KernelMove], int, int]]
    deadlock: list[KernelMove] | None

    @property
    def decides(self) -> bool:
        """Whether the search ends here, whatever comes behind."""
        return not self.complete or self.fault is not None

    @property
    def shows(self) -> bool:
        """Whether there is more to it than counts."""
        return self.decides or bool(self.undecided_ends or self.undecided or self.failed or self.deadlock is not None)


class Beginning(NamedTuple):
    """What the kernel begins with, whatever the part."""

    tables: Tables
    longest: int
    guesses: bool
    memory: int | None
    behind: Sequence[tuple[int, int] | None]

    def at(self, part: Path) -> Going:
        from pgasrob._kernel import Traces

        tables, longest, guesses, memory, behind = self
        of_it = Traces(tables, longest=longest, guesses=guesses, memory_limit=memory, part=part, behind=behind)
        return Going(of_it)

    @property
    def to_send(self) -> Beginning:
        """The same without what only who decodes the answer needs."""
        return self._replace(tables=replace(self.tables, edges=[], claims=[]))


class Going:
    """A part that is being gone through. ``given``: what has been given away of it, in the order of time, which is the
    opposite of that of the search."""

    def __init__(self, traces: Traces) -> None:
        self.traces, self._large = traces, LARGE
        self.given: list[Path] = []

    def on(self, effort: int) -> bool:
        """Go on for so much; whether it is done."""
        traces = self.traces
        if traces.run(min(effort, self._large - traces.effort)):
            return True
        if traces.effort >= self._large:
            self._large += LARGE
            if (given := traces.split()) is not None:
                self.given.append(given)
        return False

    @property
    def report(self) -> Report:
        return Report(*(getattr(self.traces, name) for name in Report._fields))


def go_through(begin: Beginning, part: Path, tell: Callable[[list[Path]], None]) -> tuple[Report, list[Path]]:
    """Go through ``part``, and ``tell`` at the beginning and whenever it grows what has been given away of it."""
    going, known = begin.at(part), 0
    tell(going.given)
    while not going.on(CHUNK) and going.traces.fault is None:
        if len(going.given) > known:
            known = len(going.given)
            tell(going.given)
    return going.report, going.given


class Elsewhere(Protocol):
    """Other processes that go through parts."""

    def count(self) -> int:
        """How many do so at a time, at most."""

    def go_through(self, begin: Beginning, part: Path, hear: Callable[[list[Path]], bool]) -> Report | None:
        """What :func:`go_through` comes to there, None if that is lost; what it tells is for ``hear``, which says
        whether the answer is wanted."""


class _Part:
    """A part in its place. ``owner``: who is to go through it, None: nobody yet; ``begun``: whether somebody has begun;
    ``lost``: whether that came to nothing elsewhere, and may do so again; ``given``: how many parts have been given
    away of it; ``report``: what it has come to in the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.owner: object = None
        self.begun = self.lost = False
        self.going: Going | None = None
        self.given = self.events = self.effort = 0
        self.report: Report | None = None


class DividedTraces:
    """All parts of an exploration as one, with the attributes of the kernel's ``Traces``.

    ``helpers``: how many threads go through parts beside the caller, once there are several; ``elsewhere``: who does so
    besides. Between two calls of ``run`` the counts grow by a part that is done before it is known what has been found
    in it, so that limits of states do not depend on who has been faster.
    """

    def __init__(self, begin: Beginning, helpers: int = 0, elsewhere: Elsewhere | None = None) -> None:
        self._begin, self._helpers, self._elsewhere = begin, helpers, elsewhere
        whole = _Part(())
        whole.owner, whole.begun, whole.going = CALLER, True, begin.at(())
        self._first = whole.going.traces
        self.checks_deadlock = self._first.checks_deadlock
        self._parts = [whole]
        self._own: _Part | None = whole
        self._passed: list[Report] = []
        self._counts = dict.fromkeys(("events", "effort", "traces", "redundant"), 0)
        # Entered and left by one instruction each: Ctrl-C between two of a lock made of Python would leave it locked.
        self._lock = threading.RLock()
        self._asked = 0.0
        self._failure: BaseException | None = None

    def run(self, effort: int) -> bool:
        """Go on for so much, or until a part is done; True when the search is over."""
        with self._lock:
            self._asked = time.monotonic()
            if self._failure is not None:
                raise self._failure
            if self._parts and (report := self._parts[0].report) is not None:
                self._pass(report)
                if not self._parts or self._parts[0].report is not None:
                    return not self._parts
            if not self._parts:
                return True
            self._own = self._own or self._take(CALLER)
        if self._own is None:
            time.sleep(PAUSE)
            return False
        whole = len(self._parts) == 1 and not self._own.path
        if self._go_on(self._own, effort if whole else CHUNK):
            self._own = None
        return False

    def _pass(self, report: Report) -> None:
        """Take note of what has been found in the first part."""
        if report.shows:
            self._passed.append(report)
        for name in self._counts:
            self._counts[name] += getattr(report, name)
        del self._parts[: len(self._parts) if report.decides else 1]

    def _take(self, owner: object, elsewhere: bool = False) -> _Part | None:
        """The next part that nobody has taken, and that may be needed; for who has nothing else to do, one that nobody
        has begun. ``elsewhere``: to be gone through there, if that has not been tried."""
        needed = list(takewhile(lambda part: part.report is None or not part.report.decides, self._parts))
        part = next((part for part in needed if part.owner is None and not (elsewhere and part.lost)), None)
        if part is None and owner is CALLER:
            part = next((part for part in needed if not part.begun), None)
        if part is not None:
            part.owner = owner
        return part

    def _go_on(self, part: _Part, effort: int) -> bool:
        """Go on with a part here; whether that is done."""
        part.begun = True
        going = part.going = part.going or self._begin.at(part.path)
        traces = going.traces
        done = going.on(effort) or (traces is not self._first and traces.fault is not None)
        with self._lock:
            part.events, part.effort = traces.events, traces.effort
            self._hear(part, part.owner, going.given)
            if done:
                self._end(part, going.report)
        return done

    def _hear(self, part: _Part, owner: object, given: Sequence[Path]) -> bool:
        """Take note that this has been ``given`` away of a part, by whoever was its owner, for all give away the same;
        whether that is its owner still."""
        with self._lock:
            if part not in self._parts:
                return False
            part.begun = True
            for path in given[part.given :]:
                self._parts.insert(self._parts.index(part) + 1, _Part(path))
                part.given += 1
                self._ask_for_help()
            return part.owner is owner

    def _end(self, part: _Part, report: Report) -> None:
        part.report, part.going = report, None
        part.events, part.effort = report.events, report.effort

    # Helpers

    def _ask_for_help(self) -> None:
        for _ in range(self._helpers):
            threading.Thread(target=_help, args=(ref(self),)).start()
        if self._elsewhere is not None:
            threading.Thread(target=_find_help, args=(ref(self), self._elsewhere), daemon=True).start()
        self._helpers, self._elsewhere = 0, None

    @property
    def _wanted(self) -> bool:
        return not self.failed_on_the_way and time.monotonic() - self._asked < IDLE

    @property
    def failed_on_the_way(self) -> bool:
        """Whether something has gone wrong in a thread, after which nothing goes on."""
        return self._failure is not None

    def help(self, part: _Part | None) -> tuple[_Part | None, bool]:
        """Go on with ``part``, or what comes next, in a thread of its own; what is left of it to go on with, and
        whether there has been something to do."""
        with self._lock:
            if not self._wanted or (part := part or self._take(threading.current_thread())) is None:
                return part, False
        try:
            return (None if self._go_on(part, CHUNK) else part), True
        except BaseException as failure:
            self._failure = failure
            return None, False

    def hand_out(self, elsewhere: Elsewhere) -> bool:
        """Have what comes next gone through elsewhere; whether there is anything. What is lost there, a process with it
        perhaps, is for those here: it might be lost each time."""
        me, report = object(), None
        with self._lock:
            if not self._wanted or (part := self._take(me, elsewhere=True)) is None:
                return False
        try:
            report = elsewhere.go_through(self._begin.to_send, part.path, lambda given: self._hear(part, me, given))
        except BaseException as failure:
            self._failure = failure
        with self._lock:
            if part.owner is me and report is not None:
                self._end(part, report)
            elif part.owner is me:
                part.owner, part.begun, part.lost = None, False, True
        return report is not None

    # What is known

    @property
    def _known(self) -> Sequence[Report | Traces]:
        """What is known is what these show, the first one first: of the part that began as the whole at once."""
        return [*self._passed, *([self._first] if self._parts and not self._parts[0].path else [])]

    def _count(self, name: str) -> int:
        at_work = self._parts[0] if self._parts else None
        if at_work is None:
            return self._counts[name]
        return self._counts[name] + getattr(at_work if at_work.path else self._first, name, 0)

    @property
    def events(self) -> int:
        return self._count("events")

    @property
    def effort(self) -> int:
        return self._count("effort")

    @property
    def traces(self) -> int:
        return self._count("traces")

    @property
    def redundant(self) -> int:
        return self._count("redundant")

    @property
    def complete(self) -> bool:
        return not self._parts and all(report.complete for report in self._passed)

    @property
    def undecided_ends(self) -> bool:
        return any(each.undecided_ends for each in self._known)

    @property
    def too_long(self) -> bool:
        return any(each.too_long for each in self._known)

    @property
    def gave_up(self) -> bool:
        return any(each.gave_up for each in self._known)

    @property
    def undecided(self) -> list[tuple[int, int]]:
        return list(dict.fromkeys(step for each in self._known for step in each.undecided))

    @property
    def violation(self) -> list[KernelMove] | None:
        return next((each.violation for each in self._known if each.violation is not None), None)

    @property
    def fault(self) -> tuple[list[KernelMove], int, int] | None:
        return next((each.fault for each in self._known if each.fault is not None), None)

    @property
    def failed(self) -> list[tuple[int, list[KernelMove], int, int]]:
        failed = {found[0]: found for each in reversed(self._known) for found in each.failed}
        return list(failed.values())

    @property
    def failures(self) -> int:
        return len(self.failed)

    @property
    def deadlock(self) -> list[KernelMove] | None:
        return next((each.deadlock for each in self._known if each.deadlock is not None), None)


def _help(search: ref[DividedTraces]) -> None:
    """Go through parts until nobody wants to know, or the program ends."""
    part: _Part | None = None
    while threading.main_thread().is_alive() and (found := search()) is not None and not found.failed_on_the_way:
        part, helped = found.help(part)
        del found
        if not helped:
            time.sleep(PAUSE)


def _find_help(search: ref[DividedTraces], elsewhere: Elsewhere) -> None:
    for _ in range(elsewhere.count()):
        threading.Thread(target=_hand_out, args=(search, elsewhere), daemon=True).start()


def _hand_out(search: ref[DividedTraces], elsewhere: Elsewhere) -> None:
    while (found := search()) is not None and not found.failed_on_the_way:
        helped = found.hand_out(elsewhere)
        del found
        if not helped:
            time.sleep(PAUSE)
