"""Condition variables of POSIX and C11: which thread waits for one is said by a cell each.

A thread that waits gives its mutex back, and takes it again when another one has cleared its cell. One that signals
clears the cell of any thread that waits, if one does. Threads may also go on without a signal, which adds no runs where
they wait in a loop; elsewhere a wait is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.code import Branch, Jump
from pgasrob.frontends.c.libc.library_calls import TABLE, machine_of
from pgasrob.frontends.c.libc.thread_locks import FREE, SET, address_of, cell_of, held
from pgasrob.frontends.c.types import CType, Opaque
from pgasrob.frontends.c.values import Address, Known, Value
from pgasrob.program.commands import Assume, Await, AwaitAdd, Load, Store
from pgasrob.program.expressions import Binary, Const, Expr
from pgasrob.program.illegal_calls import Rule
from pgasrob.program.statements import Block, Choose

calls = TABLE.calls
CONSTANTS: dict[str, tuple[CType, Value]] = {"PTHREAD_COND_INITIALIZER": (Opaque("pthread_cond_t"), Known(0))}
NOT_HELD = Rule(
    "condition-without-mutex",
    "a thread that waits for a condition variable has locked the mutex that it gives",
    "POSIX.1-2017, pthread_cond_wait; C11, 7.26.3.6",
    "lock the mutex before the loop that waits",
)


@calls("int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *mutex); int cnd_wait(cnd_t *c, mtx_t *mutex);")
def wait(call: Call) -> Outcome:
    steps, at, mutex = Steps(call), address_of(call), address_of(call, 1)
    if not _in_a_loop(call):
        hint = f"write `while (!ready) {call.name}(...);`, for it may return without a signal"
        call.fail(Wrong.CALL_LIMIT, f"`{call.name}` that is in no loop", hint)
    if mutex not in held(steps):
        steps.illegal(NOT_HELD, f"`{call.name}` with a mutex that this thread has not locked")
        return steps.outcome(0)
    waiting, facts, thread = _waiting(call, at, call.thread), machine_of(call).machine.facts, call.thread
    if thread not in facts.threads.waiters[at]:
        facts.threads.waiters[at].add(thread)
        facts.changed()
    steps.do(*_guarded(call, at, [Store(waiting, SET)]), Store(cell_of(call, mutex), FREE))
    steps.do(Await(waiting, "==", FREE), AwaitAdd(call.me, cell_of(call, mutex), "==", FREE, SET))
    return steps.outcome(0)


@calls("int pthread_cond_signal(pthread_cond_t *c); int cnd_signal(cnd_t *c);")
def signal(call: Call) -> Outcome:
    at = address_of(call)
    cells = [_waiting(call, at, each) for each in _waiters(call, at)]
    read = [(call.register("waits"), each) for each in cells]
    ways = [Block(call.do(Assume(Binary("==", one, SET)), Store(cell, FREE))) for one, cell in read]
    none: Expr = Const(1)
    for one, _ in read:
        none = Binary("&", none, Binary("==", one, FREE))
    choice = [Choose((*ways, Block(call.do(Assume(none)))))] if read else []
    steps = Steps(call)
    steps.do(*_guarded(call, at, [*(Load(one, cell) for one, cell in read), *choice]) if read else ())
    return steps.outcome(0)


@calls("int pthread_cond_broadcast(pthread_cond_t *c); int cnd_broadcast(cnd_t *c);")
def broadcast(call: Call) -> Outcome:
    at, steps = address_of(call), Steps(call)
    cells = [_waiting(call, at, each) for each in _waiters(call, at)]
    steps.do(*_guarded(call, at, [Store(each, FREE) for each in cells]) if cells else ())
    return steps.outcome(0)


@calls(
    """
    int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes); int cnd_init(cnd_t *c);
    int pthread_cond_destroy(pthread_cond_t *c);
    """
)
def begin(call: Call) -> Outcome:
    return Outcome(result=Known(0))


@calls("void cnd_destroy(cnd_t *c);")
def end(call: Call) -> Outcome:
    return Outcome()


def _guarded(call: Call, at: Address, commands: Sequence[object]) -> list[object]:
    """``commands``, between which no other thread changes who waits."""
    lock = cell_of(call, at, "condition")
    return [AwaitAdd(call.me, lock, "==", FREE, SET), *commands, Store(lock, FREE)]


def _waiting(call: Call, at: Address, thread: int) -> Expr:
    return cell_of(call, at, "waits", thread)


def _waiters(call: Call, at: Address) -> list[int]:
    """The threads that may wait for the condition variable at ``at``."""
    return sorted(machine_of(call).machine.facts.threads.waiters[at])


def _in_a_loop(call: Call) -> bool:
    frame = machine_of(call).machine.position.frame
    behind = frame.function.code[frame.pc :]
    ends = (
        each.to if isinstance(each, Jump) else min(each.yes, each.no)
        for each in behind
        if isinstance(each, Jump | Branch)
    )
    return any(to <= frame.pc for to in ends)


__all__ = ["CONSTANTS"]
