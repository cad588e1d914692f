"""Two-sided messages (MPI-4, chapter 3), as data flow.

Sends are buffered: they go on at once, and more messages under way than there is room for are a fault. A message
carries the values that the buffer has when the send is called. Messages match by communicator, sender and tag; a
receive may take any sender, but no unknown tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group, channel
from pgasrob.frontends.apis.interface import Call, Outcome, Way
from pgasrob.frontends.apis.mpi import matching
from pgasrob.frontends.apis.mpi.addresses import elements
from pgasrob.frontends.apis.mpi.datatypes import Datatype, datatype
from pgasrob.frontends.apis.mpi.handles import SUCCESS, communicator, outside, places, pointer, split
from pgasrob.frontends.apis.mpi.header import ANY_SOURCE, ANY_TAG, PROC_NULL, REQUEST, UNDEFINED, calls, does
from pgasrob.frontends.apis.mpi.requests import SAME_COUNT, lend_buffer, pending, receive_request, store_status
from pgasrob.frontends.apis.transfers import bounded, value_at
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.types import INT, ULONG
from pgasrob.frontends.c.values import Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assume
from pgasrob.program.expressions import Binary, Const, Expr

_SENT = "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"
_SENDRECV = -2
"""The number of the send in MPI_Sendrecv."""
_RECEIVED = "void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm"


def buffer_values(steps: Steps, buffer: int, count: int, type: Datatype, skip: int = 0) -> list[Expr]:
    """The elements of the items of a buffer from item ``skip`` on."""
    return [value_at(steps, place, kind) for place, kind in elements(steps.call, buffer, count, type, skip)]


def store_in_buffer(
    steps: Steps, buffer: int, count: int, type: Datatype, values: Sequence[Expr], skip: int = 0
) -> None:
    """Store ``values`` as the elements of the items of a buffer from item ``skip`` on."""
    if count * type.count != len(values):
        steps.call.fail(
            Wrong.ARGUMENT, f"{steps.call.name} moves {len(values)} elements into {count * type.count}", SAME_COUNT
        )
    for (place, kind), value in zip(elements(steps.call, buffer, count, type, skip), values, strict=True):
        steps.store(place, value, kind)


# Messages


@calls(f"Send({_SENT}); Bsend({_SENT}); Ssend({_SENT}); Rsend({_SENT})")
def send(call: Call) -> list[Outcome]:
    def go(steps: Steps, values: Mapping[int, int | Expr]) -> None:
        _send(steps, 0, values[3])

    return split(call, {3: places(communicator(call, 5))}, go)


@calls(f"Isend({_SENT}, MPI_Request *request)")
def isend(call: Call) -> list[Outcome]:
    def go(steps: Steps, values: Mapping[int, int | Expr]) -> None:
        number = pending(steps, "send")
        way = _send(steps, 0, values[3], number=number)
        if way is not None:
            lend_buffer(steps, "send", number, elements(call, 0, bounded(call, 1), datatype(call, 2)))
        strict = (way.key, way.members) if call.strict and way is not None else ()
        steps.store(pointer(call, 6), Handle("request", ("send", number, *strict)), REQUEST)

    return split(call, {3: places(communicator(call, 5))}, go)


def _send(
    steps: Steps, first: int, place: int | Expr, comm: int = 5, number: int = matching.NOBODY_WAITS
) -> Group | None:
    """Send to rank ``place`` with the buffer, count, type and tag that are among the arguments from ``first`` on; the
    channel, if the place is one. A send that may end later (MPI_Isend, MPI_Sendrecv) has a ``number``, and does not
    wait here."""
    call = steps.call
    group = communicator(call, comm)
    if place == PROC_NULL:
        return None
    if not isinstance(place, int):
        call.number_needed(f"{call.name} to a rank that is computed")
    check_rank(call, group, place)
    if call.name not in ("MPI_Ssend", "MPI_Bsend"):
        call.rests_on(Kind.BUFFERED_SENDS, call.name)
    values = buffer_values(steps, first, bounded(call, first + 1), datatype(call, first + 2))
    receiver, tag = group.members[place], call.known(first + 4)
    _publish_one(call, _tags(group, receiver), tag)
    way = channel(group, call.rank, receiver, "tag", tag)
    _publish_one(call, way.name("lengths"), len(values))
    _publish_one(call, way.name("sizes"), bounded(call, first + 1) * datatype(call, first + 2).size(call))
    waits, ends = matching.waits(call, way), call.name not in ("MPI_Isend", "MPI_Sendrecv")
    apart = matching.counted(call, way)
    matching.send_begins(steps, way, number)
    flags.send(steps, way, values, until_received=waits and ends and not apart)
    if waits and ends:
        matching.send_ends(steps, way, number)
    return way


def _publish_one(call: Call, key: str, number: int) -> None:
    """Publish that ``number`` is one of the tags or lengths with which this rank sends."""
    before = cast("frozenset[int]", call.published_here(key) or frozenset())
    call.publish(key, before | {number})


@calls(f"Recv({_RECEIVED}, MPI_Status *status)")
def recv(call: Call) -> list[Outcome]:
    outcomes = [_received(call, steps, 0, source, 5, 6) for steps, source in _sources(call, 3, 5)]
    if not isinstance(call.arguments[3], Known):
        outcomes.append(outside(call, 3, places(communicator(call, 5))))
    return outcomes


def _sources(call: Call, index: int, comm: int) -> list[tuple[Steps, int]]:
    """The ranks that a message may be received from; one that is not known is assumed to be each of them."""
    call.try_each(index)
    source = call.arguments[index]
    if isinstance(source, Known) and source.value != ANY_SOURCE:
        return [(Steps(call), source.value)]
    result = []
    if communicator(call, comm).members is EVERYONE:
        call.number_needed(f"who `{call.name}` may receive from")
    for place in places(communicator(call, comm)):
        if place == PROC_NULL and isinstance(source, Known):
            continue
        steps = Steps(call)
        if not isinstance(source, Known):
            steps.do(Assume(Binary("==", call.expression(index), Const(place))))
        result.append((steps, place))
    return result


def _received(call: Call, steps: Steps, first: int, source: int, comm: int, status: int) -> Outcome:
    """Receive with the buffer, count, type, source and tag that are arguments from ``first`` on."""
    type, count, tag = datatype(call, first + 2), bounded(call, first + 1), _tag(call, first + 4, comm, source)
    if source == PROC_NULL:
        store_status(steps, call.pointer(status), PROC_NULL, ANY_TAG, 0)
        return steps.outcome(SUCCESS)
    way, count = _way(call, communicator(call, comm), source, tag, type, count)
    store_in_buffer(steps, first, count, type, flags.receive(steps, way, count * type.count))
    matching.receive_begins(steps, way)
    store_status(steps, call.pointer(status), source, tag, count * type.size(call))
    return steps.outcome(SUCCESS)


@does(f"Irecv({_RECEIVED}, MPI_Request *request)")
def irecv(call: Call, steps: Steps) -> None:
    source = call.known(3)
    type, count, tag = datatype(call, 2), bounded(call, 1), _tag(call, 4, 5, source)
    if source == ANY_SOURCE:
        call.fail(Wrong.CALL_LIMIT, "MPI_Irecv of MPI_ANY_SOURCE is not supported", "name the source, or use MPI_Recv")
    if source == PROC_NULL:
        steps.store(pointer(call, 6), Handle("request", ("send", pending(steps, "send"))), REQUEST)
        return
    (way, received), buffer = _way(call, communicator(call, 5), source, tag, type, count), pointer(call, 0)
    if not isinstance(buffer.offset, int):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            "MPI_Irecv into an element that is not known here",
            "receive into a variable of its own",
        )
    matching.begins_early(call, way)
    matching.receive_begins(steps, way)
    slot = flags.next_message(steps, way)
    pending(steps, "receive", way.key, slot)
    lend_buffer(steps, "receive", slot, elements(call, 0, count, type), way.key)
    request = receive_request(way, slot, tag, source, buffer, type, received)
    steps.store(pointer(call, 6), request, REQUEST)


@calls("""
    Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
