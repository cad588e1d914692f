"""Memory ordering, barriers and locks (1.5, sections 9.9, 9.11 and 9.12)."""

from __future__ import annotations

from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.flags import barrier
from pgasrob.frontends.apis.interface import Call, Outcome, Way
from pgasrob.frontends.apis.openshmem import rules
from pgasrob.frontends.apis.openshmem.contexts import (
    Arguments,
    active_set,
    default_queue,
    does,
    everyone,
    group_of,
    is_invalid,
)
from pgasrob.frontends.apis.openshmem.header import FUNCTIONS
from pgasrob.frontends.c.values import Known
from pgasrob.program.commands import AwaitAdd, Fence, Fetch, Swap, Wait
from pgasrob.program.expressions import Binary, Const, Expr, IntType

LONG = IntType(64, True)
LOCK = "lock"
"""The name of the atomics of locks, which exclude each other. Nothing else may access a lock (1.5, section 9.12)."""


@does("void shmem_fence(void); void shmem_ctx_fence(shmem_ctx_t ctx)")
def fence(at: Arguments, steps: Steps) -> None:
    """Orders puts to each PE by itself; it completes nothing. No context, no operation (1.5, section 9.11.1)."""
    if not _on_no_context(at.call):
        steps.do(Fence(at.queue, None))


@does("void shmem_quiet(void); void shmem_ctx_quiet(shmem_ctx_t ctx)")
def quiet(at: Arguments, steps: Steps) -> None:
    """Completes what the context has pending. No context, no operation (1.5, section 9.11.2)."""
    if not _on_no_context(at.call):
        steps.do(Wait(at.queue))


def _on_no_context(call: Call) -> bool:
    return len(call.arguments) > 0 and is_invalid(call, 0)


# Barriers complete what the default context has pending, and nothing of other contexts. Syncs complete nothing.


@FUNCTIONS.does("void shmem_barrier_all(void)")
def barrier_all(call: Call, steps: Steps) -> None:
    wait_for_all(steps)


OLD_NAMES = {
    "shmalloc": "shmem_malloc",
    "shfree": "shmem_free",
    "shmemalign": "shmem_align",
    "shrealloc": "shmem_realloc",
}
"""Names that are out of use, with today's. PEs that call the same function by its two names wait in one barrier."""


def wait_for_all(steps: Steps) -> None:
    """The barrier over all PEs, which allocation and `shmem_finalize` include too."""
    call = steps.call
    steps.do(Wait(default_queue(call)))
    barrier(steps, everyone(call), OLD_NAMES.get(call.name, call.name))


@FUNCTIONS.does("void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)")
def barrier_set(call: Call, steps: Steps) -> None:
    steps.do(Wait(default_queue(call)))
    barrier(steps, active_set(call, 0))


@FUNCTIONS.does("void shmem_sync_all(void)")
def sync_all(call: Call, steps: Steps) -> None:
    """A sync of the team of all ranks (1.5, section 9.11.5)."""
    barrier(steps, everyone(call), "shmem_team_sync")


@FUNCTIONS.does("void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)")
def sync(call: Call, steps: Steps) -> int | None:
    """The one over an active set, and the type-generic name of `shmem_team_sync`, which has one argument."""
    if len(call.arguments) == 1:
        return team_sync(call, steps)
    barrier(steps, active_set(call, 0))
    return None


@FUNCTIONS.does("int shmem_team_sync(shmem_team_t team)")
def team_sync(call: Call, steps: Steps) -> int:
    barrier(steps, group_of(call, 0), "shmem_team_sync")
    return 0


FUNCTIONS.overloads["shmem_sync", 1] = "int shmem_sync(shmem_team_t team);"


# Locks: the variable itself, at PE 0, is 1 while the lock is held.


@FUNCTIONS.does("void shmem_set_lock(long *lock)")
def set_lock(call: Call, steps: Steps) -> None:
    steps.do(_acquire(_lock(call)))
    _held(steps, True)


@FUNCTIONS.calls("int shmem_test_lock(long *lock)")
def test_lock(call: Call) -> list[Way]:
    """0 when this call has set the lock, 1 when it was taken. A look at a free lock gives no answer: it is repeated."""
    cell, taken, steps, lock = _lock(call), Steps(call), Steps(call), call.register("lock")
    taken.do(_acquire(cell))
    _held(taken, True)
    steps.do(Fetch(lock, Const(0), cell, atomic=LOCK))
    return [
        taken.outcome(0),
        steps.look(Binary("!=", lock, Const(0), LONG), Outcome(result=Known(1))),
    ]


@FUNCTIONS.does("void shmem_clear_lock(long *lock)")
def clear_lock(call: Call, steps: Steps) -> None:
    """Complete what the holder has issued in the default context, then free the lock."""
    held = call.register("held")
    release = Swap(held, Const(0), _lock(call), Const(0), atomic=LOCK)
    before = _held(steps, False)
    if before is False:
        raise NotAllowed(rules.NOT_LOCKED, f"{call.name} of a lock that this PE does not hold")
    steps.do(Wait(default_queue(call)), release)
    if before is None:
        steps.illegal(rules.NOT_LOCKED, f"{call.name} of a lock that nobody holds", unless=held)


LOCKS = "shmem.locks"
"""Key in the state of the locks that this PE holds, by their addresses."""


SOME = "some"
"""Among these, where only the run knows which ones it holds or has set free."""


def _held(steps: Steps, holds: bool) -> bool | None:
    """Note whether this PE ``holds`` the lock in argument 0 from now on; whether it has held it before, None where only
    the run knows."""
    lock = Arguments(steps.call).symmetric(0)
    if isinstance(lock.offset, int):
        return steps.hold(LOCKS, f"{lock.object}+{lock.offset}", holds) or (None if steps.holds(LOCKS, SOME) else False)
    if not holds:
        steps.note(LOCKS, ())
    steps.hold(LOCKS, SOME, True)
    return None


def _acquire(cell: Expr) -> AwaitAdd:
    return AwaitAdd(Const(0), cell, "==", Const(0), Const(1), LONG, atomic=LOCK)


def _lock(call: Call) -> Expr:
    return call.cell(Arguments(call).symmetric(0), 8)
