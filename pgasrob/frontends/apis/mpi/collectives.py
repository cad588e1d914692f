"""Collectives on basic types and reductions (MPI-4, chapter 6), as data flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.flags import Group, channel
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.apis.mpi.addresses import wholes
from pgasrob.frontends.apis.mpi.datatypes import datatype, entry
from pgasrob.frontends.apis.mpi.handles import communicator, handle, in_place
from pgasrob.frontends.apis.mpi.header import does
from pgasrob.frontends.apis.mpi.messages import buffer_values, check_rank, store_in_buffer
from pgasrob.frontends.apis.mpi.reductions import LOCATED, extremes, folded
from pgasrob.frontends.apis.mpi.requests import SAME_COUNT
from pgasrob.frontends.apis.transfers import bounded, value_at
from pgasrob.frontends.c.types import INT
from pgasrob.program.expressions import Expr


@does("Barrier(MPI_Comm comm)")
def barrier(call: Call, steps: Steps) -> None:
    """Nothing one-sided is completed."""
    flags.barrier(steps, communicator(call, 0))


@does("Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)")
def bcast(call: Call, steps: Steps) -> None:
    """The root goes on at once."""
    group, root = root_of(call, 3, 4)
    count, type = bounded(call, 1), datatype(call, 2)
    key, places = (call.name, count * type.count), wholes(call, 0, count, type)
    number = flags.may_wait(steps, group, f"{key[0]} of {key[1]} from {root}")
    if call.rank == root:
        values = [value_at(steps, *each) for each in places]
        answers = flags.Answers(steps, group, values, True)
        answers.bring(answers.given, values)
        for member in group.members:
            if member != root:
                flags.send(
                    steps,
                    channel(group, root, member, *key),
                    [*values, *answers.given],
                    number,
                    collective=True,
                    group=group,
                )
    else:
        way = channel(group, root, call.rank, *key)
        answers = flags.Answers(steps, group, [], False)
        values = flags.receive(steps, way, len(places) + len(answers.asked), None, number, collective=True, group=group)
        answers.bring(values[len(places) :])
        for (place, kind), value in zip(places, values, strict=False):
            steps.store(place, value, kind)


def root_of(call: Call, index: int, comm: int) -> tuple[Group, int]:
    """The communicator in argument ``comm``, and which rank its root in argument ``index`` is."""
    group, place = communicator(call, comm), call.known(index)
    check_rank(call, group, place)
    return group, group.members[place]


_FROM_TO = (
    "const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype"
)


def _sent(steps: Steps) -> list[Expr]:
    """The values that this rank sends: its buffer, count and type are the first arguments."""
    return buffer_values(steps, 0, bounded(steps.call, 1), datatype(steps.call, 2))


@does(f"Gather({_FROM_TO}, int root, MPI_Comm comm)")
def gather(call: Call, steps: Steps) -> None:
    group, root = root_of(call, 6, 7)
    own = []
    if not in_place(call, 0):
        own = _sent(steps)
    elif call.rank == root:
        own = buffer_values(steps, 3, bounded(call, 4), datatype(call, 5), group.place(root) * bounded(call, 4))
    blocks = flags.gather(steps, group, root, own)
    for place, block in enumerate(blocks or ()):
        store_in_buffer(steps, 3, bounded(call, 4), datatype(call, 5), block, place * bounded(call, 4))


@does(f"Scatter({_FROM_TO}, int root, MPI_Comm comm)")
def scatter(call: Call, steps: Steps) -> None:
    def block(place: int, group: Group) -> list[Expr]:
        return buffer_values(steps, 0, bounded(call, 1), datatype(call, 2), place * bounded(call, 1))

    _scattered(steps, 3, block)


def _scattered(steps: Steps, to: int, block: Callable[[int, Group], list[Expr]]) -> None:
    """The root sends everybody the ``block`` of its place, which goes to argument ``to``; its count, type, the root and
    the communicator are the next arguments."""
    call = steps.call
    group, root = root_of(call, to + 3, to + 4)
    keep = in_place(call, to)  # the root's part stays where it is
    count = 0 if keep else bounded(call, to + 1) * datatype(call, to + 2).count
    values = flags.scatter(steps, group, root, count, lambda place: block(place, group))
    if not keep:
        store_in_buffer(steps, to, bounded(call, to + 1), datatype(call, to + 2), values)


def gathered(steps: Steps, group: Group) -> list[Expr]:
    """The values that this rank gives to all."""
    call, count, type = steps.call, bounded(steps.call, 4), datatype(steps.call, 5)
    if in_place(call, 0):
        return buffer_values(steps, 3, count, type, group.place(call.rank) * count)
    return _sent(steps)


@does(f"Allgather({_FROM_TO}, MPI_Comm comm)")
def allgather(call: Call, steps: Steps) -> None:
    group = communicator(call, 6)
    count, type, own = bounded(call, 4), datatype(call, 5), gathered(steps, group)
    wanted = [(member, index) for member in group.members for index in range(len(own))]
    values = flags.exchange(steps, group, own, wanted, f"{call.name} of {len(own)}", alike=True)
    store_in_buffer(steps, 3, count * len(group.members), type, values)


_TO_PARTS = "void *recvbuf, const int *recvcounts, const int *displs, MPI_Datatype recvtype"


def _parts(call: Call, index: int, group: Group) -> list[int]:
    """An array with a number for each member."""
    return [entry(call, index, place, INT) for place in range(len(group.members))]


@does(f"""
    Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, {_TO_PARTS}, int root, MPI_Comm comm)