""")
def sendrecv(call: Call) -> list[Outcome]:
    outcomes = []
    for steps, source in _sources(call, 8, 10):
        way = _send(steps, 0, call.known(3), 10, _SENDRECV)
        outcome = _received(call, steps, 5, source, 10, 11)
        if call.strict and way is not None:
            matching.send_ends(steps, way, _SENDRECV)
            outcome = steps.outcome(SUCCESS)
        outcomes.append(outcome)
    return outcomes


def _tag(call: Call, index: int, comm: int, source: int) -> int:
    """The tag of a receive. MPI_ANY_TAG is the only one with which the source sends to this rank."""
    tag = call.known(index)
    if tag != ANY_TAG or source == PROC_NULL:
        return tag
    group = communicator(call, comm)
    check_rank(call, group, source)
    tags = cast("frozenset[int]", call.published(group.members[source], _tags(group, call.rank)) or frozenset((0,)))
    if len(tags) > 1:
        call.fail(
            Wrong.CALL_LIMIT,
            f"{call.name} with MPI_ANY_TAG of messages with the tags {', '.join(map(str, sorted(tags)))}",
            "name the tag, or send with one",
        )
    return next(iter(tags))


def _tags(group: Group, receiver: int) -> str:
    """Key of the published tags with which a rank sends to ``receiver``."""
    return f"{group.name('tags')}.{receiver}"


def check_rank(call: Call, group: Group, place: int) -> None:
    if not 0 <= place < len(group.members):
        call.fail(
            Wrong.RANK,
            f"{call.name} with rank {place} of {len(group.members)}",
            "ranks count from 0 in the communicator",
        )


def _way(call: Call, group: Group, source: int, tag: int, type: Datatype, count: int) -> tuple[Group, int]:
    """The channel of a receive of at most ``count`` items of ``type``, and how many come. All messages over it have to
    have one length, which may be less than there is room for."""
    check_rank(call, group, source)
    way = channel(group, group.members[source], call.rank, "tag", tag)
    lengths, room = call.published(group.members[source], way.name("lengths")), count * type.count
    sent, *others = sorted(lengths) if isinstance(lengths, frozenset) else (room,)
    if others or sent > room or (sent < room and sent % type.count):
        most = max(lengths) if isinstance(lengths, frozenset) else sent
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} of {room} elements where {most if most > room else sent} are sent with tag {tag}"
            f"{', and other messages have other lengths' if others else ''}",
            "make room for as many elements as are sent, and give messages of other lengths another tag",
        )
    return way, sent // type.count if sent < room else count


@calls("Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)")
def probe(call: Call) -> list[Way]:
    return [_found(steps, source, 3) for steps, source in _sources(call, 0, 2)]


@calls("Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)")
def iprobe(call: Call) -> list[Way]:
    """It may always answer that there is nothing: a message is found some time after it was sent (3.8.1)."""
    ways, nothing = [], Steps(call)
    for steps, source in _sources(call, 0, 2):
        steps.store(pointer(call, 3), 1, INT)
        ways.append(_found(steps, source, 4))
    nothing.store(pointer(call, 3), 0, INT)
    return [*ways, nothing.outcome(SUCCESS)]


def _found(steps: Steps, source: int, status: int) -> Way:
    """The next message from ``source`` with the tag in argument 1 is there, and stays there."""
    call = steps.call
    tag = _tag(call, 1, 2, source)
    if source == PROC_NULL:
        store_status(steps, call.pointer(status), PROC_NULL, ANY_TAG, 0)
        return steps.outcome(SUCCESS)
    group = communicator(call, 2)
    check_rank(call, group, source)
    way = channel(group, group.members[source], call.rank, "tag", tag)
    sizes = call.published(group.members[source], way.name("sizes"))
    size, *others = sizes if isinstance(sizes, frozenset) else (0,)
    if others:
        call.fail(
            Wrong.CALL_LIMIT,
            f"{call.name} of messages of several lengths",
            "give messages of other lengths another tag",
        )
    flags.await_message(steps, way)
    store_status(steps, call.pointer(status), source, tag, size)
    return steps.outcome(SUCCESS)


# Packing


@does("Pack_size(int count, MPI_Datatype datatype, MPI_Comm comm, int *size)")
def pack_size(call: Call, steps: Steps) -> None:
    steps.answer(3, bounded(call, 0) * datatype(call, 1).size(call), INT)


@does("""
    Pack(const void *inbuf, int count, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
""")
def pack(call: Call, steps: Steps) -> None:
    """The elements one behind the other, as they are (5.2)."""
    _copy_packed(steps, 0, 1, 3, 5)


@does("""
    Unpack(const void *inbuf, int insize, int *position, void *outbuf, int count, MPI_Datatype datatype, MPI_Comm comm)
""")
def unpack(call: Call, steps: Steps) -> None:
    _copy_packed(steps, 3, 4, 0, 2)


def _copy_packed(steps: Steps, buffer: int, count: int, packed: int, position: int) -> None:
    """Copy between the items of a ``buffer``, with their ``count`` and type, and the memory that argument ``packed``
    points to, from ``position`` on: from the one that comes first among the arguments."""
    call = steps.call
    type, number = datatype(call, count + 1), bounded(call, count)
    place = call.load(pointer(call, position), INT)
    if not isinstance(place, Known):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"{call.name} at a position that is not known here",
            "compute it from ranks and constants",
        )
    offset, base = place.value, pointer(call, packed)
    for at, kind in elements(call, buffer, number, type):
        there = call.moved(base, offset)
        to, of = (there, at) if buffer < packed else (at, there)
        steps.store(to, value_at(steps, of, kind), kind)
        offset += call.size_of(kind)
    steps.store(pointer(call, position), offset, INT)


@does("Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)")
def get_count(call: Call, steps: Steps) -> None:
    type = datatype(call, 1)
    bytes = call.load(call.moved(pointer(call, 0), 16), ULONG)
    if not isinstance(bytes, Known):
        call.fail(
            Wrong.UNKNOWN_LIMIT, "MPI_Get_count of a status that is not known here", "use the number that is received"
        )
    item = type.size(call)
    steps.answer(2, bytes.value // item if bytes.value % item == 0 else UNDEFINED, INT)
