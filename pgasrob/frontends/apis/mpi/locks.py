"""Locks of windows (MPI-4, 12.5.3).

Ranks that share a lock do not see each other, and must not be ordered by it. Every rank that ever shares locks of the
window has a cell at the target, which is 1 while it holds the lock; who locks exclusively takes them all, in order, so
that they are -1. Where nobody shares there is one cell; where nobody excludes none, as there is nobody to keep out.
"""

from __future__ import annotations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.epochs import ALL
from pgasrob.frontends.apis.mpi.handles import facts
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
        if of.members is EVERYONE:
            _acquire_all(steps, of)
        else:
            for target in range(len(of.members)):
                _acquire(steps, of, target, LOCK_SHARED, unchecked)


@calls("Win_unlock(int rank, MPI_Win win)")
def unlock(call: Call) -> list[Outcome]:
    of = window(call, 1)

    def release(steps: Steps, target: Target) -> None:
        of.complete(steps, (target,))
        _release(steps, of, target)

    return at_target(call, 0, of, "unlock", release)


@does("Win_unlock_all(MPI_Win win)")
def unlock_all(call: Call, steps: Steps) -> None:
    of = window(call, 0)
    with of.marked(steps, "unlock_all"):
        of.complete(steps)
        if of.members is EVERYONE:
            _release_all(steps, of)
            return
        for target in epochs.to_unlock_all(steps, of):
            assert isinstance(target, int)
            _release(steps, of, target)


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
    rank, change = of.rank(target), Const(-1 if kind == LOCK_EXCLUSIVE else 1)
    cells = _lock_cells(steps.call, of, kind)
    if cells:
        steps.call.rests_on(Kind.EPOCHS_WAIT, steps.call.name)
    for cell in cells:
        if unchecked:
            held_before = steps.call.register("held")
            steps.do(Fetch(held_before, rank, cell))
            why = f"{steps.call.name} of rank {shown(target)} with MPI_MODE_NOCHECK, which another rank has locked"
            steps.illegal(rules.FALSE_ASSERTION, why, unless=Binary("==", held_before, Const(0)))
        steps.do(AwaitAdd(rank, cell, "==", Const(0), change))


def _release(steps: Steps, of: Window, target: Target) -> None:
    kind = epochs.unlocks(steps, of, target)
    if kind is None:
        return
    rank, change = of.rank(target), Const(1 if kind == LOCK_EXCLUSIVE else -1)
    for cell in reversed(_lock_cells(steps.call, of, kind)):
        steps.do(FetchAdd(steps.call.register("lock"), rank, cell, change))


def _acquire_all(steps: Steps, of: Window) -> None:
    """Share all locks, where the number of ranks is not known: nothing, unless someone excludes others."""
    if _lock_cells(steps.call, of, LOCK_SHARED):
        steps.call.number_needed(f"{steps.call.name}, where others lock exclusively,")
    epochs.hold(steps, of, ((ALL, (LOCK_SHARED, steps.opened())),))


def _release_all(steps: Steps, of: Window) -> None:
    """Give up all locks that `_acquire_all` has taken."""
    if ALL not in dict(epochs.held(steps, of)):
        steps.illegal(rules.UNLOCK_UNLOCKED, f"{steps.call.name} without MPI_Win_lock_all")
    epochs.hold(steps, of, ())
    epochs.close(steps, of)


def _lock_cells(call: Call, of: Window, kind: int) -> list[Expr]:
    """The cells at a target that this rank takes to lock it, in order."""
    if not facts(call, of.members, of.key("exclusive")):
        return []
    if kind == LOCK_SHARED:
        return [of.cell(call, "lock", call.rank)]
    if of.members is EVERYONE:
        if call.all_facts(of.key("shared")):
            call.number_needed(f"{call.name}, where locks are shared and exclusive,")
        return [of.cell(call, "lock")]
    sharing = [member for member in of.members if call.published(member, of.key("shared"))]
    return [of.cell(call, "lock", member) for member in sharing] or [of.cell(call, "lock")]
