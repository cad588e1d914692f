"""Reads the arguments of GASPI's calls that name timeouts, segments, queues and groups.

The state of a rank (names in `Call.state`): ``gaspi.segments`` the sizes of its segments by number, ``gaspi.queues``
the queues with something to wait for, ``gaspi.created`` how many queues it has created, ``gaspi.groups`` the members of
the groups it has created, ``gaspi.arrived`` the groups in whose barrier a timeout has left it, ``gaspi.reducing``
those in whose reduction, with the set of cells of its contribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.gaspi import rules
from pgasrob.frontends.apis.gaspi.header import BLOCK, QUEUES, TIMEOUT
from pgasrob.frontends.apis.interface import Address, Call, ObjectId, Outcome
from pgasrob.frontends.c.values import Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Const, Expr

NOTIFICATIONS = 65536
ALL = "all"


def blocks(call: Call, index: int) -> bool:
    """Whether the timeout in argument ``index`` is `GASPI_BLOCK`."""
    return call.arguments[index] == Known(BLOCK)


def timed(call: Call, index: int, *outcomes: Outcome) -> Sequence[Outcome]:
    """The outcomes of a call with the timeout in argument ``index``. Unless that blocks, the call may also return
    `GASPI_TIMEOUT` at any time, and nothing has happened."""
    return outcomes if blocks(call, index) else (*outcomes, Outcome(result=Known(TIMEOUT)))


# Segments: objects known by the number of the segment, the same cells on each rank.


def segments(call: Call) -> dict[int, int]:
    return dict(cast("tuple[tuple[int, int], ...]", call.state.get("gaspi.segments", ())))


def segment(call: Call, number: int, rank: Expr | None = None) -> Address:
    """The beginning of segment ``number`` of this rank, or of ``rank``.

    Where a rank has bound the segment to a buffer of its own (`gaspi_segment_bind`) that is what it has published.
    """
    if rank is None and number not in segments(call):
        gone = number in deleted(call)
        how = "has been deleted" if gone else "has not been created on this rank"
        raise NotAllowed(rules.NO_SEGMENT, f"{call.name} of segment {number}, which {how}")
    if rank is not None and rank != call.me:
        _refuse_segment(call, number, rank)
    bound = None
    if call.all_facts(f"gaspi.bound.{number}"):
        if rank is not None and not isinstance(rank, Const):
            call.fail(
                Wrong.CALL_LIMIT,
                f"segment {number} of a rank that is computed, where some rank has bound it to a buffer of its own",
                "give the rank as a number, or have all ranks allocate the segment",
            )
        bound = call.published(call.rank if rank is None else rank.value, f"gaspi.bound.{number}")
    if bound is not None:
        object, offset = cast("tuple[ObjectId, int]", bound)
        return Address(object, offset)
    return Address(ObjectId("segment", ("gaspi", number)), 0)


def _refuse_segment(call: Call, number: int, rank: Expr) -> None:
    """Raises :class:`NotAllowed` if ``rank`` (any, where it is not known) never has segment ``number``, or never
    registers it with this one."""
    one = rank.value if isinstance(rank, Const) and not call.symbolic else None
    if one is not None and not 0 <= one < call.nodes:
        return  # the command faults
    which = f"segment {number} of {'another rank' if one is None else f'rank {one}'}"
    made, to_whom = ([call.published(one, key)] if one is not None else call.all_facts(key)
                  for key in (size_of(number), registered(number)))  # fmt: skip
    if not any(each is not None for each in made):
        raise NotAllowed(rules.NO_SEGMENT, f"{call.name} with {which}, which has none")
    known = frozenset[int | str]().union(*(each for each in to_whom if isinstance(each, frozenset)))
    why = f"{call.name} with {which}, not registered with this rank"
    if not any(isinstance(each, frozenset) for each in to_whom):
        raise NotAllowed(rules.NOT_REGISTERED, why)
    if call.symbolic:
        if ALL not in known:
            call.may_be_illegal(rules.NOT_REGISTERED, why)
    elif call.rank not in known:
        raise NotAllowed(rules.NOT_REGISTERED, why)


def deleted(call: Call) -> tuple[int, ...]:
    """The numbers of the segments that this rank has deleted."""
    return cast("tuple[int, ...]", call.state.get("gaspi.deleted", ()))


def registered(number: int) -> str:
    """The name of the fact with which ranks a rank has registered its segment ``number``; when lowering for all node
    counts `ALL` is among them where that is with all, and others are not."""
    return f"gaspi.registered.{number}"


def size_of(number: int) -> str:
    """The name of the fact how large a rank's segment ``number`` is."""
    return f"gaspi.size.{number}"


def place(call: Call, number: int, offset: int) -> Address:
    return call.moved(segment(call, number), offset)


def remote_place(call: Call, number: int, offset: int, bytes: int, rank: Expr) -> Address:
    """Where ``bytes`` bytes in segment ``number`` of ``rank`` begin, which may be larger or smaller than this one's."""
    start = call.moved(segment(call, number, rank), offset)
    if not isinstance(rank, Const) or call.symbolic or not 0 <= rank.value < call.nodes:
        return start
    size = call.published(rank.value, size_of(number))
    if isinstance(size, int) and offset + bytes > size:
        call.fail(
            Wrong.BOUNDS,
            f"{call.name} accesses bytes {offset} to {offset + bytes - 1} of segment {number} of rank {rank.value}, "
            f"which has {size} bytes there",
            "offsets count from the beginning of the segment of that rank",
        )
    return replace(start, owner=rank.value)


def slot(call: Call, number: int, notification: int) -> Expr:
    """The cell of a notification of segment ``number``, on whichever rank."""
    if not 0 <= notification < NOTIFICATIONS:
        raise NotAllowed(rules.NOTIFICATION_NUMBER, f"{call.name} with notification {notification:,}")
    name = f"notification {notification}{f' of segment {number}' * (number != 0)}"
    return call.own_cell("gaspi.notification", number, notification, name=name)


# Queues


def queue(call: Call, number: int) -> Const:
    created = cast(int, call.state.get("gaspi.created", 0))
    if not 0 <= number < QUEUES + created:
        there = f"queues 0 to {QUEUES + created - 1} are there"
        raise NotAllowed(rules.NO_QUEUE, f"{call.name} with queue {number}: {there}")
    return call.queue("gaspi", number, name=f"queue_{number}")


def open_queues(call: Call) -> tuple[int, ...]:
    """The queues that something has been posted to since they were last waited for."""
    return cast("tuple[int, ...]", call.state.get("gaspi.queues", ()))


def posted(steps: Steps, number: int) -> None:
    """Note that queue ``number`` has something to wait for."""
    steps.call.rests_on(Kind.QUEUE_ROOM, steps.call.name)
    steps.note("gaspi.queues", tuple(sorted({*open_queues(steps.call), number})))


# Groups


def members(call: Call, number: int) -> tuple[int, ...]:
    if number == 0:
        return call.everyone
    groups = dict(cast("tuple[tuple[int, tuple[int, ...]], ...]", call.state.get("gaspi.groups", ())))
    if number not in groups:
        call.fail(Wrong.ARGUMENT, f"there is no group {number}", "create it with gaspi_group_create first")
    return groups[number]
