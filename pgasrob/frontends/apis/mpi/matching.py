"""Sends that wait until their receive has begun (MPI-4, section 3.4): MPI_Ssend, and all but MPI_Bsend where calls are
strict (`Call.strict`).

Where the receives of a channel are blocking, and so are its sends, the sender waits until the message has been taken.
Else the receiver counts in a cell of the sender's how many receives it has begun. They match the sends in order, so a
send is matched when as many have been counted as there are sends up to it of which that is not known.
"""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import MOST_DEPTH, Group, cell_of
from pgasrob.frontends.apis.interface import Call
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import AwaitAdd
from pgasrob.program.expressions import Const

NOBODY_WAITS = -1
"""In place of the number of a send of which nobody will ask whether it is matched."""


def waits(call: Call, way: Group) -> bool:
    """Note whether this call sends over the channel ``way`` and waits, now or at the end of its request, until it is
    matched."""
    waiting = call.name == "MPI_Ssend" or (call.strict and call.name != "MPI_Bsend")
    if waiting:
        call.publish(way.name("synchronous"), True)
    if waiting and call.name in ("MPI_Isend", "MPI_Sendrecv"):
        call.publish(way.name("apart"), True)
    return waiting


def begins_early(call: Call, way: Group) -> None:
    """Note that this rank begins a receive over ``way`` in one call, and ends it in another one."""
    call.publish(way.name("apart"), True)


def counted(call: Call, way: Group) -> bool:
    """Whether the receives of ``way`` are counted."""
    sender, receiver = way.members
    if not call.published(sender, way.name("synchronous")):
        return False
    return any(call.published(each, way.name("apart")) for each in (sender, receiver))


def receive_begins(steps: Steps, way: Group) -> None:
    """This rank begins a receive over ``way``; of a blocking one it is enough to count it at its end."""
    if counted(steps.call, way):
        cell = cell_of(steps.call, way, "begun")
        steps.do(AwaitAdd(Const(way.members[0]), cell, ">", Const(-1), Const(1)))


def send_begins(steps: Steps, way: Group, number: int) -> None:
    """This rank sends over ``way``, and will ask by that ``number`` whether the send is matched."""
    if counted(steps.call, way):
        unmatched = (*_unmatched(steps, way), number)
        if len(unmatched) > MOST_DEPTH:
            steps.call.fail(
                Wrong.SIZE_LIMIT, f"{len(unmatched)} sends of which none is waited for", "wait for some of them before"
            )
        steps.note(way.name("unmatched"), unmatched)


def send_ends(steps: Steps, way: Group, number: int) -> None:
    """Wait until the send of that ``number`` is matched."""
    call, unmatched = steps.call, _unmatched(steps, way)
    if call.strict:
        call.rests_on(Kind.NOT_SYNCHRONISING, call.name)
    if number in unmatched:
        before = unmatched.index(number)
        cell = cell_of(call, way, "begun")
        steps.do(AwaitAdd(call.me, cell, ">", Const(before), Const(-1 - before)))
        steps.note(way.name("unmatched"), unmatched[before + 1 :] or None)


def _unmatched(steps: Steps, way: Group) -> tuple[int, ...]:
    return cast("tuple[int, ...]", steps.recall(way.name("unmatched")) or ())
