"""Nonblocking collectives (MPI-4, section 6.12). They are made in one order by all members, and waited for in any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags, split_barriers
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group, channel
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.addresses import elements
from pgasrob.frontends.apis.mpi.collectives import gathered, operand, operation, root_of
from pgasrob.frontends.apis.mpi.datatypes import datatype
from pgasrob.frontends.apis.mpi.handles import communicator, in_place, pointer
from pgasrob.frontends.apis.mpi.header import REQUEST, does
from pgasrob.frontends.apis.mpi.messages import buffer_values
from pgasrob.frontends.apis.mpi.pending_collectives import Pending, begun, cells_of, width_of
from pgasrob.frontends.apis.mpi.requests import lend_buffer, pending
from pgasrob.frontends.apis.transfers import bounded
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import Address, Handle
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Expr


@does("Ibarrier(MPI_Comm comm, MPI_Request *request)")
def ibarrier(call: Call, steps: Steps) -> None:
    group = communicator(call, 0)
    flags.in_order(steps, group)
    _waits_for_all(steps, group, call.name)


@does("Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)")
def ibcast(call: Call, steps: Steps) -> None:
    """The root gives its values at the call, and its part is complete then."""
    (group, root), count, type = root_of(call, 3, 4), bounded(call, 1), datatype(call, 2)
    name = f"{call.name} of {count * type.count} from {root}"
    if call.rank != root:
        _receives(steps, replace(_pending(call, group, name, 0, count * type.count), givers=(root,)))
        return
    number = flags.in_order(steps, group, name)
    values = buffer_values(steps, 0, count, type)
    for member in group.members:
        if member != root:
            flags.send(steps, channel(group, root, member, name), values, number, collective=True)
    _given(steps, group, name)


_REDUCED = "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op"


@does(f"Ireduce({_REDUCED}, int root, MPI_Comm comm, MPI_Request *request)")
def ireduce(call: Call, steps: Steps) -> None:
    """The root gives its values to itself, too: its buffer is read at the call."""
    (group, root), own = root_of(call, 5, 6), operand(steps)
    name = f"{call.name} {operation(call)} of {len(own)} to {root}"
    if call.rank == root:
        what = _pending(call, group, name, 1, len(own))
        _receives(steps, replace(what, operation=operation(call)), own)
        return
    number = flags.in_order(steps, group, name)
    flags.send(steps, channel(group, call.rank, root, name), own, number, collective=True)
    _given(steps, group, name)


@does(f"Iallreduce({_REDUCED}, MPI_Comm comm, MPI_Request *request)")
def iallreduce(call: Call, steps: Steps) -> None:
    """What comes of unknown values is one unknown value for all, which the first member draws."""
    group, own, by = communicator(call, 5), operand(steps), operation(call)
    what = _pending(call, group, f"{call.name} {by} of {len(own)}", 1, len(own))
    _exchanges(steps, replace(what, operation=by), own)


@does("""
    Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
""")
def iallgather(call: Call, steps: Steps) -> None:
    group = communicator(call, 6)
    what, own = _pending(call, group, "", 3, 0), gathered(steps, group)
    what = replace(what, name=f"{call.name} of {len(own)}", length=len(own), count=what.count * len(group.members))
    _exchanges(steps, what, own)


# What a rank gives, and what it waits for


def _waits_for_all(steps: Steps, group: Group, name: str) -> None:
    """The request is complete when all have begun."""
    phase = split_barriers.begin(steps, group, name)
    pending(steps, "barrier", (*group.key, name), phase)
    request = Handle("request", ("barrier", group.key, group.members, phase, name))
    steps.store(_request(steps.call), request, REQUEST)


def _given(steps: Steps, group: Group, name: str) -> None:
    """The call has given what it has to, and nothing more is to come; the end may wait all the same until all have
    begun (`Call.strict`)."""
    steps.call.rests_on(Kind.NOT_SYNCHRONISING, steps.call.name)
    if steps.call.strict:
        _waits_for_all(steps, group, begun(name))
        return
    number = pending(steps, "send")
    lend_buffer(steps, "send", number, _sent(steps.call))
    steps.store(_request(steps.call), Handle("request", ("send", number)), REQUEST)


def _sent(call: Call) -> list[tuple[Address, CType]]:
    """The scalars that this rank gives."""
    if in_place(call, 0):
        return []
    count = 2 if "reduce" in call.name else 1
    return elements(call, 0, bounded(call, count), datatype(call, count + 1))


def _request(call: Call) -> Address:
    return pointer(call, len(call.arguments) - 1)


def _pending(call: Call, group: Group, name: str, buffer: int, length: int) -> Pending:
    """A collective that brings ``length`` values of each member to the ``buffer`` in that argument, with its count and
    type in the next ones."""
    if group.members is EVERYONE:
        call.number_needed(f"who gives what `{call.name}` brings")
    place = pointer(call, buffer)
    if not isinstance(place.offset, int):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"{call.name} into an element that is not known here",
            "receive into a variable of its own",
        )
    count, type = bounded(call, buffer + 1), datatype(call, buffer + 2)
    return Pending(group, name, "", group.members, length, (), (), place, count, type)


def _begun(steps: Steps, what: Pending) -> None:
    key, number = what.id
    pending(steps, "collective", key, number)
    received = [(steps.call.moved(what.place, place), kind) for place, kind in what.type.elements(what.count)]
    lend_buffer(steps, "collective", number, received, key)
    if steps.call.name != "MPI_Ibcast":
        lend_buffer(steps, "collective", number, _sent(steps.call), key, receives=False)
    steps.store(_request(steps.call), what.handle(), REQUEST)


def _receives(steps: Steps, what: Pending, own: Sequence[Expr] = ()) -> None:
    """This rank gets the messages of the givers, of which it may be one itself, with its ``own`` values."""
    me = steps.call.rank
    number = flags.in_order(steps, what.group, what.name)
    if own:
        flags.send(steps, channel(what.group, me, me, what.name), own, number, collective=True)
    ways = (channel(what.group, giver, me, what.name) for giver in what.givers)
    slots = (flags.next_message(steps, way, collective=True) for way in ways)
    what = replace(what, numbers=(number, *slots))
    if steps.call.strict:
        what = replace(what, begun=(split_barriers.begin(steps, what.group, begun(what.name)),))
    _begun(steps, what)


def _exchanges(steps: Steps, what: Pending, own: Sequence[Expr]) -> None:
    """All members give their ``own`` values, and each gets those of all. What an operation makes of unknown ones is
    drawn by the first member."""
    call, group = steps.call, what.group
    flags.in_order(steps, group, what.name)
    phase = split_barriers.next_phase(steps, group, what.name)
    cells, drawn = cells_of(call, group, what.name, phase, len(own)), list[Expr | None]([None] * len(own))
    if what.operation:
        types = [kind for _, kind in what.type.elements(what.count)]
        drawn = flags.drawn_in(steps, cells, own, types, width_of(what.operation))
    for cell, value, unknown in zip(cells, own, drawn, strict=True):
        if unknown is None or call.rank == group.members[0]:
            flags.lay(steps, cell, value if unknown is None else unknown)
    split_barriers.begin(steps, group, what.name)
    unknowns = tuple(place for place, unknown in enumerate(drawn) if unknown is not None)
    _begun(steps, replace(what, numbers=(phase,), drawn=unknowns))
