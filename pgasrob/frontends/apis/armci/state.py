"""ARMCI's queues and what a rank remembers of them.

Blocking puts have one queue for each process, which the fences between them keep in order. A handle, or the process's
implicit one, has two queues for each process, for puts and for gets: ARMCI_Fence waits for puts alone.

The state of a rank: ``armci.queues``, entries of a queue's key, its process, and whether something in it is not yet
complete on the local side. Entries of puts stay until a fence. ``armci.aggregate``: the handles that aggregate, whose
operations need not have begun before they are waited for, so that a fence does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import cast

from pgasrob.frontends.apis.arguments import target
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.values import Address
from pgasrob.program.commands import Wait, WaitLocal
from pgasrob.program.expressions import Const

Key = tuple[int | str, ...]
Entry = tuple[Key, int, bool]
BLOCKING: Key = ("put",)
IMPLICIT: Key = ("implicit",)


def handle(call: Call, index: int) -> Key:
    """The key of the handle in argument ``index``, by its address; null is the process's implicit one."""
    address = call.pointer(index)
    if address is None:
        return IMPLICIT
    if not isinstance(address.offset, int):
        call.fail(f"{call.texts[index]} is not one known handle", "use a handle whose address is a constant here")
    number = address.object.number
    parts = number if isinstance(number, tuple) else (number,)
    return ("handle", address.object.kind, *parts, address.offset)


def entries(steps: Steps) -> tuple[Entry, ...]:
    return cast("tuple[Entry, ...]", steps.recall("armci.queues", ()))


def queue(steps: Steps, key: Key, process: int) -> Const:
    name = "_".join(map(str, (*key, "to", process)))
    return steps.call.queue("armci", *key, process, name=name)


def used(steps: Steps, key: Key, process: int) -> bool:
    return any((key, process) == entry[:2] for entry in entries(steps))


def use(steps: Steps, key: Key, process: int, pending: bool) -> Const:
    """The queue, with something more in it that is ``pending`` on the local side."""
    others = [entry for entry in entries(steps) if entry[:2] != (key, process)]
    was = any(entry == (key, process, True) for entry in entries(steps))
    _set(steps, [*others, (key, process, pending or was)])
    return queue(steps, key, process)


def wait_local(steps: Steps, which: Callable[[Key, int], bool]) -> None:
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


def fence(steps: Steps, process: int | None) -> None:
    """Complete the puts to ``process``, or to all, on the other side."""
    left, aggregate = [], _aggregate(steps.call)
    for entry in entries(steps):
        key, other, pending = entry
        if key[-1] == "put" and process in (None, other) and not (pending and key[:-1] in aggregate):
            steps.do(Wait(queue(steps, key, other)))
        else:
            left.append(entry)
    _set(steps, left)


def _aggregate(call: Call) -> tuple[Key, ...]:
    return cast("tuple[Key, ...]", call.state.get("armci.aggregate", ()))


def aggregated(call: Call, key: Key, begins: bool) -> dict[str, Hashable]:
    """The state when the handle ``key`` aggregates from now on, or no more."""
    others = {other for other in _aggregate(call) if other != key}
    return {"armci.aggregate": tuple(sorted(others | {key} if begins else others, key=repr))}


def _set(steps: Steps, left: list[Entry]) -> None:
    steps.note("armci.queues", tuple(sorted(left, key=repr)))


def remote(call: Call, index: int, address: Address, process: int) -> Address:
    """``address``, of argument ``index``, which must be one of ``process``."""
    owner = call.rank if address.owner is None else address.owner
    if owner != process:
        call.fail(
            f"{call.texts[index]} is an address of rank {owner}, not of rank {process}",
            "pass the address that ARMCI_Malloc has given for that process",
        )
    return address


def local(call: Call, index: int, address: Address) -> Address:
    if address.owner is not None and address.owner != call.rank:
        call.fail(f"{call.texts[index]} is an address of rank {address.owner}", "pass the address of a buffer here")
    return address


def remote_argument(call: Call, index: int, process: int) -> Address:
    return remote(call, index, target(call, index, of_others=True), process)