""")
def gatherv(call: Call, steps: Steps) -> None:
    group, root = root_of(call, 7, 8)
    own = [] if in_place(call, 0) else _sent(steps)
    if call.rank != root:
        flags.gather(steps, group, root, own)
        return
    counts, places, type = _parts(call, 4, group), _parts(call, 5, group), datatype(call, 6)
    here = group.place(root)
    if in_place(call, 0):
        own = buffer_values(steps, 3, counts[here], type, places[here])
    blocks = flags.gather(steps, group, root, own, lengths=[count * type.count for count in counts])
    for count, place, block in zip(counts, places, blocks or (), strict=True):
        store_in_buffer(steps, 3, count, type, block, place)


@does("""
    Scatterv(const void *sendbuf, const int *sendcounts, const int *displs, MPI_Datatype sendtype, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
""")
def scatterv(call: Call, steps: Steps) -> None:
    def block(place: int, group: Group) -> list[Expr]:
        counts, places = _parts(call, 1, group), _parts(call, 2, group)
        return buffer_values(steps, 0, counts[place], datatype(call, 3), places[place])

    _scattered(steps, 4, block)


@does(f"Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, {_TO_PARTS}, MPI_Comm comm)")
def allgatherv(call: Call, steps: Steps) -> None:
    group, type = communicator(call, 7), datatype(call, 6)
    counts, places = _parts(call, 4, group), _parts(call, 5, group)
    here = group.place(call.rank)
    own = buffer_values(steps, 3, counts[here], type, places[here]) if in_place(call, 0) else _sent(steps)
    if len(own) != counts[here] * type.count:
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} brings {len(own)} elements where {counts[here] * type.count} are to come",
            SAME_COUNT,
        )
    wanted = [
        (member, n) for member, count in zip(group.members, counts, strict=True) for n in range(count * type.count)
    ]
    name = f"{call.name} of {' '.join(map(str, counts))}"
    values = iter(flags.exchange(steps, group, own, wanted, name, alike=True))
    for count, place in zip(counts, places, strict=True):
        store_in_buffer(steps, 3, count, type, [next(values) for _ in range(count * type.count)], place)


@does(f"Alltoall({_FROM_TO}, MPI_Comm comm)")
def alltoall(call: Call, steps: Steps) -> None:
    group = communicator(call, 6)
    count, type, members = bounded(call, 4), datatype(call, 5), group.members
    own = (
        buffer_values(steps, 3, count * len(members), type)
        if in_place(call, 0)
        else buffer_values(steps, 0, bounded(call, 1) * len(members), datatype(call, 2))
    )
    each, place = len(own) // len(members), group.place(call.rank)
    wanted = [(member, place * each + index) for member in members for index in range(each)]
    values = flags.exchange(steps, group, own, wanted, f"{call.name} of {each}")
    store_in_buffer(steps, 3, count * len(members), type, values)


# Reductions


def operand(steps: Steps) -> list[Expr]:
    """The values that this rank contributes to a reduction."""
    call = steps.call
    return buffer_values(steps, 1 if in_place(call, 0) else 0, bounded(call, 2), datatype(call, 3))


def operation(call: Call) -> str:
    """The name of the operation of a reduction."""
    name = handle(call, 4, "op").data[0]
    if not isinstance(name, str) or name in ("replace", "no_op"):
        raise NotAllowed(rules.OPERATION, f"{call.name} with MPI_{str(name).upper()}")
    return name


def _folded(steps: Steps, blocks: Sequence[Sequence[Expr]]) -> list[Expr]:
    """The ``blocks`` of all members combined as the call says."""
    return folded(steps, operation(steps.call), blocks, datatype(steps.call, 3).types)


_REDUCED = "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op"


@does(f"Reduce({_REDUCED}, int root, MPI_Comm comm)")
def reduce(call: Call, steps: Steps) -> None:
    group, root = root_of(call, 5, 6)
    blocks = flags.gather(steps, group, root, operand(steps), f"{call.name} {operation(call)}")
    if blocks is not None:
        store_in_buffer(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))


@does(f"Allreduce({_REDUCED}, MPI_Comm comm)")
def allreduce(call: Call, steps: Steps) -> None:
    group, named, own = communicator(call, 5), operation(call), operand(steps)
    count, types = bounded(call, 2), datatype(call, 3).types
    kinds, collective = [*types] * count, f"{call.name} {named} of {len(own)}"
    if named in LOCATED:
        totals = flags.reduced(steps, group, own, kinds, collective, partial(extremes, steps, named), 2)
    else:
        totals = flags.reduce_values(steps, group, named, own, kinds, collective)
    store_in_buffer(steps, 1, count, datatype(call, 3), totals)


@does("""
    Reduce_scatter(const void *sendbuf, void *recvbuf, const int *recvcounts, MPI_Datatype datatype, MPI_Op op,
        MPI_Comm comm);
    Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
        MPI_Comm comm)
