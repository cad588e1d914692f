"""GASPI's one-sided communication, notifications and atomics (GASPI 17.1, sections 8, 9 and 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import integers
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.gaspi import rules
from pgasrob.frontends.apis.gaspi.header import FUNCTIONS, SUCCESS
from pgasrob.frontends.apis.gaspi.queues import NOTIFICATIONS, place, posted, queue, remote_place, segment, slot, timed
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.transfers import Transfer, is_plain
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.types import UCHAR, UINT, ULONG, USHORT
from pgasrob.frontends.c.values import Known
from pgasrob.program.commands import (
    Assume,
    Await,
    Bundle,
    Command,
    CompareSwap,
    FetchAdd,
    Notify,
    Read,
    Signal,
    Swap,
    Write,
)
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register

MAX_SLOTS = 4
"""In a longer range a waitsome looks only at the slots that some rank notifies: each slot is a way of the call."""


# The arguments of a call, by their place


@dataclass(frozen=True, slots=True)
class Piece:
    """One transfer: ``size`` bytes between a place here and one on the other rank."""

    local_segment: int
    local_offset: int
    remote_segment: int
    remote_offset: int
    size: int


def one_piece(call: Call) -> tuple[list[Piece], Expr, int]:
    """The piece of a write or read, its rank, and the index of the argument after it."""
    piece = Piece(call.known(0), call.known(1), call.known(3), call.known(4), call.known(5))
    return [piece], call.expression(2), 6


def many_pieces(call: Call) -> tuple[list[Piece], Expr, int]:
    """The pieces of a list of writes or reads."""
    count = call.known(0)
    columns = [integers(call, index, count, type) for index, type in _LISTS]
    return [Piece(*row) for row in zip(*columns, strict=True)], call.expression(3), 7


_LISTS = ((1, UCHAR), (2, ULONG), (4, UCHAR), (5, ULONG), (6, ULONG))


Kind = type[Read] | type[Write]


def transfers(steps: Steps, kind: Kind, pieces: list[Piece], rank: Expr, where: Const) -> None:
    """One operation for each cell; none of them is ordered."""
    for piece in pieces:
        local = place(steps.call, piece.local_segment, piece.local_offset)
        remote = remote_place(steps.call, piece.remote_segment, piece.remote_offset, piece.size, rank)
        Transfer(local, rank, remote, piece.size).issue(steps, kind, where)


def _posted(steps: Steps, number: int, timeout: int) -> Sequence[Outcome]:
    """The outcomes of a call that has posted its commands in queue ``number``."""
    posted(steps, number)
    return timed(steps.call, timeout, steps.outcome(SUCCESS))


# Reads and writes


def _transfer(call: Call, kind: Kind, many: bool) -> Sequence[Outcome]:
    steps, (pieces, rank, after) = Steps(call), (many_pieces if many else one_piece)(call)
    number = call.known(after)
    transfers(steps, kind, pieces, rank, queue(call, number))
    return _posted(steps, number, after + 1)


_ONE = "gaspi_segment_id_t s, gaspi_offset_t o, gaspi_rank_t r, gaspi_segment_id_t t, gaspi_offset_t p, gaspi_size_t n"
_MANY = (
    "gaspi_number_t k, gaspi_segment_id_t *s, gaspi_offset_t *o, gaspi_rank_t r, gaspi_segment_id_t *t,"
    " gaspi_offset_t *p, gaspi_size_t *n"
)
_END = "gaspi_queue_id_t q, gaspi_timeout_t m"
for _name, _kind in (("write", Write), ("read", Read)):
    FUNCTIONS.add(f"gaspi_{_name}({_ONE}, {_END})", partial(_transfer, kind=_kind, many=False))
    FUNCTIONS.add(f"gaspi_{_name}_list({_MANY}, {_END})", partial(_transfer, kind=_kind, many=True))


# Notifications


def _nonzero(call: Call, index: int) -> Expr:
    value = call.expression(index)
    if value == Const(0):
        raise NotAllowed(rules.NOTIFICATION_VALUE, f"{call.name} with the value 0")
    if call.symbolic and not isinstance(value, Const):
        call.number_needed("whether the value of a notification is above 0")
    return value


@FUNCTIONS.calls(f"""
    gaspi_notify(gaspi_segment_id_t s, gaspi_rank_t r, gaspi_notification_id_t i, gaspi_notification_t v, {_END})
