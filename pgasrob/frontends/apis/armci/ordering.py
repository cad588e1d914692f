"""ARMCI's completion, barriers, atomics, mutexes and notifications."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.apis.armci import queues
from pgasrob.frontends.apis.armci.setup import barrier_of_all
from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps, int_type, value_at
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.types import INT, LONG
from pgasrob.frontends.c.values import UNDEFINED, Known
from pgasrob.program.commands import AwaitAdd, FetchAdd, Notify, Swap
from pgasrob.program.expressions import Const, Expr

PROTOTYPES = Prototypes()
OK = Known(0)


@PROTOTYPES.calls("int ARMCI_Wait(armci_hdl_t *handle);")
def wait(call: Call) -> Outcome:
    """The buffer may be used again, or the data have arrived. A put may still be on its way."""
    key, steps = queues.handle(call, 0), Steps(call)
    queues.wait_local(steps, lambda other, process: other == key)
    return steps.outcome(OK)


@PROTOTYPES.calls("int ARMCI_Test(armci_hdl_t *handle);")
def test(call: Call) -> Sequence[Outcome]:
    """0 when it is complete as after ARMCI_Wait, else 1."""
    complete = wait(call)
    return [complete, Outcome(result=Known(1))] if complete.statements else [complete]


@PROTOTYPES.calls("int ARMCI_WaitProc(int proc);")
def wait_process(call: Call) -> Outcome:
    """What has no handle and goes to one process."""
    steps, process = Steps(call), queues.named(queues.process_in(call, 0))
    if process != queues.SOMEWHERE:
        queues.wait_local(steps, lambda key, other: key == queues.IMPLICIT and other == process)
    return steps.outcome(OK)


@PROTOTYPES.calls("int ARMCI_WaitAll(void);")
def wait_all(call: Call) -> Outcome:
    """Everything that has no handle."""
    steps = Steps(call)
    queues.wait_local(steps, lambda key, process: key == queues.IMPLICIT)
    return steps.outcome(OK)


@PROTOTYPES.calls("void ARMCI_Fence(int proc);")
def fence(call: Call) -> Outcome:
    """Every put and accumulate to the process is complete there."""
    steps = Steps(call)
    queues.fence(steps, queues.process_in(call, 0))
    return steps.outcome()


@PROTOTYPES.calls("void ARMCI_AllFence(void);")
def all_fence(call: Call) -> Outcome:
    steps = Steps(call)
    queues.fence(steps, None)
    return steps.outcome()


@PROTOTYPES.calls("void ARMCI_Barrier(void);")
def barrier(call: Call) -> Outcome:
    """ARMCI_AllFence, then all arrive."""
    steps = Steps(call)
    queues.fence(steps, None)
    barrier_of_all(steps)
    return steps.outcome()


@PROTOTYPES.calls("void armci_msg_barrier(void);")
def message_barrier(call: Call) -> Outcome:
    """All arrive; nothing is completed."""
    steps = Steps(call)
    barrier_of_all(steps)
    return steps.outcome()


# Read-modify-write

RMW = (("add", INT), ("add", LONG), ("swap", INT), ("swap", LONG))
"""By the numbers of ARMCI_FETCH_AND_ADD, ..._LONG, ARMCI_SWAP, ..._LONG."""


@PROTOTYPES.calls("int ARMCI_Rmw(int op, void *local, void *remote, int value, int proc);")
def read_modify_write(call: Call) -> Outcome:
    """The old value goes to ``local``; a swap takes the new one from there."""
    operation = call.known(0)
    if not 0 <= operation < len(RMW):
        call.fail(f"{call.texts[0]} is no operation", "use ARMCI_FETCH_AND_ADD or ARMCI_SWAP, or their _LONG forms")
    (kind, type), steps, process = RMW[operation], Steps(call), queues.process_in(call, 4)
    local = queues.local(call, 1, target(call, 1, of_others=True))
    cell = call.number(queues.remote_argument(call, 2, process), type)
    old, atomic = call.register("old"), f"{shown(type)} by rmw"
    if kind == "add":
        steps.do(FetchAdd(old, process, cell, call.expression(3), int_type(type), atomic=atomic))
    else:
        steps.do(Swap(old, process, cell, value_at(steps, local, type), atomic=atomic))
    steps.store(local, old, type)
    return steps.outcome(OK)


# Mutexes


@PROTOTYPES.calls("int ARMCI_Create_mutexes(int count); int ARMCI_Destroy_mutexes(void);")
def mutexes(call: Call) -> Outcome:
    """Collective, and no promise that the others have arrived."""
    return Outcome(result=OK)


def _mutex(call: Call) -> tuple[Expr, Expr]:
    number = call.known(0)
    return queues.process_in(call, 1), call.cell(call.internal("armci", "mutex", number, name=f"mutex {number}"), 8)


@PROTOTYPES.calls("void ARMCI_Lock(int mutex, int proc);")
def lock(call: Call) -> Outcome:
    process, cell = _mutex(call)
    return Outcome(call.do(AwaitAdd(process, cell, "==", Const(0), Const(1))))


@PROTOTYPES.calls("void ARMCI_Unlock(int mutex, int proc);")
def unlock(call: Call) -> Outcome:
    """The mutex alone: ARMCI promises no fence with it."""
    process, cell = _mutex(call)
    return Outcome(call.do(FetchAdd(call.register("mutex"), process, cell, Const(-1))))


# Notifications


def _counter(call: Call, sender: int) -> Expr:
    """The cell that counts, with the receiver, the notifications of ``sender`` that have not been waited for."""
    return call.cell(call.internal("armci", "notified", sender, name=f"notification by {sender}"), 8)


@PROTOTYPES.calls("int armci_notify(int proc);")
def notify(call: Call) -> Outcome:
    """After all earlier calls to that process, other notifications too: the queue keeps those in order."""
    process = call.known(0)
    queue = call.fifo_queue("armci", "notify", process, name=f"notify_{process}")
    command = Notify("add", Const(1), Const(process), _counter(call, call.rank), queue, everywhere=True)
    return Outcome(call.do(command))


@PROTOTYPES.calls("int armci_notify_wait(int proc, int *value);")
def notify_wait(call: Call) -> Outcome:
    """The next notification of that process. How many there were before is not told: ``value`` is undefined."""
    command = AwaitAdd(call.me, _counter(call, call.known(0)), ">", Const(0), Const(-1))
    value = call.pointer(1)
    return Outcome(call.do(command), stores=() if value is None else ((value, UNDEFINED, INT),))
