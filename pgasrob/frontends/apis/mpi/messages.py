"""Two-sided messages and collectives on basic types (MPI-4, chapters 3 and 6), as data flow.

Sends are buffered: they go on at once, and more messages under way than there is room for are a fault. A message
carries the values that the buffer has when the send is called. Messages match by communicator, sender and tag; a
receive may take any sender, but no unknown tag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.flags import Group, channel
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi.addresses import elements
from pgasrob.frontends.apis.mpi.datatypes import Datatype, datatype, entry
from pgasrob.frontends.apis.mpi.handles import (
    SUCCESS,
    answer,
    communicator,
    handle,
    in_place,
    outside,
    places,
    pointer,
    split,
)
from pgasrob.frontends.apis.mpi.header import ANY_SOURCE, ANY_TAG, PROC_NULL, REQUEST, UNDEFINED, calls
from pgasrob.frontends.apis.mpi.requests import receive_request, store_status
from pgasrob.frontends.apis.transfers import Steps, bounded, int_type, value_at
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.types import INT, ULONG, CType, Floating
from pgasrob.frontends.c.values import Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assign, Assume
from pgasrob.program.expressions import Binary, Conditional, Const, Expr

_SENT = "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"
_RECEIVED = "void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm"


_ALIKE = "give the same number of elements on both sides"


def _values(steps: Steps, buffer: int, count: int, type: Datatype, skip: int = 0) -> list[Expr]:
    """The elements of the items of a buffer from item ``skip`` on."""
    return [value_at(steps, place, kind) for place, kind in elements(steps.call, buffer, count, type, skip)]


def _store(steps: Steps, buffer: int, count: int, type: Datatype, values: Sequence[Expr], skip: int = 0) -> None:
    if count * type.count != len(values):
        steps.call.fail(
            f"{steps.call.name} moves {len(values)} elements into {count * type.count}",
            _ALIKE,
        )
    for (place, kind), value in zip(elements(steps.call, buffer, count, type, skip), values, strict=True):
        steps.store(place, value, kind)


# Messages


@calls(f"Send({_SENT}); Bsend({_SENT}); Ssend({_SENT}); Rsend({_SENT})")
def send(call: Call) -> list[Outcome]:
    def go(steps: Steps, values: Mapping[int, int | Expr]) -> None:
        _send(steps, 0, values[3], until_received=call.name == "MPI_Ssend")

    return split(call, {3: places(communicator(call, 5))}, go)


@calls(f"Isend({_SENT}, MPI_Request *request)")
def isend(call: Call) -> list[Outcome]:
    def go(steps: Steps, values: Mapping[int, int | Expr]) -> None:
        _send(steps, 0, values[3])
        steps.store(pointer(call, 6), Handle("request", ("send",)), REQUEST)

    return split(call, {3: places(communicator(call, 5))}, go)


def _send(steps: Steps, first: int, place: int | Expr, comm: int = 5, *, until_received: bool = False) -> None:
    """Send to rank ``place`` with the buffer, count, type and tag that are among the arguments from ``first`` on."""
    call = steps.call
    group = communicator(call, comm)
    if place == PROC_NULL:
        return
    if not isinstance(place, int):
        call.number_needed(f"{call.name} to a rank that is computed")
    _check_rank(call, group, place)
    if call.name not in ("MPI_Ssend", "MPI_Bsend"):
        call.rests_on(Kind.BUFFERED_SENDS, call.name)
    values = _values(steps, first, bounded(call, first + 1), datatype(call, first + 2))
    tags = call.published(call.rank, _tags(group, group.members[place]))
    call.publish(_tags(group, group.members[place]), frozenset((call.known(first + 4),)) | (tags or frozenset()))  # type: ignore[operator]
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
    way = _way(call, communicator(call, comm), source, tag, count * type.count)
    _store(steps, first, count, type, flags.receive(steps, way, count * type.count))
    store_status(steps, call.pointer(status), source, tag, count * type.size(call))
    return steps.outcome(SUCCESS)


@calls(f"Irecv({_RECEIVED}, MPI_Request *request)")
def irecv(call: Call) -> Outcome:
    steps, source = Steps(call), call.known(3)
    type, count, tag = datatype(call, 2), bounded(call, 1), _tag(call, 4, 5, source)
    if source == ANY_SOURCE:
        call.fail("MPI_Irecv of MPI_ANY_SOURCE is not supported", "name the source, or use MPI_Recv")
    if source == PROC_NULL:
        steps.store(pointer(call, 6), Handle("request", ("send",)), REQUEST)
        return steps.outcome(SUCCESS)
    way = _way(call, communicator(call, 5), source, tag, count * type.count)
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


def _tag(call: Call, index: int, comm: int, source: int) -> int:
    """The tag of a receive. MPI_ANY_TAG is the only one with which the source sends to this rank."""
    tag = call.known(index)
    if tag != ANY_TAG or source == PROC_NULL:
        return tag
    group = communicator(call, comm)
    _check_rank(call, group, source)
    tags = cast("frozenset[int]", call.published(group.members[source], _tags(group, call.rank)) or frozenset((0,)))
    if len(tags) > 1:
        call.fail(
            f"{call.name} with MPI_ANY_TAG of messages with the tags {', '.join(map(str, sorted(tags)))}",
            "name the tag, or send with one",
        )
    return next(iter(tags))


def _tags(group: Group, receiver: int) -> str:
    """Under which a rank tells the tags with which it sends to ``receiver``."""
    return f"{group.name('tags')}.{receiver}"


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
    item = type.size(call)
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
    flags.in_order(steps, group)
    flags.arrive(steps, group, "MPI_Ibarrier")
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
    key = (call.name, count * type.count)
    number = flags.in_order(steps, group, f"{key[0]} of {key[1]} from {root}")
    if call.rank == root:
        values = _values(steps, 0, count, type)
        for member in group.members:
            if member != root:
                flags.send(steps, channel(group, root, member, *key), values, number)
    else:
        way = channel(group, root, call.rank, *key)
        _store(steps, 0, count, type, flags.receive(steps, way, count * type.count, None, number))
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
    steps = Steps(call)

    def block(place: int, group: Group) -> list[Expr]:
        return _values(steps, 0, bounded(call, 1), datatype(call, 2), place * bounded(call, 1))

    return _scattered(steps, 3, block)


def _scattered(steps: Steps, to: int, block: Callable[[int, Group], list[Expr]]) -> Outcome:
    """The root sends everybody the ``block`` of its place, which goes to argument ``to``; its count, type, the root and
    the communicator come behind that."""
    call = steps.call
    group, root = _root(call, to + 3, to + 4)
    keep = in_place(call, to)  # the root's part stays where it is
    count = 0 if keep else bounded(call, to + 1) * datatype(call, to + 2).count
    values = flags.scatter(steps, group, root, count, lambda place: block(place, group))
    if not keep:
        _store(steps, to, bounded(call, to + 1), datatype(call, to + 2), values)
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
    values = flags.exchange(steps, group, own, wanted, f"{call.name} of {len(own)}")
    _store(steps, 3, count * len(group.members), type, values)
    return steps.outcome(SUCCESS)


_TO_PARTS = "void *recvbuf, const int *recvcounts, const int *displs, MPI_Datatype recvtype"


def _parts(call: Call, index: int, group: Group) -> list[int]:
    """An array with a number for each member."""
    return [entry(call, index, place, INT) for place in range(len(group.members))]


@calls(f"""
    Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, {_TO_PARTS}, int root, MPI_Comm comm)
