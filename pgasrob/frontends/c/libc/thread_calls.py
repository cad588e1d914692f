"""Threads of POSIX (<pthread.h>) and of C11 (<threads.h>), as far as it is known where how many are created."""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps, least_free
from pgasrob.frontends.apis.interface import Call, Look, Outcome
from pgasrob.frontends.c.libc.library_calls import TABLE, machine_of
from pgasrob.frontends.c.libc.thread_locks import address_of, give_back, take, try_to_take
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.rank_threads import BASE, LAST, notes_of_apis
from pgasrob.frontends.c.registers import registers_in
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.thread_facts import ALIVE, MOST_THREADS
from pgasrob.frontends.c.types import INT, CType, Opaque, Pointer
from pgasrob.frontends.c.values import UNDEFINED, Code, Handle, Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Await, FetchAdd, Load, Store
from pgasrob.program.expressions import Binary, Const
from pgasrob.program.illegal_calls import Rule
from pgasrob.program.statements import Block, If

calls = TABLE.calls
Alive = tuple[tuple[int, int, frozenset[tuple[str, object]]], ...]
LOCK_TWICE = Rule(
    "mutex-lock-twice",
    "a thread locks no mutex that it has locked already",
    "POSIX.1-2017, pthread_mutex_lock; C11, 7.26.4.4",
    "unlock it first",
)
NOT_LOCKED = Rule(
    "mutex-not-locked",
    "a thread unlocks only a mutex that it has locked",
    "POSIX.1-2017, pthread_mutex_lock; C11, 7.26.4.6",
    "lock the mutex on every path to this point, or leave the unlock out",
)
CONSTANTS: dict[str, tuple[CType, Value]] = {
    "PTHREAD_MUTEX_INITIALIZER": (Opaque("pthread_mutex_t"), Known(0)),
    "PTHREAD_CREATE_JOINABLE": (INT, Known(0)),
    "PTHREAD_BARRIER_SERIAL_THREAD": (INT, Known(-1)),
    "thrd_success": (INT, Known(0)), "thrd_error": (INT, Known(2)), "thrd_busy": (INT, Known(1)),
    "mtx_plain": (INT, Known(0)),
}  # fmt: skip
BUSY = 16
"""EBUSY."""
BARRIERS = "C.barriers"
"""Key in `State.notes` of the barriers that there are, with how many threads pass them."""


def _alive(call: Call) -> Alive:
    return cast(Alive, call.state.get(ALIVE, ()))


@calls(
    """
    int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
    int thrd_create(thrd_t *thread, int (*start)(void *), void *argument);
    """
)
def create(call: Call) -> Outcome:
    machine, threads = machine_of(call).machine, machine_of(call).machine.threads
    start, argument = call.arguments[-2:]
    function = machine.world.program.unit.functions.get(start.name) if isinstance(start, Code) else None
    if function is None:
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            "a thread whose function is not known here",
            "pass the name of a function of the program",
        )
    if threads.number or threads.team[0] > 1:
        raise Problem("PG104", "a thread that another one creates is not supported", "create it in main", call.span)
    if registers_in(argument):
        hint = "store it in a variable, and pass the address of that"
        raise Problem("PG140", "what a thread is given is not known here", hint, call.span)
    alive = _alive(call)
    thread = least_free({number for number, _, _ in alive}, 1)
    if thread > MOST_THREADS:
        call.fail(Wrong.SIZE_LIMIT, f"more than {MOST_THREADS} threads", "verify a smaller case, with fewer threads")
    last = dict(cast("tuple[tuple[int, int], ...]", call.state.get(LAST, ())))
    if thread in last and any(each.of_thread for each in machine.world.program.unit.objects.values()):
        hint = "give each thread its own variables, by its argument"
        raise Problem("PG104", "thread-local variables of a thread after others are not supported", hint, call.span)
    state = threads.snapshot()
    frame = Frame(function, machine.world.program.live_slots(function), 0, None, INT)
    if function.parameters:
        frame.slots[function.parameters[0]] = argument
    state.frames = [frame]
    base = frozenset(notes_of_apis(state.notes).items())
    state.notes[BASE] = base
    machine.position.rests_on_regions(function)
    number, made, notes = threads.fork(state, (thread,), 1)
    steps = Steps(call)
    steps.do(*made)
    pointed = call.types[0].to if isinstance(call.types[0], Pointer) else Opaque("pthread_t")
    steps.answer(0, Handle("thread", (thread, number)), pointed)
    steps.state.update(notes)
    steps.note(ALIVE, tuple(sorted((*alive, (thread, number, base)), key=lambda each: each[0])))
    return steps.outcome(0)


