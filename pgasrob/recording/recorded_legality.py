"""Which calls of a recorded run of MPI are not allowed where they stand: those of each rank, one after the other.

The rules are those of the front end (`frontends.apis.mpi.epochs`). What takes the values of a run to tell, false
MPI_MODE_NOCHECK, is left out, and so are requests and the life of windows, which libraries refuse by themselves.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob.frontends.apis.call_steps import NEVER
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.targets import Window
from pgasrob.program.expressions import Expr
from pgasrob.program.illegal_calls import IllegalCall, Opened, Rule
from pgasrob.recording.recorded_calls import Made
from pgasrob.runtime.record.records import Operation

MPI = 2
"""`Trace.api` of a program that uses it."""
NO_PRECEDE, NO_SUCCEED = 2 | 8192, 16 | 16384
"""The assertions of a fence as Open MPI and MPICH have them."""
WITH_REQUEST = "MPI_R"


class _Caller(NamedTuple):
    name: str
    rank: int


@dataclass
class _Notes:
    """What is noted of the calls of one rank (:class:`~pgasrob.frontends.apis.mpi.epochs.Noting`), and what is
    ``found``."""

    made: Made
    state: dict[str, Hashable]
    found: list[IllegalCall] = field(default_factory=list)

    @property
    def call(self) -> _Caller:
        return _Caller(self.made.call.function, self.made.rank)

    def note(self, key: str, value: Hashable) -> None:
        self.state[key] = value

    def recall(self, key: str, default: Hashable = None) -> Hashable:
        value = self.state.get(key)
        return default if value is None else value

    def opened(self) -> Opened:
        return Opened(self.call.name, self.made.span)

    def illegal(
        self, rule: Rule, sentence: str, opened: Opened | None = None, remedy: str = "", unless: Expr = NEVER
    ) -> None:
        self.found.append(IllegalCall(rule, self.made.span, sentence, opened, remedy))


class Legality:
    """Looks at the calls of all ranks as they come. ``found``: the calls that are not allowed, each with the first rank
    that has made it."""

    def __init__(self, ranks: int) -> None:
        self._states: list[dict[str, Hashable]] = [{} for _ in range(ranks)]
        self._members = tuple(range(ranks))
        self.found: dict[IllegalCall, int] = {}

    def noted_of(self, rank: int) -> object:
        """A copy of what is noted of a rank."""
        return dict(self._states[rank])

    def look_at(self, made: Made, group: tuple[int, ...] = ()) -> None:
        """The next call of its rank; ``group``: of a post or start."""
        steps = _Notes(made, self._states[made.rank])
        self._check(steps, made, group)
        for call in steps.found:
            self.found.setdefault(call, made.rank)

    def _check(self, steps: _Notes, made: Made, group: tuple[int, ...]) -> None:
        named, operation = made.named, made.call.operation
        of = Window(("recorded", named.get("window", named.get("queue", 0))), self._members)
        target = named.get("rank", -1)
        match operation:
            case Operation.PUT | Operation.GET | Operation.ATOMIC:
                if target >= 0:
                    epochs.communicates(steps, of, target, made.call.function.startswith(WITH_REQUEST))
            case Operation.FLUSH:
                epochs.flushes(steps, of, target if target >= 0 else None)
            case Operation.LOCK if target >= 0:
                epochs.begins(steps, of)
                if epochs.may_lock(steps, of, target):
                    mine = (target, (named["exclusive_or_shared"], steps.opened()))
                    epochs.hold(steps, of, (*epochs.held(steps, of), mine))
            case Operation.LOCK_ALL:
                epochs.begins(steps, of)
                if epochs.may_lock_all(steps, of):
                    epochs.hold(steps, of, ((epochs.ALL, (2, steps.opened())),))
            case Operation.UNLOCK if target >= 0:
                epochs.unlocks(steps, of, target)
            case Operation.UNLOCK_ALL:
                epochs.unlocks_all(steps, of)
            case Operation.WINDOW_FENCE:
                given = named["assertion"]
                epochs.fences(steps, of, bool(given & NO_PRECEDE), bool(given & NO_SUCCEED))
            case Operation.POST:
                epochs.posts(steps, of, group)
            case Operation.START:
                epochs.begins(steps, of)
                steps.note(of.key("started"), epochs.Group(group, steps.opened()))
            case Operation.COMPLETE:
                if epochs.started(steps, of) is None:
                    steps.illegal(rules.COMPLETE_UNSTARTED, f"{steps.call.name} without MPI_Win_start")
                steps.note(of.key("started"), None)
                epochs.close(steps, of)
            case Operation.WAIT | Operation.TEST_EXPOSURE:
                if epochs.posted(steps, of) is None:
                    steps.illegal(rules.WAIT_UNPOSTED, f"{steps.call.name} without MPI_Win_post")
                if operation is Operation.WAIT or any(made.results[:1]):  # a test, when it has returned 1
                    steps.note(of.key("posted"), None)
            case Operation.WINDOW_FREE:
                epochs.frees(steps, of)
            case Operation.FINALISE:
                for opened, how in epochs.left_open(steps.state)[:1]:
                    steps.illegal(rules.OPEN_AT_END, f"{steps.call.name} {how}", opened)
            case _:
                pass
