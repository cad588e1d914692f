"""GASPI's one-sided communication, notifications and atomics (GASPI 17.1, sections 8, 9 and 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from pgasrob.frontends.apis.call_arguments import integers
from pgasrob.frontends.apis.gaspi.queues import done, place, posted, queue, slot, timed
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps, each, is_plain
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.types import UCHAR, UINT, ULONG, USHORT
from pgasrob.frontends.c.values import Known, Unknown
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
from pgasrob.program.expressions import Binary, Const, Expr, IntType

PROTOTYPES = Prototypes()
NOTIFICATIONS = 65536
MAX_SLOTS = 4
"""In a longer range a waitsome looks at the slots that some rank notifies: each slot is a branch."""


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
    """The same for a list of writes or reads."""
    count = call.known(0)
    columns = [integers(call, index, count, type) for index, type in _LISTS]
    return [Piece(*row) for row in zip(*columns, strict=True)], call.expression(3), 7


_LISTS = ((1, UCHAR), (2, ULONG), (4, UCHAR), (5, ULONG), (6, ULONG))


Kind = type[Read] | type[Write]


def transfers(call: Call, kind: Kind, pieces: list[Piece], rank: Expr, where: Const) -> list[object]:
    """One operation for each cell; none of them is ordered."""
    steps = Steps(call)
    for piece in pieces:
        local = place(call, piece.local_segment, piece.local_offset)
        remote = place(call, piece.remote_segment, piece.remote_offset, rank)
        each(steps, local, remote, piece.size, None, lambda here, there: kind(here, rank, there, where))
    return steps.commands


# Reads and writes


def _transfer(call: Call, kind: Kind, many: bool) -> Sequence[Outcome]:
    pieces, rank, after = (many_pieces if many else one_piece)(call)
    number = call.known(after)
    commands = transfers(call, kind, pieces, rank, queue(call, number))
    return timed(call, after + 1, done(call, commands, state=posted(call, number)))


_ONE = "gaspi_segment_id_t s, gaspi_offset_t o, gaspi_rank_t r, gaspi_segment_id_t t, gaspi_offset_t p, gaspi_size_t n"
_MANY = (
    "gaspi_number_t k, gaspi_segment_id_t *s, gaspi_offset_t *o, gaspi_rank_t r, gaspi_segment_id_t *t,"
    " gaspi_offset_t *p, gaspi_size_t *n"
)
_END = "gaspi_queue_id_t q, gaspi_timeout_t m"
for _name, _kind in (("write", Write), ("read", Read)):
    PROTOTYPES.add(f"gaspi_return_t gaspi_{_name}({_ONE}, {_END})", partial(_transfer, kind=_kind, many=False))
    PROTOTYPES.add(f"gaspi_return_t gaspi_{_name}_list({_MANY}, {_END})", partial(_transfer, kind=_kind, many=True))


# Notifications


def _nonzero(call: Call, index: int) -> Expr:
    value = call.expression(index)
    if value == Const(0):
        call.fail("a notification has a value above 0", "notify with 1 or more: 0 stands for no notification")
    if call.symbolic and not isinstance(value, Const):
        call.number_needed("whether the value of a notification is above 0")
    return value


@PROTOTYPES.calls(f"""
    gaspi_return_t gaspi_notify(gaspi_segment_id_t s, gaspi_rank_t r, gaspi_notification_id_t i, gaspi_notification_t v,
                                {_END});
