"""Two-sided messages and collectives on basic types (MPI-4, chapters 3 and 6), as data flow.

Sends are buffered: they go on at once, and more messages under way than there is room for are a fault. A message
carries the values that the buffer has when the send is called. Messages match by communicator, sender and tag; a
receive may take any sender, but no unknown tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.flags import Group, channel
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi.handles import (
    SUCCESS,
    Datatype,
    answer,
    communicator,
    datatype,
    handle,
    in_place,
    outside,
    places,
    pointer,
    size,
    split,
)
from pgasrob.frontends.apis.mpi.names import ANY_SOURCE, ANY_TAG, PROC_NULL, REQUEST, UNDEFINED, calls
from pgasrob.frontends.apis.mpi.requests import receive_into, receive_request, store_status
from pgasrob.frontends.apis.transfers import Steps, bounded, value_at
from pgasrob.frontends.c.types import INT, ULONG
from pgasrob.frontends.c.values import Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assume
from pgasrob.program.expressions import Binary, Const, Expr

_SENT = "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"
_RECEIVED = "void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm"


def _values(steps: Steps, buffer: int, count: int, type: Datatype, skip: int = 0) -> list[Expr]:
    """The elements of the items of a buffer from item ``skip`` on."""
    if count == 0:
        return []
    base = steps.call.moved(pointer(steps.call, buffer), skip * type.extent)
    return [value_at(steps, steps.call.moved(base, place), type.type) for place in type.elements(count)]


def _store(steps: Steps, buffer: int, count: int, type: Datatype, values: Sequence[Expr], skip: int = 0) -> None:
    if count * len(type.displacements) != len(values):
        steps.call.fail(
            f"{steps.call.name} moves {len(values)} elements into {count * len(type.displacements)}",
            "give the same number of elements on both sides",
        )
    if count:
        base = steps.call.moved(pointer(steps.call, buffer), skip * type.extent)
        for place, value in zip(type.elements(count), values, strict=True):
            steps.store(steps.call.moved(base, place), value, type.type)


# Messages


@calls(f"Send({_SENT}); Bsend({_SENT}); Ssend({_SENT}); Rsend({_SENT})")
def send(call: Call) -> list[Outcome]:
    def go(steps: Steps, values: Mapping[int, int]) -> None:
        _send(steps, 0, values[3], until_received=call.name == "MPI_Ssend")

    return split(call, {3: places(communicator(call, 5))}, go)


@calls(f"Isend({_SENT}, MPI_Request *request)")
def isend(call: Call) -> list[Outcome]:
    def go(steps: Steps, values: Mapping[int, int]) -> None:
        _send(steps, 0, values[3])
        steps.store(pointer(call, 6), Handle("request", ("send",)), REQUEST)

    return split(call, {3: places(communicator(call, 5))}, go)


def _send(steps: Steps, first: int, place: int, comm: int = 5, *, until_received: bool = False) -> None:
    """Send to rank ``place`` with the buffer, count, type and tag that are among the arguments from ``first`` on."""
    call = steps.call
    group = communicator(call, comm)
    if place == PROC_NULL:
        return
    _check_rank(call, group, place)
    if call.name not in ("MPI_Ssend", "MPI_Bsend"):
        call.rests_on(Kind.BUFFERED_SENDS, call.name)
    values = _values(steps, first, bounded(call, first + 1), datatype(call, first + 2))
    way = channel(group, call.rank, group.members[place], "tag", call.known(first + 4))
    lengths = call.published(call.rank, way.name("lengths"))
    call.publish(way.name("lengths"), frozenset((len(values),)) | (lengths or frozenset()))  # type: ignore[operator]
    flags.send(steps, way, values, until_received=until_received)


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
    type, count, tag = datatype(call, first + 2), bounded(call, first + 1), _tag(call, first + 4)
    if source == PROC_NULL:
        store_status(steps, call.pointer(status), PROC_NULL, ANY_TAG, 0)
        return steps.outcome(SUCCESS)
    way = _way(call, communicator(call, comm), source, tag, count * len(type.displacements))
    receive_into(steps, way, None, pointer(call, first) if count else None, type, count)
    bytes = count * len(type.displacements) * size(call, type)
    store_status(steps, call.pointer(status), source, tag, bytes)
    return steps.outcome(SUCCESS)


@calls(f"Irecv({_RECEIVED}, MPI_Request *request)")
def irecv(call: Call) -> Outcome:
    steps, source = Steps(call), call.known(3)
    type, count, tag = datatype(call, 2), bounded(call, 1), _tag(call, 4)
    if source == ANY_SOURCE:
        call.fail("MPI_Irecv of MPI_ANY_SOURCE is not supported", "name the source, or use MPI_Recv")
    if source == PROC_NULL:
        steps.store(pointer(call, 6), Handle("request", ("send",)), REQUEST)
        return steps.outcome(SUCCESS)
    way = _way(call, communicator(call, 5), source, tag, count * len(type.displacements))
    buffer = pointer(call, 0)
    if not isinstance(buffer.offset, int):
        call.fail("MPI_Irecv into an element that is not known here", "receive into a variable of its own")
    slot = flags.next_message(steps, way)
    request = receive_request(way, slot, tag, source, buffer, type, count)
    steps.store(pointer(call, 6), request, REQUEST)
    return steps.outcome(SUCCESS)


@calls("""
    Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