@calls("int pthread_join(pthread_t thread, void **result); int thrd_join(thrd_t thread, int *result);")
def join(call: Call) -> Outcome:
    handle, threads = call.arguments[0], machine_of(call).machine.threads
    if not isinstance(handle, Handle) or handle.kind != "thread":
        call.fail(
            Wrong.UNKNOWN_LIMIT, "a thread that is not known here", "keep it in a variable that one thread alone sets"
        )
    thread, number = cast("tuple[int, int]", handle.data)
    found = next((each for each in _alive(call) if each[:2] == (thread, number)), None)
    if found is None or threads.number:
        call.fail(
            Wrong.ARGUMENT,
            "a thread that has been joined already, or by another thread",
            "join each thread once, in main",
        )
    rest = tuple(each for each in _alive(call) if each is not found)
    notes, steps = threads.after_end_of(thread, number, found[2]), Steps(call)
    steps.do(*threads.ended((thread,)))
    if call.arguments[1] != Known(0):
        pointed = call.types[1].to if isinstance(call.types[1], Pointer) else INT
        load, value = threads.result_of(thread, number, found[2])
        steps.do(*load)
        steps.answer(1, value, pointed)
    steps.state.update({**notes, ALIVE: rest or None})
    return steps.outcome(0)


@calls("void pthread_exit(void *result); void thrd_exit(int result);")
def leave(call: Call) -> Outcome:
    threads = machine_of(call).machine.threads
    if not threads.number:
        call.fail(Wrong.CALL_LIMIT, f"`{call.name}` in the main thread", "join the other threads, and return from main")
    threads.returns(call.arguments[0])
    return Outcome(ends=True)


@calls(
    """
    int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
    int pthread_mutex_destroy(pthread_mutex_t *mutex); int mtx_init(mtx_t *mutex, int type);
    void mtx_destroy(mtx_t *mutex);
    int pthread_attr_init(pthread_attr_t *a); int pthread_attr_destroy(pthread_attr_t *a);
    int pthread_attr_setdetachstate(pthread_attr_t *a, int state); int pthread_yield(void); void thrd_yield(void);
    int pthread_attr_setstacksize(pthread_attr_t *a, size_t size); int pthread_barrier_destroy(pthread_barrier_t *b);
    """
)
def nothing(call: Call) -> Outcome:
    returns = call.name.startswith("pthread") or call.name == "mtx_init"
    return Outcome(result=Known(0) if returns else UNDEFINED)


@calls("int pthread_mutex_lock(pthread_mutex_t *mutex); int mtx_lock(mtx_t *mutex);")
def lock(call: Call) -> Outcome:
    return take(call, LOCK_TWICE)


@calls("int pthread_mutex_unlock(pthread_mutex_t *mutex); int mtx_unlock(mtx_t *mutex);")
def unlock(call: Call) -> Outcome:
    return give_back(call, NOT_LOCKED)


@calls("int pthread_mutex_trylock(pthread_mutex_t *mutex); int mtx_trylock(mtx_t *mutex);")
def try_lock(call: Call) -> Look:
    return try_to_take(call, 0, BUSY if call.name.startswith("pthread") else 1)


@calls("int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes, unsigned count);")
def begin_barrier(call: Call) -> Outcome:
    steps, at = Steps(call), address_of(call)
    known = dict(cast("tuple[tuple[object, int], ...]", steps.recall(BARRIERS, ())))
    steps.note(BARRIERS, tuple(sorted({**known, at: call.known(2)}.items(), key=repr)))
    return steps.outcome(0)


@calls("int pthread_barrier_wait(pthread_barrier_t *b);")
def wait_at_barrier(call: Call) -> Outcome:
    """The last one to come turns the sign that the others wait for."""
    at, threads = address_of(call), machine_of(call).machine.threads
    count = dict(cast("tuple[tuple[object, int], ...]", call.state.get(BARRIERS, ()))).get(at)
    if count is None:
        call.fail(
            Wrong.ARGUMENT,
            "a barrier of threads that has not been initialised before these began",
            "initialise it in main",
        )
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    key = (*at.object.number, at.offset) if isinstance(at.object.number, tuple) else (at.object.number, at.offset)
    sign, came = (threads.cell(what, at.object.kind, *cast("tuple[int | str, ...]", key)) for what in ("sign", "came"))
    before, others = call.register("sign"), call.register("came")
    last = Block(call.do(Store(came, Const(0)), Store(sign, Binary("-", Const(1), before))))
    wait = Block(call.do(Await(sign, "!=", before)))
    is_last = Binary("==", others, Const(count - 1))
    passed = If(is_last, last, wait, call.span)
    return Outcome(call.do(Load(before, sign), FetchAdd(others, call.me, came, Const(1)), passed), Known(0))


__all__ = ["create", "join"]