""")
def gatherv(call: Call) -> Outcome:
    steps, (group, root) = Steps(call), _root(call, 7, 8)
    own = [] if in_place(call, 0) else _values(steps, 0, bounded(call, 1), datatype(call, 2))
    if call.rank != root:
        flags.gather(steps, group, root, own)
        return steps.outcome(SUCCESS)
    counts, places, type = _parts(call, 4, group), _parts(call, 5, group), datatype(call, 6)
    here = group.place(root)
    if in_place(call, 0):
        own = _values(steps, 3, counts[here], type, places[here])
    blocks = flags.gather(steps, group, root, own, lengths=[count * type.count for count in counts])
    for count, place, block in zip(counts, places, blocks or (), strict=True):
        _store(steps, 3, count, type, block, place)
    return steps.outcome(SUCCESS)


@calls("""
    Scatterv(const void *sendbuf, const int *sendcounts, const int *displs, MPI_Datatype sendtype, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
""")
def scatterv(call: Call) -> Outcome:
    steps = Steps(call)

    def block(place: int, group: Group) -> list[Expr]:
        counts, places = _parts(call, 1, group), _parts(call, 2, group)
        return _values(steps, 0, counts[place], datatype(call, 3), places[place])

    return _scattered(steps, 4, block)


@calls(f"Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, {_TO_PARTS}, MPI_Comm comm)")
def allgatherv(call: Call) -> Outcome:
    steps, group, type = Steps(call), communicator(call, 7), datatype(call, 6)
    counts, places = _parts(call, 4, group), _parts(call, 5, group)
    here = group.place(call.rank)
    if in_place(call, 0):
        own = _values(steps, 3, counts[here], type, places[here])
    else:
        own = _values(steps, 0, bounded(call, 1), datatype(call, 2))
    if len(own) != counts[here] * type.count:
        call.fail(f"{call.name} brings {len(own)} elements where {counts[here] * type.count} are to come", _ALIKE)
    wanted = [
        (member, n) for member, count in zip(group.members, counts, strict=True) for n in range(count * type.count)
    ]
    values = iter(flags.exchange(steps, group, own, wanted, f"{call.name} of {' '.join(map(str, counts))}"))
    for count, place in zip(counts, places, strict=True):
        _store(steps, 3, count, type, [next(values) for _ in range(count * type.count)], place)
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
    values = flags.exchange(steps, group, own, wanted, f"{call.name} of {each}")
    _store(steps, 3, count * len(members), type, values)
    return steps.outcome(SUCCESS)


# Reductions

_REDUCED = "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op"


@calls(f"Reduce({_REDUCED}, int root, MPI_Comm comm)")
def reduce(call: Call) -> Outcome:
    steps, (group, root) = Steps(call), _root(call, 5, 6)
    blocks = flags.gather(steps, group, root, _operand(steps), f"{call.name} {_operation(call)}")
    if blocks is not None:
        _store(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))
    return steps.outcome(SUCCESS)


@calls(f"Allreduce({_REDUCED}, MPI_Comm comm)")
def allreduce(call: Call) -> Outcome:
    steps, group = Steps(call), communicator(call, 5)
    own, collective = _operand(steps), f"{call.name} {_operation(call)}"
    if group.members is EVERYONE and _operation(call) not in LOCATED:
        types = [type for _ in range(bounded(call, 2)) for type in datatype(call, 3).types]
        totals = flags.reduced_by_all(steps, group, _operation(call), own, types, f"{collective} of {len(own)}")
        _store(steps, 1, bounded(call, 2), datatype(call, 3), totals)
        return steps.outcome(SUCCESS)
    wanted = [(member, index) for member in group.members for index in range(len(own))]
    values = flags.exchange(steps, group, own, wanted, f"{collective} of {len(own)}")
    blocks = [values[first : first + len(own)] for first in range(0, len(values), len(own))] if own else []
    _store(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))
    return steps.outcome(SUCCESS)


@calls("""
    Reduce_scatter(const void *sendbuf, void *recvbuf, const int *recvcounts, MPI_Datatype datatype, MPI_Op op,
        MPI_Comm comm);
    Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
        MPI_Comm comm)
