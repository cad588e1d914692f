"""Windows as calls name them, and the ranks of them that are targets.

Every (window, target) has its own unordered queue, and so has every request. What a rank has used is noted, so that the
calls that complete wait for these queues alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, cast

from pgasrob.frontends.apis import split_barriers
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.flags import Group, Key
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.apis.mpi.handles import handle, key_of, places, ranks, split
from pgasrob.frontends.apis.mpi.header import NOCHECK, PROC_NULL
from pgasrob.frontends.apis.mpi.window_calls import SyncCall, SyncKind
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.values import NULL, Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait
from pgasrob.program.expressions import Const, Expr, is_of_rank, name_of, render
from pgasrob.program.illegal_calls import Opened
from pgasrob.program.value_classes import record


@record
class Closed:
    """The call that has ended the latest epoch, or freed a window. All are equal, for it is of interest to readers
    alone."""

    call: Opened | None = field(default=None, compare=False)


@record
class Window:
    """A window: its ``id``, the parts of its communicator's key and how many windows that had before; and its ranks."""

    id: Key
    members: tuple[int, ...]

    @property
    def name(self) -> str:
        """Short for the windows of all ranks."""
        first, *rest = self.id
        return f"win{rest[0]}" if first == "world" and len(rest) == 1 else "_".join(map(str, ("win", *self.id)))

    def key(self, what: str) -> str:
        """A name in the API's state, or of a published fact."""
        return ".".join(map(str, ("mpi", what, *self.id)))

    def group(self) -> Group:
        return Group(("mpi", "window", *self.id), self.members)

    def ranks(self, target: Target) -> tuple[int, ...]:
        """The rank of ``target`` as a tuple; empty where its number is not known."""
        return () if self.members is EVERYONE or not isinstance(target, int) else (self.members[target],)

    def rank(self, target: Target) -> Expr:
        """The rank of ``target``, for commands."""
        if self.members is EVERYONE:
            return Const(target) if isinstance(target, int) else target
        assert isinstance(target, int)
        return Const(self.members[target])

    def queue(self, call: Call, target: int | str, request: int | None = None) -> Const:
        """The queue of what is issued to ``target`` (see `named`), by itself or with a request."""
        name = f"{self.name}_to{target}" if isinstance(target, int) else self.name
        if request is None:
            return call.queue("mpi", "window", *self.id, target, name=name)
        return call.queue("mpi", "window", *self.id, "to", target, request, name=f"{name}_request{request}")

    def cell(self, call: Call, what: str, *key: int) -> Expr:
        """A cell of the window's own on every node."""
        name = "_".join(map(str, (self.name, what, *key)))
        return call.own_cell("mpi", what, *self.id, "of", *key, name=name)

    # What a rank has used: queues as (target, request or -1)

    def use(self, steps: Steps, target: Target, request: int | None = None) -> Const:
        """The queue to ``target``, or that of a request; note that it is used."""
        used = self._used(steps) | {(named(target), -1 if request is None else request)}
        steps.note(self.key("used"), used)
        return self.queue(steps.call, named(target), request)

    def fences_awaited(self, steps: Steps) -> tuple[int, ...] | None:
        """The ranks for whose fence this one has waited, after a fence that is no barrier; else None. Where ranks have
        no numbers it is not noted who they are."""
        return cast("tuple[int, ...] | None", steps.recall(self.key("fences")))

    def await_fence(self, steps: Steps, target: Target) -> None:
        """Wait for the fence that begins the epoch in which the window of ``target`` is accessed."""
        awaited = self.fences_awaited(steps)
        if awaited is None:
            return
        if self.members is EVERYONE:
            split_barriers.await_arrival(steps, self.group(), "MPI_Win_fence", self.rank(target))
            return
        for member in self.ranks(target):
            if member not in (*awaited, steps.call.rank):
                split_barriers.await_arrival(steps, self.group(), "MPI_Win_fence", member, chosen=True)
                steps.note(self.key("fences"), tuple(sorted((*awaited, member))))

    def _used(self, steps: Steps) -> frozenset[tuple[int | str, int]]:
        used = steps.recall(self.key("used"), frozenset())
        assert isinstance(used, frozenset)
        return used

    def queues(self, steps: Steps, targets: Iterable[Target] | None = None) -> list[Const]:
        """The queues used so far, to all targets or to some. Only a wait for all targets covers what was issued to
        `SOMEWHERE`."""
        chosen = None if targets is None else {named(target) for target in targets} - {SOMEWHERE}
        return [
            self.queue(steps.call, target, None if request < 0 else request)
            for target, request in sorted(self._used(steps), key=lambda used: (str(used[0]).zfill(9), used[1]))
            if chosen is None or target in chosen
        ]

    @contextmanager
    def marked(
        self, steps: Steps, kind: SyncKind, targets: Iterable[int] | None = None, **facts: Any
    ) -> Iterator[None]:
        """Mark where a synchronisation call begins and ends. ``targets``: the ranks that it is about, by default
        all; ``facts``: others that `SyncCall` has."""
        about = self.members if targets is None else tuple(targets)
        mark = SyncCall(steps.call.name, kind, self.name, self.members, about, **facts)
        steps.mark(mark)
        yield
        steps.mark(replace(mark, ends=True))

    def complete(self, steps: Steps, targets: Iterable[Target] | None = None) -> None:
        """Wait until the operations to ``targets`` are complete on both sides."""
        steps.do(*(Wait(queue) for queue in self.queues(steps, targets)))


