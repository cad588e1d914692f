"""ARMCI's completion, barriers, atomics, mutexes and notifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.armci import queues, rules
from pgasrob.frontends.apis.armci.collectives import barrier_of_all
from pgasrob.frontends.apis.armci.header import DONE, FUNCTIONS
from pgasrob.frontends.apis.call_arguments import local, target
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.transfers import int_type, value_at
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.types import INT, LONG
from pgasrob.frontends.c.values import UNDEFINED, Known
from pgasrob.program.commands import AwaitAdd, FetchAdd, Load, Notify, Swap
from pgasrob.program.expressions import Const, Expr


@DONE.does("int ARMCI_Wait(armci_hdl_t *handle)")
def wait(call: Call, steps: Steps) -> None:
    """The buffer may be used again, or the data have arrived. A put may still be on its way."""
    key = queues.handle(call, 0)
    queues.wait_local(steps, lambda other, process: other == key)


@FUNCTIONS.calls("int ARMCI_Test(armci_hdl_t *handle)")
def test(call: Call) -> Sequence[Outcome]:
    """0 when it is complete as after ARMCI_Wait, else 1."""
    steps = Steps(call)
    wait(call, steps)
    complete = steps.outcome(0)
    return [complete, Outcome(result=Known(1))] if complete.statements else [complete]


@DONE.does("int ARMCI_WaitProc(int proc)")
def wait_process(call: Call, steps: Steps) -> None:
    """Wait for the operations without a handle to one process."""
    process = queues.named(queues.process_in(call, 0))
    if process != queues.SOMEWHERE:
        queues.wait_local(steps, lambda key, other: key == queues.IMPLICIT and other == process)


@DONE.does("int ARMCI_WaitAll(void)")
def wait_all(call: Call, steps: Steps) -> None:
    """Everything that has no handle."""
    queues.wait_local(steps, lambda key, process: key == queues.IMPLICIT)


@FUNCTIONS.does("void ARMCI_Fence(int proc)")
def fence(call: Call, steps: Steps) -> None:
    """Every put and accumulate to the process is complete there."""
    process = queues.process_in(call, 0)
    if isinstance(process, Const) and not call.symbolic and not 0 <= process.value < call.nodes:
        why = f"{call.name} with process {process.value} of {call.nodes}"
        steps.do(Load(call.register("outside"), call.nowhere(why, Wrong.RANK)))
    queues.fence(steps, process)


@FUNCTIONS.does("void ARMCI_AllFence(void)")
def all_fence(call: Call, steps: Steps) -> None:
    queues.fence(steps, None)


@FUNCTIONS.does("void ARMCI_Barrier(void)")
def barrier(call: Call, steps: Steps) -> None:
    """ARMCI_AllFence, then all arrive."""
    queues.fence(steps, None)
    barrier_of_all(steps)


@FUNCTIONS.does("void armci_msg_barrier(void)")
def message_barrier(call: Call, steps: Steps) -> None:
    """All arrive; nothing is completed."""
    barrier_of_all(steps)


# Read-modify-write

RMW = (("add", INT), ("add", LONG), ("swap", INT), ("swap", LONG))
"""By the numbers of ARMCI_FETCH_AND_ADD, ..._LONG, ARMCI_SWAP, ..._LONG."""


@DONE.does("int ARMCI_Rmw(int op, void *local, void *remote, int value, int proc)")
def read_modify_write(call: Call, steps: Steps) -> None:
    """The old value goes to ``local``; a swap takes the new one from there."""
    operation = call.known(0)
    if not 0 <= operation < len(RMW):
        call.fail(
            Wrong.ARGUMENT,
            f"{call.texts[0]} is no operation",
            "use ARMCI_FETCH_AND_ADD or ARMCI_SWAP, or their _LONG forms",
        )
    (kind, type), process = RMW[operation], queues.process_in(call, 4)
    here = local(call, 1, target(call, 1, of_others=True))
    cell = call.number(queues.remote_argument(call, 2, process), type)
    old, atomic = call.register("old"), f"{shown(type)} by rmw"
    if kind == "add":
        steps.do(FetchAdd(old, process, cell, call.expression(3), int_type(type), atomic=atomic))
    else:
        steps.do(Swap(old, process, cell, value_at(steps, here, type), atomic=atomic))
    steps.store(here, old, type)


# Mutexes. Making and destroying them is collective, and no promise that the others have arrived.

MUTEXES = "armci.mutexes"
"""Key in the state of how many mutexes this process has, and of the published facts that say so."""


@DONE.does("int ARMCI_Create_mutexes(int count)")
def create_mutexes(call: Call, steps: Steps) -> None:
    """Each process may ask for another number of mutexes."""
    known = cast("frozenset[int]", call.own_fact(MUTEXES) or frozenset())
    call.publish(MUTEXES, known | {call.known(0)}, by_all=True)
    steps.note(MUTEXES, call.known(0))


@DONE.does("int ARMCI_Destroy_mutexes(void)")
def destroy_mutexes(call: Call, steps: Steps) -> None:
    if MUTEXES not in call.state:
        raise NotAllowed(rules.NO_MUTEX, f"{call.name} without mutexes")
    steps.note(MUTEXES, None)


def _mutex(call: Call) -> tuple[Expr, Expr]:
    number = call.known(0)
    if MUTEXES not in call.state:
        raise NotAllowed(rules.NO_MUTEX, f"{call.name} where there are no mutexes")
    there = call.own_fact(MUTEXES) if call.symbolic else call.published(call.known(1), MUTEXES)
    if isinstance(there, frozenset) and not 0 <= number < max(there):
        raise NotAllowed(rules.NO_MUTEX, f"{call.name} of mutex {number} of a process that has {max(there)}")
    return queues.process_in(call, 1), call.own_cell("armci", "mutex", number, name=f"mutex {number}")


@FUNCTIONS.does("void ARMCI_Lock(int mutex, int proc)")
def lock(call: Call, steps: Steps) -> None:
    process, cell = _mutex(call)
    _held(steps, process, True)
    steps.do(AwaitAdd(process, cell, "==", Const(0), Const(1)))


@FUNCTIONS.does("void ARMCI_Unlock(int mutex, int proc)")
def unlock(call: Call, steps: Steps) -> None:
    """Only the mutex: ARMCI promises no fence with it."""
    process, cell = _mutex(call)
    if not _held(steps, process, False):
        raise NotAllowed(rules.NOT_LOCKED, f"{call.name} of a mutex that this process has not locked")
    steps.do(FetchAdd(call.register("mutex"), process, cell, Const(-1)))


LOCKED = "armci.locked"
"""Key in the state of the mutexes that this process holds, by number and process."""


def _held(steps: Steps, process: Expr, holds: bool) -> bool:
    """Note whether this process ``holds`` the mutex in argument 0 from now on; whether it held it before."""
    return steps.hold(LOCKED, f"{steps.call.known(0)} of {queues.named(process)}", holds)


# Notifications


def _counter(call: Call, sender: int) -> Expr:
    """The cell that counts, with the receiver, the notifications of ``sender`` that have not been waited for."""
    return call.own_cell("armci", "notified", sender, name=f"notification by {sender}")


@FUNCTIONS.does("int armci_notify(int proc)")
def notify(call: Call, steps: Steps) -> None:
    """After all earlier calls to that process, other notifications too: the queue keeps those in order."""
    process = call.known(0)
    queue = call.fifo_queue("armci", "notify", process, name=f"notify_{process}")
    steps.do(Notify("add", Const(1), Const(process), _counter(call, call.rank), queue, everywhere=True))


@FUNCTIONS.does("int armci_notify_wait(int proc, int *value)")
def notify_wait(call: Call, steps: Steps) -> None:
    """The next notification of that process. The API says nothing of ``value``, which is undefined here."""
    steps.do(AwaitAdd(call.me, _counter(call, call.known(0)), ">", Const(0), Const(-1)))
    steps.answer(1, UNDEFINED, INT)