""")
def reduce_scatter(call: Call) -> Outcome:
    """Every member gets its block of what is reduced."""
    steps, group, type = Steps(call), communicator(call, 5), datatype(call, 3)
    counts = [bounded(call, 2)] * len(group.members) if call.name.endswith("block") else _parts(call, 2, group)
    own, here = _values(steps, 1 if in_place(call, 0) else 0, sum(counts), type), group.place(call.rank)
    first, count = sum(counts[:here]) * type.count, counts[here] * type.count
    wanted = [(member, first + index) for member in group.members for index in range(count)]
    kind = f"{call.name} {_operation(call)} of {' '.join(map(str, counts))}"
    values = flags.exchange(steps, group, own, wanted, kind)
    blocks = [values[begin : begin + count] for begin in range(0, len(values), count)] if count else []
    _store(steps, 1, counts[here], type, _folded(steps, blocks) if blocks else [])
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
    name, types = _operation(call), datatype(call, 3).types
    if name in LOCATED:
        return _extremes(steps, name, blocks, types)
    return [
        flags.fold(steps, name, parts, types[place % len(types)])
        for place, parts in enumerate(zip(*blocks, strict=True))
    ]


LOCATED = {"minloc": "<", "maxloc": ">"}


def _extremes(steps: Steps, name: str, blocks: Sequence[Sequence[Expr]], types: Sequence[CType]) -> list[Expr]:
    """The least or greatest values with the least of the numbers that come with them (6.9.4)."""
    if len(types) % 2:
        steps.call.fail(f"{steps.call.name} with MPI_{name.upper()}", "use a type of pairs: MPI_2INT and the like")
    result: list[Expr] = []
    for place in range(0, len(blocks[0]), 2):
        (value, number), *others = [(block[place], block[place + 1]) for block in blocks]
        kind = types[place % len(types)]
        dot = "." if isinstance(kind, Floating) else ""
        for other, its in others:
            better = Binary(LOCATED[name] + dot, other, value, int_type(kind))
            same = Binary("&&", Binary(f"=={dot}", other, value, int_type(kind)), Binary("<", its, number))
            chosen, least, most = (steps.call.register(hint) for hint in ("chosen", "value", "number"))
            steps.do(Assign(chosen, Binary("||", better, same)))
            steps.do(Assign(least, Conditional(chosen, other, value)), Assign(most, Conditional(chosen, its, number)))
            value, number = least, most
        result += [value, number]
    return result


def _operation(call: Call) -> str:
    name = handle(call, 4, "op").data[0]
    if not isinstance(name, str) or name in ("replace", "no_op"):
        call.fail(f"{call.name} with an operation for accumulates", "use MPI_SUM and the like")
    return name
