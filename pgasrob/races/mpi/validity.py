"""Which calls are allowed where (section 3.1).

What the front end looks at is left out: it refuses to unlock what is not locked, to lock twice, and to end epochs that
have not begun.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from pgasrob.frontends.apis.mpi.window_calls import RmaCall, SyncCall
from pgasrob.races.mpi.actions import Action, Misuse
from pgasrob.races.mpi.consistency import Orders


@dataclass(slots=True)
class _Epochs:
    """Of one rank and window. ``fence``: whether a fence has begun an epoch; ``used``: the first operation in it."""

    fence: bool = False
    used: Action | None = None
    locked: dict[int, Action] = field(default_factory=dict)
    all: Action | None = None
    started: frozenset[int] = frozenset()
    pending: dict[int, Action] = field(default_factory=dict)


def misuses(orders: Orders) -> Iterator[Misuse]:
    """What is not allowed, in the order of the run; what is left open at its end only where all ranks have ended."""
    epochs: dict[tuple[int, str], _Epochs] = defaultdict(_Epochs)
    for action in orders.execution.actions:
        if action.call is not None and action.kind in ("issue", "begin"):
            of = epochs[action.rank, action.call.window]
            if isinstance(action.call, RmaCall):
                yield from _issued(action, action.call, of)
            else:
                yield from _synchronised(action, action.call, of)
    for of in epochs.values() if orders.execution.ended else ():
        for lock in (*of.locked.values(), *([of.all] if of.all else ())):
            yield _misuse(lock, "(4)", "is followed by no unlock")
        if of.fence and of.used is not None:
            yield _misuse(of.used, "(5)", "is completed by no fence")
    yield from _locked_while_exposed(orders)


def _misuse(action: Action, rule: str, text: str) -> Misuse:
    assert action.call is not None, "it is a call"
    return Misuse(action.rank, action.span, rule, f"{action.call.name} {text}")


def _issued(action: Action, call: RmaCall, of: _Epochs) -> Iterator[Misuse]:
    if call.target in of.locked or of.all or call.target in of.started:
        return
    if not of.fence:
        yield _misuse(action, "3.1 (8)", f"to rank {call.target} outside of an epoch")
    elif of.used is None:
        of.used = action


def _synchronised(action: Action, call: SyncCall, of: _Epochs) -> Iterator[Misuse]:
    if of.used is not None and call.kind not in ("fence", "win_sync", "request", "create"):  # G11
        yield _misuse(action, "(7)", "in an epoch of fences")
        of.used = None
    match call.kind:
        case "fence":
            if of.locked or of.all:
                yield _misuse(action, "(4)", "between a lock and its unlock")
            if of.used is not None and "noprecede" in call.modes:
                yield _misuse(action, "(5)", "with MPI_MODE_NOPRECEDE ends an epoch")
            of.used, of.fence = None, "nosucceed" not in call.modes
        case "lock":
            of.locked[call.targets[0]], of.fence = action, False
            if of.all:
                yield _misuse(action, "(5)", "after MPI_Win_lock_all")
        case "lock_all":
            if of.locked:
                yield _misuse(action, "(5)", "after MPI_Win_lock")
            of.all, of.fence = action, False
        case "unlock":
            of.locked.pop(call.targets[0], None)
        case "unlock_all":
            of.all = None
        case "flush" | "flush_local":
            if call.targets[0] not in of.locked and not of.all:
                yield _misuse(action, "(8)", f"of rank {call.targets[0]}, which is not locked")
        case "flush_all" | "flush_local_all":
            if not of.locked and not of.all:
                yield _misuse(action, "(8)", "outside of a lock")
        case "start":
            of.started, of.fence = frozenset(call.targets), False
        case "complete":
            of.started = frozenset()
        case "post" | "wait" | "win_sync" | "request" | "create":
            pass


def _locked_while_exposed(orders: Orders) -> Iterator[Misuse]:
    """3.1 (4), G13: locks and fences of a window are not concurrent."""
    for lock in orders.calls("lock", "lock_all"):
        for fence in orders.calls("fence"):
            if (
                fence.end is not None
                and fence.call.window == lock.call.window
                and not any(orders.ordered(one, other) for one in lock.actions for other in fence.actions)
            ):
                yield _misuse(orders.execution.actions[lock.begin], "3.1 (4)", "while another rank is at a fence")
                return