""")
def notify(call: Call) -> Sequence[Outcome]:
    """After the earlier writes of its queue to its rank."""
    steps, number = Steps(call), call.known(4)
    segment(call, call.known(0), call.expression(1))
    cell = _notified(call, call.known(0), call.known(2))
    steps.do(Notify("set", _nonzero(call, 3), call.expression(1), cell, queue(call, number)))
    return _posted(steps, number, 5)


def _transfer_notify(call: Call, kind: Kind, many: bool) -> Sequence[Outcome]:
    """Since 16.6 the notification of a write covers its own payload only; in 1.01 it was a write and a notify. A read
    sets the local slot, to 1, when the data have arrived."""
    steps, (pieces, rank, after) = Steps(call), (many_pieces if many else one_piece)(call)
    if many:
        segment, after = call.known(after), after + 1
    else:
        segment = pieces[0].remote_segment if kind is Write else pieces[0].local_segment
    cell, after = _notified(call, segment, call.known(after)), after + 1
    value, to = (_nonzero(call, after), rank) if kind is Write else (Const(1), call.me)
    after += kind is Write
    number = call.known(after)
    where, alone = queue(call, number), kind is Read or "gaspi-1.01" not in call.dialects
    if alone:
        steps.do(Bundle())
    transfers(steps, kind, pieces, rank, where)
    steps.do((Signal if alone else Notify)("set", value, to, cell, where))
    return _posted(steps, number, after + 1)


_NUMBER, _VALUE = "gaspi_notification_id_t i", "gaspi_notification_t v"
for _name, _kind, _what in (("write", Write, f"{_NUMBER}, {_VALUE}"), ("read", Read, _NUMBER)):
    FUNCTIONS.add(f"gaspi_{_name}_notify({_ONE}, {_what}, {_END})", partial(_transfer_notify, kind=_kind, many=False))
    FUNCTIONS.add(
        f"gaspi_{_name}_list_notify({_MANY}, gaspi_segment_id_t w, {_what}, {_END})",
        partial(_transfer_notify, kind=_kind, many=True),
    )


def _notified(call: Call, segment: int, number: int) -> Expr:
    """The cell of a slot that this call sets."""
    key = f"gaspi.notified.{segment}"
    before = cast("tuple[int, ...]", call.own_fact(key) or ())
    call.publish(key, tuple(sorted({*before, number})))
    return slot(call, segment, number)


def _notified_slots(call: Call, segment: int) -> list[int]:
    """The slots that any rank sets. All others are zero for ever."""
    of_ranks = cast("list[tuple[int, ...]]", call.all_facts(f"gaspi.notified.{segment}"))
    return sorted({number for numbers in of_ranks for number in numbers})


@FUNCTIONS.calls("""
    gaspi_notify_waitsome(gaspi_segment_id_t s, gaspi_notification_id_t b, gaspi_number_t n, gaspi_notification_id_t *f,
                          gaspi_timeout_t m)