""")
def sendrecv(call: Call) -> list[Outcome]:
    outcomes = []
    for steps, source in _sources(call, 8, 10):
        _send(steps, 0, call.known(3), 10)
        outcomes.append(_received(call, steps, 5, source, 10, 11))
    return outcomes


def _tag(call: Call, index: int) -> int:
    tag = call.known(index)
    if tag == ANY_TAG:
        call.fail(f"{call.name} with MPI_ANY_TAG is not supported", "name the tag")
    return tag


def _check_rank(call: Call, group: Group, place: int) -> None:
    if not 0 <= place < len(group.members):
        call.fail(f"{call.name} with rank {place} of {len(group.members)}", "ranks count from 0 in the communicator")


def _way(call: Call, group: Group, source: int, tag: int, length: int) -> Group:
    """The channel of a receive. All messages over it have to be as long as it expects."""
    _check_rank(call, group, source)
    way = channel(group, group.members[source], call.rank, "tag", tag)
    lengths = call.published(group.members[source], way.name("lengths"))
    if isinstance(lengths, frozenset) and lengths - {length}:
        call.fail(
            f"{call.name} of {length} elements where {max(lengths - {length})} are sent with tag {tag}",
            "receive as many elements as are sent, and give messages of other lengths another tag",
        )
    return way


@calls("Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)")
def get_count(call: Call) -> Outcome:
    type = datatype(call, 1)
    bytes = call.load(call.moved(pointer(call, 0), 16), ULONG)
    if not isinstance(bytes, Known):
        call.fail("MPI_Get_count of a status that is not known here", "use the number that is received")
    item = size(call, type) * len(type.displacements)
    return answer(call, (2, Known(bytes.value // item if bytes.value % item == 0 else UNDEFINED), INT))


# Collectives


@calls("Barrier(MPI_Comm comm)")
def barrier(call: Call) -> Outcome:
    """Nothing one-sided is completed."""
    steps = Steps(call)
    flags.barrier(steps, communicator(call, 0))
    return steps.outcome(SUCCESS)


@calls("Ibarrier(MPI_Comm comm, MPI_Request *request)")
def ibarrier(call: Call) -> Outcome:
    steps, group = Steps(call), communicator(call, 0)
    flags.arrive(steps, group)
    steps.store(pointer(call, 1), Handle("request", ("barrier", group.key, group.members)), REQUEST)
    return steps.outcome(SUCCESS)


def _root(call: Call, index: int, comm: int) -> tuple[Group, int]:
    group, place = communicator(call, comm), call.known(index)
    _check_rank(call, group, place)
    return group, group.members[place]


@calls("Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)")
def bcast(call: Call) -> Outcome:
    """The root goes on at once."""
    steps, (group, root) = Steps(call), _root(call, 3, 4)
    count, type = bounded(call, 1), datatype(call, 2)
    if call.rank == root:
        values = _values(steps, 0, count, type)
        for member in group.members:
            if member != root:
                flags.send(steps, channel(group, root, member, "bcast"), values)
    else:
        receive_into(steps, channel(group, root, call.rank, "bcast"), None, pointer(call, 0), type, count)
    return steps.outcome(SUCCESS)


_FROM_TO = (
    "const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype"
)


@calls(f"Gather({_FROM_TO}, int root, MPI_Comm comm)")
def gather(call: Call) -> Outcome:
    steps, (group, root) = Steps(call), _root(call, 6, 7)
    own = []
    if not in_place(call, 0):
        own = _values(steps, 0, bounded(call, 1), datatype(call, 2))
    elif call.rank == root:
        own = _values(steps, 3, bounded(call, 4), datatype(call, 5), group.place(root) * bounded(call, 4))
    blocks = flags.gather(steps, group, root, own)
    for place, block in enumerate(blocks or ()):
        _store(steps, 3, bounded(call, 4), datatype(call, 5), block, place * bounded(call, 4))
    return steps.outcome(SUCCESS)


@calls(f"Scatter({_FROM_TO}, int root, MPI_Comm comm)")
def scatter(call: Call) -> Outcome:
    steps, (group, root) = Steps(call), _root(call, 6, 7)
    keep = in_place(call, 3)  # the root's part stays where it is
    count = 0 if keep else bounded(call, 4) * len(datatype(call, 5).displacements)

    def block(place: int) -> list[Expr]:
        return _values(steps, 0, bounded(call, 1), datatype(call, 2), place * bounded(call, 1))

    values = flags.scatter(steps, group, root, count, block)
    if not keep:
        _store(steps, 3, bounded(call, 4), datatype(call, 5), values)
    return steps.outcome(SUCCESS)


@calls(f"Allgather({_FROM_TO}, MPI_Comm comm)")
def allgather(call: Call) -> Outcome:
    steps, group = Steps(call), communicator(call, 6)
    count, type = bounded(call, 4), datatype(call, 5)
    if in_place(call, 0):
        own = _values(steps, 3, count, type, group.place(call.rank) * count)
    else:
        own = _values(steps, 0, bounded(call, 1), datatype(call, 2))
    wanted = [(member, index) for member in group.members for index in range(len(own))]
    _store(steps, 3, count * len(group.members), type, flags.exchange(steps, group, own, wanted))
    return steps.outcome(SUCCESS)


@calls(f"Alltoall({_FROM_TO}, MPI_Comm comm)")
def alltoall(call: Call) -> Outcome:
    steps, group = Steps(call), communicator(call, 6)
    count, type, members = bounded(call, 4), datatype(call, 5), group.members
    own = (
        _values(steps, 3, count * len(members), type)
        if in_place(call, 0)
        else _values(steps, 0, bounded(call, 1) * len(members), datatype(call, 2))
    )
    each, place = len(own) // len(members), group.place(call.rank)
    wanted = [(member, place * each + index) for member in members for index in range(each)]
    _store(steps, 3, count * len(members), type, flags.exchange(steps, group, own, wanted))
    return steps.outcome(SUCCESS)


# Reductions

_REDUCED = "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op"


@calls(f"Reduce({_REDUCED}, int root, MPI_Comm comm)")
def reduce(call: Call) -> Outcome:
    steps, (group, root) = Steps(call), _root(call, 5, 6)
    blocks = flags.gather(steps, group, root, _operand(steps))
    if blocks is not None:
        _store(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))
    return steps.outcome(SUCCESS)


@calls(f"Allreduce({_REDUCED}, MPI_Comm comm)")
def allreduce(call: Call) -> Outcome:
    steps, group = Steps(call), communicator(call, 5)
    own = _operand(steps)
    wanted = [(member, index) for member in group.members for index in range(len(own))]
    values = flags.exchange(steps, group, own, wanted)
    blocks = [values[first : first + len(own)] for first in range(0, len(values), len(own))] if own else []
    _store(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))
    return steps.outcome(SUCCESS)


@calls(f"Scan({_REDUCED}, MPI_Comm comm); Exscan({_REDUCED}, MPI_Comm comm)")
def scan(call: Call) -> Outcome:
    """Over the ranks before this one, which is included in a scan. The first one of an exscan gets nothing."""
    steps, group = Steps(call), communicator(call, 5)
    own = _operand(steps)
    blocks = flags.from_lower(steps, group, own)
    if call.name == "MPI_Scan":
        blocks.append(own)
    if blocks:
        _store(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))
    return steps.outcome(SUCCESS)


def _operand(steps: Steps) -> list[Expr]:
    """What this rank brings into a reduction."""
    call = steps.call
    return _values(steps, 1 if in_place(call, 0) else 0, bounded(call, 2), datatype(call, 3))


def _folded(steps: Steps, blocks: Sequence[Sequence[Expr]]) -> list[Expr]:
    """The blocks of all ranks combined element by element."""
    call = steps.call
    name, type = handle(call, 4, "op").data[0], datatype(call, 3).type
    if not isinstance(name, str) or name in ("replace", "no_op"):
        call.fail(f"{call.name} with an operation for accumulates", "use MPI_SUM and the like")
    return [flags.fold(steps, name, parts, type) for parts in zip(*blocks, strict=True)]
