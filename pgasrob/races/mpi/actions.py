"""The actions of an execution (the paper, sections 3 and 3.2), split where they have a start and an end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypedDict

from pgasrob.frontends.apis.mpi.window_calls import RmaCall, SyncCall
from pgasrob.program.core import Cell
from pgasrob.program.illegal_calls import IllegalCall
from pgasrob.program.statements import Span
from pgasrob.robustness.moves import Move

Kind = Literal[
    "load", "store", "issue", "vac", "buffer read", "buffer write", "begin", "vas", "done", "end", "external"
]  # fmt: skip
"""``load``, ``store``: the paper's ll and ls. ``issue``: r*_s, where a communication call stands; ``vac``: where it
takes effect, at its target; ``buffer read``, ``buffer write``: the ll and ls that it makes at its origin, between the
call and its completion (3.2.3, D3). ``begin``, ``done``, ``end``: a synchronisation call; what it completes is complete
at ``done``, and others are waited for between that and ``end``. ``vas``: the virtual action of it at a target.
``external``: an access to what a library keeps for itself, or a barrier (the paper's ses, or a part of such a call)."""

Place = tuple[Cell, int]
"""A byte of a cell."""
NONE = frozenset[Place]()


class More(TypedDict, total=False):
    """What some actions have beside their kind and place: fields of :class:`Action`."""

    call: RmaCall | SyncCall | None
    reads: frozenset[Place]
    writes: frozenset[Place]
    polls: bool


@dataclass(frozen=True, slots=True)
class Action:
    """``rank``: where it happens; ``origin``: the rank whose program it is part of. ``call``: the call, where it is one
    on a window. ``group``: the first action of the call that it is part of, itself where it stands alone.
    ``polls``: a load that a loop repeats until it brings what is waited for."""

    number: int
    kind: Kind
    rank: int
    origin: int
    span: Span
    group: int
    call: RmaCall | SyncCall | None = None
    reads: frozenset[Place] = NONE
    writes: frozenset[Place] = NONE
    polls: bool = False

    @property
    def places(self) -> frozenset[Place]:
        return self.reads | self.writes

    @property
    def cells(self) -> frozenset[Cell]:
        return frozenset(cell for cell, _ in self.places)

    @property
    def is_local(self) -> bool:
        """Whether it is an access to the rank's own memory: the paper's l*."""
        return self.kind in ("load", "store", "buffer read", "buffer write")

    @property
    def is_buffer(self) -> bool:
        return self.kind in ("buffer read", "buffer write")

    @property
    def rma(self) -> RmaCall:
        assert isinstance(self.call, RmaCall), "a virtual communication action has one"
        return self.call


Edge = tuple[int, int]
"""From the number of an action to that of another one."""


@dataclass(slots=True)
class Operation:
    """A communication call of an execution. ``completed``: the synchronisation call that completes it, by its action
    ``done``; ``returned``: those after which its buffers may be used again, the first of which completes it locally."""

    call: RmaCall
    issue: int
    vac: int | None = None
    buffers: list[int] = field(default_factory=list)
    completed: int | None = None
    returned: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Synchronisation:
    call: SyncCall
    rank: int
    begin: int
    done: int
    virtual: dict[int, int] = field(default_factory=dict)
    end: int | None = None

    @property
    def actions(self) -> tuple[int, ...]:
        return (self.begin, self.done) if self.end is None else (self.begin, self.done, self.end)


@dataclass(frozen=True, slots=True)
class Misuse:
    """A ``call`` of ``rank`` that is not allowed where it stands (3.1)."""

    rank: int
    call: IllegalCall


@dataclass(slots=True)
class Execution:
    """``po``: program order, from each action of a rank to its next one. ``so``: synchronisation order beside that.
    ``coso``: pairs in both synchronisation and consistency order (3.2.2). ``polled``: from a vac to the load of a loop
    that polls that reads what it wrote; ``fetched``: from the vac of an accumulate to those that fetch a later value.
    ``illegal``: the calls that the front end has found not to be allowed. ``shared``: the first call that makes a
    window to which all its ranks load and store, and where it stands. ``moves``: of the run that it is read from, and
    ``until``: how many actions there are after each."""

    ranks: int
    actions: list[Action] = field(default_factory=list)
    po: list[Edge] = field(default_factory=list)
    so: list[Edge] = field(default_factory=list)
    coso: list[Edge] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    synchronisations: list[Synchronisation] = field(default_factory=list)
    polled: list[Edge] = field(default_factory=list)
    fetched: list[Edge] = field(default_factory=list)
    illegal: list[Misuse] = field(default_factory=list)
    shared: tuple[str, Span] | None = None
    moves: list[Move] = field(default_factory=list)
    until: list[int] = field(default_factory=list)


MemoryModel = Literal["unified", "separate"]
Missing = Literal["happens-before", "consistency"]


@dataclass(frozen=True, slots=True)
class ModelRace:
    """Two conflicting actions that are not ordered by consistent happens-before (3.3.2), and what is ``missing``."""

    first: Action
    second: Action
    missing: Missing

    @property
    def actions(self) -> tuple[Action, Action]:
        return self.first, self.second
