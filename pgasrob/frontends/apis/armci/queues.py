"""ARMCI's queues and what a rank remembers of them.

Blocking puts have one queue for each process, which the fences between them keep in order. A handle, or the process's
implicit one, has two queues for each process, for puts and for gets: ARMCI_Fence waits for puts alone.

When a program is lowered for every number of nodes a process may be an expression. An expression over `me` and `nodes`
has queues of its own, as a number has: two of them may be for one process, and then a wait covers less than it could.
All other expressions share one queue, for which only the calls wait that wait for all processes.

The state of a rank: ``armci.queues``, entries of a queue's key, its process, and whether something in it is not yet
complete on the local side. Entries of puts stay until a fence. ``armci.aggregate``: the handles that aggregate, whose
operations need not have begun before they are waited for, so that a fence does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.armci import rules
from pgasrob.frontends.apis.armci.header import HANDLE
from pgasrob.frontends.apis.call_arguments import is_owner, target
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps, refuse_freed
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.c.values import UNDEFINED, Address
from pgasrob.program.commands import Wait, WaitLocal
from pgasrob.program.expressions import Const, Expr, is_of_rank, name_of, render

Key = tuple[int | str, ...]
Entry = tuple[Key, int | str, bool]
BLOCKING: Key = ("put",)
IMPLICIT: Key = ("implicit",)
SOMEWHERE = "somewhere"
"""The name of a process that may be another one each time."""


def handle(call: Call, index: int) -> Key:
    """The key of the handle in argument ``index``, by its address; null is the process's implicit one."""
    address = call.pointer(index)
    if address is None:
        return IMPLICIT
    if not isinstance(address.offset, int):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"{call.texts[index]} is not one known handle",
            "use a handle whose address is a constant here",
        )
    used = not call.name.endswith(("Wait", "Test"))  # these are wrong only by an earlier call
    if used and address.object.kind == "local" and call.load(address, HANDLE) == UNDEFINED:
        raise NotAllowed(rules.NO_HANDLE, f"{call.name} with `{call.texts[index]}`, which has not been initialised")
    number = address.object.number
    parts = number if isinstance(number, tuple) else (number,)
    return ("handle", address.object.kind, *parts, address.offset)


def entries(steps: Steps) -> tuple[Entry, ...]:
    return cast("tuple[Entry, ...]", steps.recall("armci.queues", ()))


def process_in(call: Call, index: int) -> Expr:
    """The process in argument ``index``, which is a number where that of nodes is known."""
    return call.expression(index) if call.symbolic else Const(call.known(index))


def named(process: Expr) -> int | str:
    """A name of ``process`` that is the same in all runs of a rank, or `SOMEWHERE`."""
    if isinstance(process, Const):
        return process.value
    return name_of(process) if is_of_rank(process) else SOMEWHERE


def queue(steps: Steps, key: Key, process: int | str) -> Const:
    name = "_".join(map(str, (*key, *(("to", process) if isinstance(process, int) else ()))))
    return steps.call.queue("armci", *key, process, name=name)


def used(steps: Steps, key: Key, to: Expr) -> bool:
    return any((key, named(to)) == entry[:2] for entry in entries(steps))


def use(steps: Steps, key: Key, to: Expr, pending: bool) -> Const:
    """The queue, with something more in it that is ``pending`` on the local side."""
    process, call = named(to), steps.call
    waiting = [other for other, _, waits in entries(steps) if waits and other[:-1] == key[:-1]]
    if key[0] == "handle" and waiting and key[:-1] not in _aggregate(call):
        steps.illegal(rules.HANDLE_IN_USE, f"{call.name} with a handle of another operation, which is not complete")
    others = [entry for entry in entries(steps) if entry[:2] != (key, process)]
    was = any(entry == (key, process, True) for entry in entries(steps))
    _set(steps, [*others, (key, process, pending or was)])
    return queue(steps, key, process)


def never_waited_for(steps: Steps) -> None:
    """Note what has a handle and has not been waited for, where the use of the library ends."""
    if any(pending and key[0] == "handle" for key, _, pending in entries(steps)):
        steps.illegal(
            rules.NEVER_WAITED_FOR, f"{steps.call.name} before an operation with a handle has been waited for"
        )


def wait_local(steps: Steps, which: Callable[[Key, int | str], bool]) -> None:
    """Complete queues on the local side. Gets are done then, puts stay for a fence."""
    left = []
    for key, process, pending in entries(steps):
        if pending and which(key[:-1], process):
            steps.do(WaitLocal(queue(steps, key, process)))
            if key[-1] == "put":
                left.append((key, process, False))
        else:
            left.append((key, process, pending))
    _set(steps, left)


def fence(steps: Steps, to: Expr | None) -> None:
    """Complete the puts to one process, or to all, on the other side."""
    process = None if to is None else named(to)
    if process == SOMEWHERE:
        return
    left, aggregating = [], _aggregate(steps.call)
    for entry in entries(steps):
        key, other, pending = entry
        if key[-1] == "put" and process in (None, other) and not (pending and key[:-1] in aggregating):
            steps.do(Wait(queue(steps, key, other)))
        else:
            left.append(entry)
    _set(steps, left)


def _aggregate(call: Call) -> tuple[Key, ...]:
    return cast("tuple[Key, ...]", call.state.get("armci.aggregate", ()))


def aggregate(steps: Steps, key: Key, begins: bool) -> None:
    """The handle ``key`` aggregates from now on, or no more."""
    others = {other for other in _aggregate(steps.call) if other != key}
    steps.note("armci.aggregate", tuple(sorted(others | {key} if begins else others, key=repr)))


def _set(steps: Steps, left: list[Entry]) -> None:
    steps.note("armci.queues", tuple(sorted(left, key=repr)))


def remote(call: Call, index: int, address: Address, process: Expr) -> Address:
    """``address``, of argument ``index``, which must be one of ``process``."""
    refuse_freed(call, address, f"{call.name} of memory")
    owner = call.me if address.owner is None else address.owner
    if isinstance(owner, int):
        owner = Const(owner)
    if not is_owner(owner, process):
        if call.symbolic:
            call.number_needed(f"whether {call.texts[index]} is an address of that process")
        call.fail(
            Wrong.ELSEWHERE,
            f"{call.texts[index]} is an address of rank {render(owner)}, not of rank {render(process)}",
            "pass the address that ARMCI_Malloc has given for that process",
        )
    return address


def remote_argument(call: Call, index: int, process: Expr) -> Address:
    return remote(call, index, target(call, index, of_others=True), process)
