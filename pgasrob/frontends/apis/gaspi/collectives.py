"""GASPI's groups and collectives (17.1, sections 6 and 12), and its passive communication (10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags, split_barriers
from pgasrob.frontends.apis.call_arguments import limited, target
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.gaspi.header import FUNCTIONS, SUCCESS, TIMEOUT
from pgasrob.frontends.apis.gaspi.queues import blocks, members, place, timed
from pgasrob.frontends.apis.interface import Address, Call, Outcome
from pgasrob.frontends.apis.transfers import element, loaded, message_cells, value_at
from pgasrob.frontends.c.types import DOUBLE, FLOAT, INT, LONG, UCHAR, UINT, ULONG, USHORT, CType
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Fetch, Store
from pgasrob.program.expressions import Const, Expr

Groups = tuple[tuple[int, tuple[int, ...]], ...]


def _groups(call: Call) -> Groups:
    return cast(Groups, call.state.get("gaspi.groups", ()))


def group(call: Call, number: int) -> Group:
    """Group ``number`` of this rank. Its key is the same on all members: who they are, and how many groups of the same
    members were made before."""
    ranks = members(call, number)
    earlier = sum(1 for other, same in _groups(call) if same == ranks and other < number)
    return Group(("gaspi", "group", earlier, *ranks) if number else ("gaspi", "all"), ranks)


def barrier_of(steps: Steps, number: int) -> None:
    """All members of group ``number`` wait for each other."""
    flags.barrier(steps, group(steps.call, number))


@FUNCTIONS.does("gaspi_group_create(gaspi_group_t *group)")
def group_create(call: Call, steps: Steps) -> None:
    number = len(_groups(call)) + 1
    steps.answer(0, number, UCHAR)
    steps.note("gaspi.groups", (*_groups(call), (number, ())))


@FUNCTIONS.does("gaspi_group_add(gaspi_group_t group, gaspi_rank_t rank)")
def group_add(call: Call, steps: Steps) -> None:
    number, rank = call.known(0), call.known(1)
    ranks = tuple(sorted({*members(call, number), rank}))
    steps.note("gaspi.groups", tuple((other, ranks if other == number else same) for other, same in _groups(call)))


@FUNCTIONS.does("gaspi_group_delete(gaspi_group_t group)")
def group_delete(call: Call, steps: Steps) -> None:
    """The number stays taken."""
    members(call, call.known(0))


FUNCTIONS.stores("gaspi_group_num(gaspi_number_t *number)", UINT, lambda call: len(_groups(call)) + 1)


@FUNCTIONS.does("gaspi_group_size(gaspi_group_t group, gaspi_number_t *size)")
def group_size(call: Call, steps: Steps) -> None:
    ranks = members(call, call.known(0))
    steps.answer(1, call.count if ranks == call.everyone else len(ranks), UINT)


@FUNCTIONS.does("gaspi_group_ranks(gaspi_group_t group, gaspi_rank_t *ranks)")
def group_ranks(call: Call, steps: Steps) -> None:
    address = target(call, 1)
    for index, rank in enumerate(members(call, call.known(0))):
        steps.store(element(call, address, index, USHORT), rank, USHORT)


@FUNCTIONS.calls("gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout)")
def barrier(call: Call) -> Sequence[Outcome]:
    """All members have arrived; queues are not waited for.

    After a timeout this rank has arrived and calls the barrier again: others may go on. When any rank calls a barrier
    with a timeout, all ranks do the two halves, arrival and departure, apart: they have to agree on how.
    """
    number = call.known(0)
    which = group(call, number)
    if not _split(call, 1, which):
        steps = Steps(call)
        barrier_of(steps, number)
        return [steps.outcome(SUCCESS)]
    arrived = cast("tuple[int, ...]", call.state.get("gaspi.arrived", ()))
    outcomes = []
    for result in (SUCCESS,) if blocks(call, 1) else (SUCCESS, TIMEOUT):
        steps = Steps(call)
        if number not in arrived:
            split_barriers.arrive(steps, which, call.name)
        left: set[int] = {*arrived} - {number} if result == SUCCESS else {*arrived, number}
        if result == SUCCESS:
            split_barriers.depart(steps, which, call.name)
        steps.note("gaspi.arrived", tuple(sorted(left)))
        outcomes.append(steps.outcome(result))
    return outcomes


def _split(call: Call, timeout: int, which: Group) -> bool:
    """Whether some rank calls a barrier or a reduction with a timeout, so that arrival and departure are apart."""
    if not blocks(call, timeout):
        call.publish("gaspi.timed", True)
    if which.members == call.everyone:
        return bool(call.all_facts("gaspi.timed"))
    return any(call.published(rank, "gaspi.timed") for rank in which.members)


OPERATIONS = ("min", "max", "sum")
DATA = (INT, UINT, FLOAT, DOUBLE, LONG, ULONG)
"""By the numbers of `gaspi_operation_t` and `gaspi_datatype_t`."""


@FUNCTIONS.calls("""
    gaspi_allreduce(gaspi_pointer_t send, gaspi_pointer_t receive, gaspi_number_t number,
                                   gaspi_operation_t operation, gaspi_datatype_t type, gaspi_group_t group,
                                   gaspi_timeout_t timeout)