""")
def waitsome(call: Call) -> Sequence[Outcome]:
    """One outcome for each slot of the range, whose value is not zero. The slot keeps its value."""
    own, begin, count = call.known(0), call.known(1), call.known(2)
    segment(call, own)
    if count == 0:
        return [Outcome(result=Known(SUCCESS))]
    if not 0 <= begin <= begin + count <= NOTIFICATIONS:
        which = f"the {count:,} notifications from {begin:,} on"
        raise NotAllowed(rules.NOTIFICATION_NUMBER, f"{call.name} for {which}")
    slots: Sequence[int] = range(begin, begin + min(count, NOTIFICATIONS))
    if count > MAX_SLOTS:
        slots = [number for number in _notified_slots(call, own) if number in slots] or slots[:1]
    outcomes = []
    for number in slots:
        steps = Steps(call)
        steps.answer(3, number, USHORT)
        steps.do(Await(slot(call, own, number), "!=", Const(0)))
        outcomes.append(steps.outcome(SUCCESS))
    return timed(call, 4, *outcomes)


@FUNCTIONS.calls("""
    gaspi_notify_reset(gaspi_segment_id_t s, gaspi_notification_id_t i, gaspi_notification_t *old)
""")
def reset(call: Call) -> Sequence[Outcome]:
    """Atomically reads the slot and sets it to zero.

    The number is not known after a waitsome that many slots may have ended. Then there is a way for each slot that some
    rank sets, and one for the others: they are zero already.
    """
    own, number = call.known(0), call.expression(1)
    segment(call, own)
    if isinstance(number, Const):
        return [_reset(call, own, number.value, [])]
    slots = _notified_slots(call, own)
    outcomes = [_reset(call, own, each, [Assume(Binary("==", number, Const(each)))]) for each in slots]
    steps = Steps(call)
    steps.do(*(Assume(Binary("!=", number, Const(each))) for each in slots))
    steps.answer(2, 0, UINT)
    return [*outcomes, steps.outcome(SUCCESS)]


def _reset(call: Call, segment: int, number: int, assumed: list[Command]) -> Outcome:
    steps, register = Steps(call), call.register("notification")
    steps.do(*assumed, Swap(register, call.me, slot(call, segment, number), Const(0)))
    steps.answer(2, register, UINT)
    return steps.outcome(SUCCESS)


# Atomics: blocking, on 8 bytes, not ordered with queues

UNSIGNED = IntType(64, False)


def _atomic_cell(call: Call, *, compared: bool = False) -> tuple[Expr, Expr]:
    offset, rank = call.known(1), call.expression(2)
    if offset % 8:
        call.fail(
            Wrong.ARGUMENT,
            f"offset {offset} is not a multiple of 8",
            "GASPI's atomics need 8-byte values at 8-byte offsets",
        )
    address = remote_place(call, call.known(0), offset, 8, rank)
    return rank, call.number(address, ULONG, compared=compared)


def _atomic(call: Call, register: Register, command: Command, old: int) -> Sequence[Outcome]:
    """The outcomes of the blocking ``command`` whose old value goes where argument ``old`` points to; the timeout is
    the next argument."""
    steps = Steps(call)
    steps.do(command)
    steps.answer(old, register, ULONG)
    return timed(call, old + 1, steps.outcome(SUCCESS))


@FUNCTIONS.calls("""
    gaspi_atomic_fetch_add(gaspi_segment_id_t s, gaspi_offset_t o, gaspi_rank_t r, gaspi_atomic_value_t v,
                           gaspi_atomic_value_t *old, gaspi_timeout_t m)
""")
def fetch_add(call: Call) -> Sequence[Outcome]:
    rank, cell = _atomic_cell(call)
    old = call.register("old")
    return _atomic(call, old, FetchAdd(old, rank, cell, call.expression(3), UNSIGNED, atomic=shown(ULONG)), 4)


@FUNCTIONS.calls("""
    gaspi_atomic_compare_swap(gaspi_segment_id_t s, gaspi_offset_t o, gaspi_rank_t r, gaspi_atomic_value_t expected,
                              gaspi_atomic_value_t value, gaspi_atomic_value_t *old, gaspi_timeout_t m)
""")
def compare_swap(call: Call) -> Sequence[Outcome]:
    rank, cell = _atomic_cell(call, compared=not is_plain(call.expression(3), ULONG))
    old = call.register("old")
    return _atomic(
        call, old, CompareSwap(old, rank, cell, call.expression(3), call.expression(4), atomic=shown(ULONG)), 5
    )
