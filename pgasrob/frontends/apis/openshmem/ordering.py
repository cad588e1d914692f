"""Memory ordering, barriers and locks (1.5, sections 9.11, 9.12, 9.9)."""

from __future__ import annotations

from pgasrob.frontends.apis.flags import barrier
from pgasrob.frontends.apis.interface import Call, Outcome, Way
from pgasrob.frontends.apis.openshmem.contexts import (
    Arguments,
    active_set,
    default_queue,
    everyone,
    group_of,
    is_invalid,
)
from pgasrob.frontends.apis.openshmem.header import FUNCTIONS
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.values import Known
from pgasrob.program.commands import AwaitAdd, Fence, Fetch, Swap, Wait
from pgasrob.program.expressions import Binary, Const, Expr, IntType

LONG = IntType(64, True)
LOCK = "lock"
"""As what calls on a lock exclude each other. Nothing else may access it while it is one (1.5, section 9.12)."""


@FUNCTIONS.calls("void shmem_fence(void); void shmem_ctx_fence(shmem_ctx_t ctx)")
def fence(call: Call) -> Outcome:
    """Orders puts to each PE by itself; it completes nothing. No context, no operation (1.5, section 9.11.1)."""
    if _on_no_context(call):
        return Outcome()
    return Outcome(call.do(Fence(Arguments(call).queue, None)))


@FUNCTIONS.calls("void shmem_quiet(void); void shmem_ctx_quiet(shmem_ctx_t ctx)")
def quiet(call: Call) -> Outcome:
    """Completes what the context has pending. No context, no operation (1.5, section 9.11.2)."""
    if _on_no_context(call):
        return Outcome()
    return Outcome(call.do(Wait(Arguments(call).queue)))


def _on_no_context(call: Call) -> bool:
    return len(call.arguments) > 0 and is_invalid(call, 0)


# Barriers complete what the default context has pending, and nothing of other contexts. Syncs complete nothing.


@FUNCTIONS.calls("void shmem_barrier_all(void)")
def barrier_all(call: Call) -> Outcome:
    steps = Steps(call)
    meet(steps)
    return steps.outcome()


OTHER_NAMES = {
    "shmalloc": "shmem_malloc",
    "shfree": "shmem_free",
    "shmemalign": "shmem_align",
    "shrealloc": "shmem_realloc",
}
"""Calls that have two names, by that which is out of use."""


def meet(steps: Steps) -> None:
    """A barrier over all PEs as allocation and `shmem_finalize` imply it too."""
    call = steps.call
    steps.do(Wait(default_queue(call)))
    barrier(steps, everyone(call), OTHER_NAMES.get(call.name, call.name))


@FUNCTIONS.calls("void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)")
def barrier_set(call: Call) -> Outcome:
    steps = Steps(call)
    steps.do(Wait(default_queue(call)))
    barrier(steps, active_set(call, 0))
    return steps.outcome()


@FUNCTIONS.calls("void shmem_sync_all(void)")
def sync_all(call: Call) -> Outcome:
    """The same as a sync of the team of all (1.5, section 9.11.5)."""
    steps = Steps(call)
    barrier(steps, everyone(call), "shmem_team_sync")
    return steps.outcome()


@FUNCTIONS.calls("void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)")
def sync(call: Call) -> Outcome:
    """The one over an active set, and the type-generic name of `shmem_team_sync`, which has one argument."""
    if len(call.arguments) == 1:
        return team_sync(call)
    steps = Steps(call)
    barrier(steps, active_set(call, 0))
    return steps.outcome()


@FUNCTIONS.calls("int shmem_team_sync(shmem_team_t team)")
def team_sync(call: Call) -> Outcome:
    steps = Steps(call)
    barrier(steps, group_of(call, 0), "shmem_team_sync")
    return steps.outcome(Known(0))


FUNCTIONS.overloads["shmem_sync", 1] = "int shmem_sync(shmem_team_t team);"


# Locks: the variable itself, at PE 0, is 1 while the lock is held.


@FUNCTIONS.calls("void shmem_set_lock(long *lock)")
def set_lock(call: Call) -> Outcome:
    return Outcome(call.do(_acquire(_lock(call))))


@FUNCTIONS.calls("int shmem_test_lock(long *lock)")
def test_lock(call: Call) -> list[Way]:
    """0 when the lock has been set by this call, 1 when it was taken. No answer comes of a look at a free lock."""
    cell, steps, lock = _lock(call), Steps(call), call.register("lock")
    steps.do(Fetch(lock, Const(0), cell, atomic=LOCK))
    return [
        Outcome(call.do(_acquire(cell)), Known(0)),
        steps.look(Binary("!=", lock, Const(0), LONG), Outcome(result=Known(1)), None),
    ]


@FUNCTIONS.calls("void shmem_clear_lock(long *lock)")
def clear_lock(call: Call) -> Outcome:
    """What the holder has issued in the default context is complete before the lock is free."""
    release = Swap(call.register("held"), Const(0), _lock(call), Const(0), atomic=LOCK)
    return Outcome(call.do(Wait(default_queue(call)), release))


def _acquire(cell: Expr) -> AwaitAdd:
    return AwaitAdd(Const(0), cell, "==", Const(0), Const(1), LONG, atomic=LOCK)


def _lock(call: Call) -> Expr:
    return call.cell(Arguments(call).pointer(0), 8)