Target = int | Expr
"""A rank of a window by its place; an expression of the rank where the number of ranks is not known."""
SOMEWHERE = "somewhere"
"""The name of a target that may be another one each time."""


def named(target: Target) -> int | str:
    """A name of ``target`` that is the same in all runs of a rank, or `SOMEWHERE`."""
    if isinstance(target, int):
        return target
    return name_of(target) if is_of_rank(target) else SOMEWHERE


def shown(target: Target) -> str:
    return str(target) if isinstance(target, int) else render(target)


def at_target(
    call: Call, index: int, of: Window, kind: SyncKind, act: Callable[[Steps, Target], None], **facts: Any
) -> list[Outcome]:
    """The outcomes of a synchronisation call with the target that argument ``index`` names: ``act`` adds what it does,
    which is nothing for MPI_PROC_NULL. ``facts``: as in `Window.marked`."""

    def go(steps: Steps, values: Mapping[int, Target]) -> None:
        if values[index] != PROC_NULL:
            with of.marked(steps, kind, of.ranks(values[index]), **facts):
                act(steps, values[index])

    return split(call, {index: places(of.group())}, go)


def window(call: Call, index: int) -> Window:
    """The window that argument ``index`` names, which has not been freed."""
    if call.arguments[index] == NULL:
        why = f"{call.name} of MPI_WIN_NULL, which MPI_Win_free leaves behind"
        raise NotAllowed(rules.FREED, why, _last_freed(call.state))
    of = of_handle(handle(call, index, "window"))
    if (freed := call.state.get(of.key("freed"))) is not None:
        raise NotAllowed(rules.FREED, f"{call.name} of a window that has been freed", cast(Closed, freed).call)
    return of


def _last_freed(state: Mapping[str, Hashable]) -> Opened | None:
    """The call that has freed a window, where it is one alone."""
    freed = [value.call for key, value in state.items() if key.startswith("mpi.freed.") and isinstance(value, Closed)]
    return freed[0] if len(freed) == 1 else None


def of_handle(value: Handle) -> Window:
    id, members = value.data
    assert isinstance(id, tuple) and isinstance(members, tuple)
    return Window(key_of(id), ranks(members))


def modes(call: Call, index: int) -> int:
    """The assertions in argument ``index``: promises of the program. The verdict rests on them without a check but for
    MPI_MODE_NOCHECK."""
    given = call.arguments[index]
    if given not in (Known(0), Known(NOCHECK)):
        call.rests_on(Kind.MODES_HOLD, call.name)
    return given.value if isinstance(given, Known) else 0