""")
def notify(call: Call) -> Sequence[Outcome]:
    """After the earlier writes of its queue to its rank."""
    number = call.known(4)
    cell = _notified(call, call.known(0), call.known(2))
    command = Notify("set", _nonzero(call, 3), call.expression(1), cell, queue(call, number))
    return timed(call, 5, done(call, [command], state=posted(call, number)))


def _write_notify(call: Call, many: bool) -> Sequence[Outcome]:
    """Since 16.6 the notification covers its own payload only; in 1.01 it was a write and a notify."""
    pieces, rank, after = (many_pieces if many else one_piece)(call)
    segment, after = (call.known(after), after + 1) if many else (pieces[0].remote_segment, after)
    cell, value, number = _notified(call, segment, call.known(after)), _nonzero(call, after + 1), call.known(after + 2)
    where = queue(call, number)
    writes = transfers(call, Write, pieces, rank, where)
    commands: list[object]
    if "gaspi-1.01" in call.dialects:
        commands = [*writes, Notify("set", value, rank, cell, where)]
    else:
        commands = [Bundle(), *writes, Signal("set", value, rank, cell, where)]
    return timed(call, after + 3, done(call, commands, state=posted(call, number)))


def _read_notify(call: Call, many: bool) -> Sequence[Outcome]:
    """The local slot is set, to 1, when the data have arrived."""
    pieces, rank, after = (many_pieces if many else one_piece)(call)
    segment, after = (call.known(after), after + 1) if many else (pieces[0].local_segment, after)
    cell, number = _notified(call, segment, call.known(after)), call.known(after + 1)
    where = queue(call, number)
    reads = transfers(call, Read, pieces, rank, where)
    commands = [Bundle(), *reads, Signal("set", Const(1), call.me, cell, where)]
    return timed(call, after + 2, done(call, commands, state=posted(call, number)))


_NOTIFIED = "gaspi_notification_id_t i, gaspi_notification_t v"
PROTOTYPES.add(f"gaspi_return_t gaspi_write_notify({_ONE}, {_NOTIFIED}, {_END})", partial(_write_notify, many=False))
PROTOTYPES.add(
    f"gaspi_return_t gaspi_write_list_notify({_MANY}, gaspi_segment_id_t w, {_NOTIFIED}, {_END})",
    partial(_write_notify, many=True),
)
PROTOTYPES.add(
    f"gaspi_return_t gaspi_read_notify({_ONE}, gaspi_notification_id_t i, {_END})",
    partial(_read_notify, many=False),
)
PROTOTYPES.add(
    f"gaspi_return_t gaspi_read_list_notify({_MANY}, gaspi_segment_id_t w, gaspi_notification_id_t i, {_END})",
    partial(_read_notify, many=True),
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


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t s, gaspi_notification_id_t b, gaspi_number_t n,
                                         gaspi_notification_id_t *f, gaspi_timeout_t m);
""")
def waitsome(call: Call) -> Sequence[Outcome]:
    """One outcome for each slot of the range: it is not zero. The slot stays as it is."""
    segment, begin, count = call.known(0), call.known(1), call.known(2)
    if count == 0:
        return [done(call)]
    slots: Sequence[int] = range(begin, begin + min(count, NOTIFICATIONS))
    if count > MAX_SLOTS:
        slots = [number for number in _notified_slots(call, segment) if number in slots] or slots[:1]
    outcomes = [
        done(call, [Await(slot(call, segment, number), "!=", Const(0))], [(3, Known(number), USHORT)])
        for number in slots
    ]
    return timed(call, 4, *outcomes)


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t s, gaspi_notification_id_t i, gaspi_notification_t *old);
""")
def reset(call: Call) -> Sequence[Outcome]:
    """Atomically reads the slot and sets it to zero.

    A number that is not known, of a waitsome that many slots may have ended, has a branch for each slot that some rank
    sets, and one for the others: they are zero already.
    """
    segment, number = call.known(0), call.expression(1)
    if isinstance(number, Const):
        return [_reset(call, segment, number.value, [])]
    slots = _notified_slots(call, segment)
    outcomes = [_reset(call, segment, each, [Assume(Binary("==", number, Const(each)))]) for each in slots]
    none = [Assume(Binary("!=", number, Const(each))) for each in slots]
    return [*outcomes, done(call, none, [(2, Known(0), UINT)])]


def _reset(call: Call, segment: int, number: int, assumed: list[Command]) -> Outcome:
    register = call.register("notification")
    command = Swap(register, call.me, slot(call, segment, number), Const(0))
    return done(call, [*assumed, command], [(2, Unknown(register), UINT)])


# Atomics: blocking, on 8 bytes, not ordered with queues

UNSIGNED = IntType(64, False)


def _atomic_cell(call: Call, *, compared: bool = False) -> tuple[Expr, Expr]:
    offset, rank = call.known(1), call.expression(2)
    if offset % 8:
        call.fail(f"offset {offset} is not a multiple of 8", "GASPI's atomics need 8-byte values at 8-byte offsets")
    address = place(call, call.known(0), offset, rank)
    return rank, call.number(address, ULONG, compared=compared)


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t s, gaspi_offset_t o, gaspi_rank_t r,
        gaspi_atomic_value_t v, gaspi_atomic_value_t *old, gaspi_timeout_t m);
""")
def fetch_add(call: Call) -> Sequence[Outcome]:
    rank, cell = _atomic_cell(call)
    register = call.register("old")
    command = FetchAdd(register, rank, cell, call.expression(3), UNSIGNED, atomic=shown(ULONG))
    return timed(call, 5, done(call, [command], [(4, Unknown(register), ULONG)]))


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t s, gaspi_offset_t o, gaspi_rank_t r,
        gaspi_atomic_value_t expected, gaspi_atomic_value_t value, gaspi_atomic_value_t *old, gaspi_timeout_t m);
""")
def compare_swap(call: Call) -> Sequence[Outcome]:
    rank, cell = _atomic_cell(call, compared=not is_plain(call.expression(3), ULONG))
    register = call.register("old")
    command = CompareSwap(register, rank, cell, call.expression(3), call.expression(4), atomic=shown(ULONG))
    return timed(call, 6, done(call, [command], [(5, Unknown(register), ULONG)]))