""")
def reduce_scatter(call: Call, steps: Steps) -> None:
    """Every member gets its block of what is reduced."""
    group, type = communicator(call, 5), datatype(call, 3)
    counts = [bounded(call, 2)] * len(group.members) if call.name.endswith("block") else _parts(call, 2, group)
    own, here = buffer_values(steps, 1 if in_place(call, 0) else 0, sum(counts), type), group.place(call.rank)
    first, count = sum(counts[:here]) * type.count, counts[here] * type.count
    wanted = [(member, first + index) for member in group.members for index in range(count)]
    kind = f"{call.name} {operation(call)} of {' '.join(map(str, counts))}"
    values = flags.exchange(steps, group, own, wanted, kind)
    blocks = [values[begin : begin + count] for begin in range(0, len(values), count)] if count else []
    store_in_buffer(steps, 1, counts[here], type, _folded(steps, blocks) if blocks else [])


@does(f"Scan({_REDUCED}, MPI_Comm comm); Exscan({_REDUCED}, MPI_Comm comm)")
def scan(call: Call, steps: Steps) -> None:
    """Over the ranks before this one, which is included in a scan. The first one of an exscan gets nothing."""
    group = communicator(call, 5)
    own = operand(steps)
    blocks = flags.from_lower(steps, group, own)
    if call.name == "MPI_Scan":
        blocks.append(own)
    if blocks:
        store_in_buffer(steps, 1, bounded(call, 2), datatype(call, 3), _folded(steps, blocks))
