"""GASPI's segments: objects known by their number on each rank (17.1, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.call_steps import Steps, least_free
from pgasrob.frontends.apis.gaspi import rules
from pgasrob.frontends.apis.gaspi.collectives import barrier_of
from pgasrob.frontends.apis.gaspi.header import FUNCTIONS, SUCCESS
from pgasrob.frontends.apis.gaspi.queues import ALL, deleted, members, registered, segment, segments, size_of, timed
from pgasrob.frontends.apis.interface import Call, ObjectId, Outcome
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.types import UCHAR, ULONG, VOID, Pointer
from pgasrob.program.assumptions import Kind


def _note(steps: Steps, sizes: dict[int, int]) -> None:
    """Note the sizes of this rank's segments by number."""
    steps.note("gaspi.segments", tuple(sorted(sizes.items())))


def _new(steps: Steps, number: int, size: int) -> None:
    call = steps.call
    if number in segments(call):
        call.fail(
            Wrong.ARGUMENT,
            f"segment {number} exists already",
            "delete it first, or give the new segment another number",
        )
    if number in deleted(call):
        call.fail(Wrong.CALL_LIMIT, f"segment {number} has been deleted before", "give the new segment another number")
    call.publish(size_of(number), size, by_all=True)
    _note(steps, segments(call) | {number: size})


def _together(steps: Steps, group: int, timeout: int) -> Sequence[Outcome]:
    """The registration with the group in argument ``group``, and the barrier, at the end of a collective call."""
    call = steps.call
    _registered(call, members(call, call.known(group)))
    barrier_of(steps, call.known(group))
    return timed(call, timeout, steps.outcome(SUCCESS))


def _registered(call: Call, ranks: tuple[int, ...]) -> None:
    """Segment argument 0 is registered with ``ranks``."""
    key = registered(call.known(0))
    known = cast("frozenset[int | str]", call.own_fact(key) or frozenset())
    by_name: set[int | str] = {ALL} if ranks is EVERYONE else set()
    call.publish(key, known | (by_name if call.symbolic else {*ranks}))


@FUNCTIONS.does("gaspi_segment_alloc(gaspi_segment_id_t segment, gaspi_size_t size, gaspi_alloc_t policy)")
def alloc(call: Call, steps: Steps) -> None:
    number, size = call.known(0), call.known(1)
    _new(steps, number, size)
    call.allocate("segment", size, f"segment_{number}", ("gaspi", number))


@FUNCTIONS.calls("""
    gaspi_segment_create(gaspi_segment_id_t segment, gaspi_size_t size, gaspi_group_t group, gaspi_timeout_t timeout,
                         gaspi_alloc_t policy)
""")
def create(call: Call) -> Sequence[Outcome]:
    """Collective: gaspi_segment_alloc, gaspi_segment_register and gaspi_barrier in one."""
    steps = Steps(call)
    alloc(call, steps)
    return _together(steps, 2, 3)


@FUNCTIONS.does("""
    gaspi_segment_bind(gaspi_segment_id_t segment, gaspi_pointer_t pointer, gaspi_size_t size,
                       gaspi_memory_description_t description)
""")
def bind(call: Call, steps: Steps) -> None:
    number, size = call.known(0), call.known(2)
    address = target(call, 1)
    if not isinstance(address.offset, int):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"the buffer {call.texts[1]} is not known here",
            "bind an object whose address is a constant",
        )
    _new(steps, number, size)
    call.publish(f"gaspi.bound.{number}", (address.object, address.offset), by_all=True)


@FUNCTIONS.calls("""
    gaspi_segment_use(gaspi_segment_id_t segment, gaspi_pointer_t pointer, gaspi_size_t size, gaspi_group_t group,
                      gaspi_timeout_t timeout, gaspi_memory_description_t description)
""")
def use(call: Call) -> Sequence[Outcome]:
    """gaspi_segment_bind, gaspi_segment_register and gaspi_barrier in one."""
    steps = Steps(call)
    bind(call, steps)
    return _together(steps, 3, 4)


@FUNCTIONS.does("gaspi_segment_register(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_timeout_t timeout)")
def register(call: Call, steps: Steps) -> None:
    """No promise that the other rank has arrived."""
    segment(call, call.known(0))
    _registered(call, () if call.symbolic else (call.known(1),))


@FUNCTIONS.does("gaspi_segment_delete(gaspi_segment_id_t segment)")
def delete(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.FREED_MEMORY, call.name)
    number = call.known(0)
    memory = segment(call, number)
    if memory.object == ObjectId("segment", ("gaspi", number)):  # and not a buffer of the program's own
        steps.free(memory, rules.NO_SEGMENT)
    _note(steps, {other: size for other, size in segments(call).items() if other != number})
    steps.note("gaspi.deleted", tuple(sorted({*deleted(call), number})))


FUNCTIONS.stores(
    "gaspi_segment_ptr(gaspi_segment_id_t segment, gaspi_pointer_t *pointer)",
    Pointer(VOID),
    lambda call: segment(call, call.known(0)),
)


@FUNCTIONS.does("gaspi_segment_size(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_size_t *size)")
def size(call: Call, steps: Steps) -> None:
    number, rank = call.known(0), call.known(1)
    found = segments(call).get(number, 0) if rank == call.rank else call.published(rank, size_of(number))
    steps.answer(2, cast(int, found or 0), ULONG)


@FUNCTIONS.does("gaspi_segment_avail_local(gaspi_segment_id_t *segment)")
def available(call: Call, steps: Steps) -> None:
    """The least number that no segment of this rank has, as in GPI-2; numbers of deleted segments are not used
    again."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    taken = {*segments(call), *deleted(call)}
    steps.answer(0, least_free(taken), UCHAR)


@FUNCTIONS.does("gaspi_segment_list(gaspi_number_t number, gaspi_segment_id_t *list)")
def list_(call: Call, steps: Steps) -> None:
    address = target(call, 1)
    for place, number in enumerate(list(segments(call))[: call.known(0)]):
        steps.store(call.moved(address, place), number, UCHAR)
