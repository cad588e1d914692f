"""GASNet's queues: one for blocking operations, two for the implicit sets, one for each handle, region and event.

A handle is the number of its queue, the least that is free. The state of a rank: ``gasnet.open`` the numbers of the
handles that have not been waited for, ``gasnet.implicit`` which of the implicit sets, "put", "group" (puts whose local
side `GEX_EC_LC` completes) and "get", have something in them, ``gasnet.region`` the handle of the access region that is
open, ``gasnet.leaves`` the handles with an event for their local side that has not been waited for.
"""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import is_owner, local, no_handle, target
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps, least_free
from pgasrob.frontends.apis.gasnet import rules
from pgasrob.frontends.apis.interface import Address, Call, ObjectId
from pgasrob.frontends.c.values import Handle, Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait
from pgasrob.program.expressions import Const, Expr

KIND = "gasnet.handle"
SEGMENT = ObjectId("segment", ("gasnet", "segment"))


def open_handles(steps: Steps) -> tuple[int, ...]:
    return cast("tuple[int, ...]", steps.recall("gasnet.open", ()))


def leaves(steps: Steps) -> tuple[int, ...]:
    """The handles that have an event for their local side which has not been waited for: their numbers stay taken."""
    return cast("tuple[int, ...]", steps.recall("gasnet.leaves", ()))


def new_handle(steps: Steps) -> int:
    number = least_free({*open_handles(steps), *leaves(steps)})
    steps.note("gasnet.open", tuple(sorted((*open_handles(steps), number))))
    return number


def handle_queue(steps: Steps, number: int) -> Const:
    return steps.call.queue("gasnet", "handle", number, name=f"handle_{number}")


def value_of(number: int) -> Handle:
    return Handle(KIND, (number,))


def number_of(call: Call, value: Value | None, text: str) -> int | None:
    """The number of a handle; None for the invalid one."""
    if value == Known(0):
        return None
    if isinstance(value, Handle) and value.kind == KIND and isinstance(value.data[0], int):
        return value.data[0]
    return call.fail(
        no_handle(value),
        f"{text} is not a known handle here",
        "set the variable of the handle on each path to this call",
    )


def complete(steps: Steps, number: int | None) -> None:
    """Wait for a handle, which is invalid from then on."""
    if number is not None and number in open_handles(steps):
        steps.do(Wait(handle_queue(steps, number)))
        steps.note("gasnet.open", tuple(other for other in open_handles(steps) if other != number))


def wait_once(steps: Steps, handle: Value, text: str) -> None:
    """Wait for a handle that is waited for nowhere else."""
    number = number_of(steps.call, handle, text)
    if number is not None and number not in open_handles(steps):
        raise NotAllowed(rules.HANDLE_TWICE, f"{steps.call.name} of a handle that has been waited for")
    complete(steps, number)


def implicit(steps: Steps, kind: str) -> Const:
    """The queue of implicit operations of ``kind``, "put", "group" or "get", that are begun now."""
    region = steps.recall("gasnet.region")
    if isinstance(region, int):
        return handle_queue(steps, region)
    began = cast("tuple[str, ...]", steps.recall("gasnet.implicit", ()))
    steps.note("gasnet.implicit", tuple(sorted({*began, kind})))
    return implicit_queue(steps, kind)


def implicit_queue(steps: Steps, kind: str) -> Const:
    return steps.call.queue("gasnet", "implicit", kind, name=f"implicit_{kind}s")


def complete_implicit(steps: Steps, kinds: tuple[str, ...]) -> None:
    if isinstance(steps.recall("gasnet.region"), int):
        steps.illegal(rules.IMPLICIT_IN_REGION, f"{steps.call.name} within an access region")
    began = cast("tuple[str, ...]", steps.recall("gasnet.implicit", ()))
    for kind in began:
        if kind in kinds:
            steps.do(Wait(implicit_queue(steps, kind)))
    steps.note("gasnet.implicit", tuple(kind for kind in began if kind not in kinds))


def blocking_queue(call: Call) -> Const:
    return call.queue("gasnet", "blocking", name="blocking")


# Addresses


def remote(call: Call, index: int, node: int) -> tuple[Address, Expr]:
    """The address in argument ``index`` and the rank in argument ``node``, to which the address must belong.

    Segments are aligned and static objects lie at the same address everywhere, so that a rank's own address of such an
    object holds for any rank, also for one that is not known here.
    """
    address, rank = target(call, index, of_others=True), call.expression(node)
    owner = address.owner
    if owner is None and rank == call.me:
        return address, rank
    if owner is None and address.object.kind in ("segment", "symmetric", "global"):
        call.rests_on(Kind.SAME_ADDRESSES)
        return address, rank
    if isinstance(owner, Expr) and is_owner(owner, rank):
        return address, owner
    if isinstance(rank, Const) and not call.symbolic and not 0 <= rank.value < call.nodes:
        return address, rank  # the command is in error
    if call.symbolic:
        call.number_needed(f"whether {call.texts[index]} is an address of rank {call.texts[node]}")
    if not isinstance(owner, int) or rank != Const(owner):
        call.fail(
            Wrong.ELSEWHERE,
            f"{call.texts[index]} is not an address of rank {call.texts[node]}",
            "pass an address in the segment of that rank, as gasnet_getSegmentInfo gives it",
        )
    return address, rank


def local_argument(call: Call, index: int) -> Address:
    """The address in argument ``index``, which has to be in this rank's memory."""
    return local(call, index, target(call, index, of_others=True))