""")
def allreduce(call: Call) -> Sequence[Outcome]:
    """Every member contributes to every result, so all have arrived.

    After a timeout this rank has contributed and calls the reduction again: others may go on.
    """
    source, result = target(call, 0), target(call, 1)
    count, operation, data = limited(call, call.known(2), "elements"), call.known(3), call.known(4)
    if not 0 <= operation < len(OPERATIONS) or not 0 <= data < len(DATA):
        call.fail(
            Wrong.ARGUMENT,
            "this reduction is not known",
            "use GASPI_OP_MIN, _MAX or _SUM and the types of gaspi_datatype_t",
        )
    steps, type, number = Steps(call), DATA[data], call.known(5)
    which = group(call, number)
    if not _split(call, 6, which):
        for index, value in enumerate(flags.reduce(steps, which, OPERATIONS[operation], source, type, count)):
            steps.store(element(call, result, index, type), value, type)
        return [steps.outcome(SUCCESS)]
    outcomes = []
    for code in (SUCCESS,) if blocks(call, 6) else (SUCCESS, TIMEOUT):
        steps = Steps(call)
        parity = _contribute(steps, number, source, type, count)
        if code == SUCCESS:
            split_barriers.depart(steps, which, call.name)
            _reducing(steps, number, None)
            for index in range(count):
                drawn = call.unknown_in([_contributed(call, which, parity, index)], type) is not None
                members = which.members[:1] if drawn else which.members
                values = [_contribution(steps, which, member, parity, index) for member in members]
                total = flags.fold(steps, OPERATIONS[operation], values, type)
                steps.store(element(call, result, index, type), total, type)
        outcomes.append(steps.outcome(code))
    return outcomes


def _contribute(steps: Steps, number: int, source: Address, type: CType, count: int) -> int:
    """Lay out this rank's contribution and arrive, unless a call that timed out has done so. The result says in which
    of two sets of cells it lies: a rank that lays out the next but one knows that all have read this one."""
    call, which = steps.call, group(steps.call, number)
    begun = dict(cast("tuple[tuple[int, int], ...]", steps.recall("gaspi.reducing", ())))
    if number in begun:
        return begun[number]
    parity = steps.count(which.name("reduction"), 2)
    for index in range(count):
        cell = _contributed(call, which, parity, index)
        value = value_at(steps, element(call, source, index, type), type)
        drawn = call.unknown_in([cell], type, value)
        if drawn is None or call.rank == which.members[0]:
            # Of unknown values the first member draws the result, as in `flags.reduced`.
            steps.do(Store(cell, drawn or value))
    split_barriers.arrive(steps, which, call.name)
    _reducing(steps, number, parity)
    return parity


def _reducing(steps: Steps, number: int, parity: int | None) -> None:
    """Note that a reduction of the group has begun in the set of cells ``parity``, or that none is under way."""
    begun = dict(cast("tuple[tuple[int, int], ...]", steps.recall("gaspi.reducing", ())))
    others = {other: same for other, same in begun.items() if other != number}
    steps.note("gaspi.reducing", tuple(sorted((others if parity is None else others | {number: parity}).items())))


def _contribution(steps: Steps, which: Group, member: int, parity: int, index: int) -> Expr:
    register = steps.call.register("value")
    steps.do(Fetch(register, Const(member), _contributed(steps.call, which, parity, index)))
    return register


def _contributed(call: Call, which: Group, parity: int, index: int) -> Expr:
    key = (*which.key[1:], "contribution", parity, index)
    name = "_".join(map(str, (which.key[0], *key)))
    return call.own_cell(str(which.key[0]), *key, name=name)


# Passive communication: two-sided, the receiver takes what comes


def _message(call: Call) -> list[Expr]:
    """The cells of the message, by the segment, the offset and the size."""
    return message_cells(call, "gaspi", "passive", place(call, call.known(0), call.known(1)), call.known(3))


@FUNCTIONS.calls("""
    gaspi_passive_send(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t rank,
                                      gaspi_size_t size, gaspi_timeout_t timeout)
""")
def passive_send(call: Call) -> Sequence[Outcome]:
    """The data have been read when it returns; that they have been received is not promised."""
    steps, receiver = Steps(call), call.known(2)
    call.rests_on(Kind.NOT_SYNCHRONISING if call.strict else Kind.BUFFERED_SENDS, call.name)
    values = loaded(steps, _message(call), "message")
    flags.send(steps, flags.channel(_everyone(call), call.rank, receiver), values, until_received=call.strict)
    return timed(call, 4, steps.outcome(SUCCESS))


@FUNCTIONS.calls("""
    gaspi_passive_receive(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t *sender,
                                         gaspi_size_t size, gaspi_timeout_t timeout)
""")
def passive_receive(call: Call) -> Sequence[Outcome]:
    """A message of any rank: one outcome for each sender."""
    cells = _message(call)
    outcomes, rank = [], call.pointer(2)
    for sender in range(call.nodes):
        steps = Steps(call)
        values = flags.receive(steps, flags.channel(_everyone(call), sender, call.rank), len(cells))
        steps.do(*(Store(cell, value) for cell, value in zip(cells, values, strict=True)))
        if rank is not None:
            steps.store(rank, sender, USHORT)
        outcomes.append(steps.outcome(SUCCESS))
    return timed(call, 4, *outcomes)


def _everyone(call: Call) -> Group:
    return Group(("gaspi", "passive"), call.everyone)
