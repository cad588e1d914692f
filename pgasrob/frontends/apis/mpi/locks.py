"""Locks of windows (MPI-4, 12.5.3).

Ranks that share a lock do not see each other, and must not be ordered by it. Every rank that ever shares locks of the
window has a cell at the target, which is 1 while it holds the lock; who locks exclusively takes them all, in order, so
that they are -1. Where nobody shares there is one cell; where nobody excludes none, as there is nobody to keep out.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.epochs import ALL
from pgasrob.frontends.apis.mpi.header import LOCK_EXCLUSIVE, LOCK_SHARED, NOCHECK, calls, does
from pgasrob.frontends.apis.mpi.targets import SOMEWHERE, Target, Window, at_target, modes, named, shown, window
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import AwaitAdd, Fetch, FetchAdd
from pgasrob.program.expressions import Binary, Const, Expr


@calls("Win_lock(int lock_type, int rank, int assert, MPI_Win win)")
def lock(call: Call) -> list[Outcome]:
    of, kind = window(call, 3), call.known(0)
    unchecked = bool(modes(call, 2) & NOCHECK)
    if kind not in (LOCK_EXCLUSIVE, LOCK_SHARED):
        call.fail(Wrong.ARGUMENT, f"{kind} is no kind of lock", "use MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE")
    call.publish(of.key("exclusive" if kind == LOCK_EXCLUSIVE else "shared"), True)
    exclusive = kind == LOCK_EXCLUSIVE

    def acquire(steps: Steps, target: Target) -> None:
        epochs.begins(steps, of)
        _acquire(steps, of, target, kind, unchecked)

    return at_target(call, 1, of, "lock", acquire, exclusive=exclusive)


@does("Win_lock_all(int assert, MPI_Win win)")
def lock_all(call: Call, steps: Steps) -> None:
    of = window(call, 1)
    unchecked = bool(modes(call, 0) & NOCHECK)
    call.publish(of.key("shared"), True)
    epochs.begins(steps, of)
    with of.marked(steps, "lock_all"):
        if not epochs.may_lock_all(steps, of):
            return
        if of.members is EVERYONE and _lock_cells(call, of, LOCK_SHARED):
            call.number_needed(f"{call.name}, where others lock exclusively,")
        epochs.hold(steps, of, ((ALL, (LOCK_SHARED, steps.opened())),))
        _take(steps, of, None, LOCK_SHARED, unchecked)


@calls("Win_unlock(int rank, MPI_Win win)")
def unlock(call: Call) -> list[Outcome]:
    of = window(call, 1)

    def release(steps: Steps, target: Target) -> None:
        of.complete(steps, (target,))
        kind = epochs.unlocks(steps, of, target)
        if kind is not None:
            _give_back(steps, of, (target,), kind)

    return at_target(call, 0, of, "unlock", release)


@does("Win_unlock_all(MPI_Win win)")
def unlock_all(call: Call, steps: Steps) -> None:
    of = window(call, 0)
    with of.marked(steps, "unlock_all"):
        of.complete(steps)
        for target, kind in epochs.unlocks_all(steps, of):
            if not isinstance(target, str):
                _give_back(steps, of, (target,), kind)
            elif target == ALL:
                _give_back(steps, of, None, kind)


def _acquire(steps: Steps, of: Window, target: Target, kind: int, unchecked: bool) -> None:
    """Lock the window at one target: set the cells that keep out the ranks which this lock excludes (see above).

    ``unchecked``: by MPI_MODE_NOCHECK, so that nobody may hold a lock that excludes it (12.5.5).
    """
    held, name = epochs.held(steps, of), named(target)
    if not epochs.may_lock(steps, of, target):
        return
    if name == SOMEWHERE:
        steps.call.number_needed(f"{steps.call.name} of a rank that is read from memory")
    if held and any(isinstance(each, str) for each in (name, *dict(held))):
        steps.call.number_needed(f"{steps.call.name} beside a lock of what may be the same rank")
    epochs.hold(steps, of, (*held, (name, (kind, steps.opened()))))
    _take(steps, of, (target,), kind, unchecked)


def _take(steps: Steps, of: Window, targets: Iterable[Target] | None, kind: int, unchecked: bool) -> None:
    """Take the cells of locks of ``targets`` (None: all) that are held from now on."""
    cells, change = _lock_cells(steps.call, of, kind), Const(-1 if kind == LOCK_EXCLUSIVE else 1)
    if not cells:
        return
    steps.call.rests_on(Kind.EPOCHS_WAIT, steps.call.name)
    for target in range(len(of.members)) if targets is None else targets:
        rank = of.rank(target)
        for cell in cells:
            if unchecked:
                held_before = steps.call.register("held")
                steps.do(Fetch(held_before, rank, cell))
                why = f"{steps.call.name} of rank {shown(target)} with MPI_MODE_NOCHECK, which another rank has locked"
                steps.illegal(rules.FALSE_ASSERTION, why, unless=Binary("==", held_before, Const(0)))
            steps.do(AwaitAdd(rank, cell, "==", Const(0), change))


def _give_back(steps: Steps, of: Window, targets: Iterable[Target] | None, kind: int) -> None:
    """Give back the cells of locks of ``targets`` (None: all) that are no longer held."""
    cells, change = _lock_cells(steps.call, of, kind), Const(1 if kind == LOCK_EXCLUSIVE else -1)
    if not cells:
        return
    for target in range(len(of.members)) if targets is None else targets:
        for cell in reversed(cells):
            steps.do(FetchAdd(steps.call.register("lock"), of.rank(target), cell, change))


def _lock_cells(call: Call, of: Window, kind: int) -> list[Expr]:
    """The cells at a target that this rank takes to lock it, in order."""
    if not call.all_facts(of.key("exclusive")):
        return []
    if kind == LOCK_SHARED:
        return [of.cell(call, "lock", call.rank)]
    if of.members is EVERYONE:
        if call.all_facts(of.key("shared")):
            call.number_needed(f"{call.name}, where locks are shared and exclusive,")
        return [of.cell(call, "lock")]
    sharing = [member for member in of.members if call.published(member, of.key("shared"))]
    return [of.cell(call, "lock", member) for member in sharing] or [of.cell(call, "lock")]
