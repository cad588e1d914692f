"""GASPI's segments: objects known by their number on each rank."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from typing import cast

from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.gaspi.collectives import arrive_all
from pgasrob.frontends.apis.gaspi.queues import done, segment, segments, timed
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.c.types import UCHAR, ULONG, VOID, Pointer
from pgasrob.frontends.c.values import Known
from pgasrob.program.assumptions import Kind

PROTOTYPES = Prototypes()


def _new(call: Call, number: int, size: int) -> dict[str, Hashable]:
    if number in segments(call):
        call.fail(f"segment {number} exists already", "delete it first, or give the new segment another number")
    if number in cast("tuple[int, ...]", call.state.get("gaspi.deleted", ())):
        call.fail(f"segment {number} has been deleted before", "give the new segment another number")
    call.publish(f"gaspi.size.{number}", size, by_all=True)
    return {"gaspi.segments": tuple(sorted((segments(call) | {number: size}).items()))}


def _allocate(call: Call) -> dict[str, Hashable]:
    number, size = call.known(0), call.known(1)
    state = _new(call, number, size)
    call.allocate("segment", size, f"segment_{number}", ("gaspi", number))
    return state


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_segment_create(gaspi_segment_id_t segment, gaspi_size_t size, gaspi_group_t group,
                                        gaspi_timeout_t timeout, gaspi_alloc_t policy);
""")
def create(call: Call) -> Sequence[Outcome]:
    """Collective: gaspi_segment_alloc, gaspi_segment_register and gaspi_barrier in one."""
    state = _allocate(call)
    return timed(call, 3, done(call, *arrive_all(call, call.known(2), state)))


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t segment, gaspi_size_t size, gaspi_alloc_t policy);
""")
def alloc(call: Call) -> Outcome:
    return done(call, state=_allocate(call))


def _bind(call: Call) -> dict[str, Hashable]:
    number, size = call.known(0), call.known(2)
    address = target(call, 1)
    if not isinstance(address.offset, int):
        call.fail(f"the buffer {call.texts[1]} is not known here", "bind an object whose address is a constant")
    state = _new(call, number, size)
    call.publish(f"gaspi.bound.{number}", (address.object, address.offset), by_all=True)
    return state


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t segment, gaspi_pointer_t pointer, gaspi_size_t size,
                                      gaspi_memory_description_t description);
""")
def bind(call: Call) -> Outcome:
    return done(call, state=_bind(call))


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_segment_use(gaspi_segment_id_t segment, gaspi_pointer_t pointer, gaspi_size_t size,
        gaspi_group_t group, gaspi_timeout_t timeout, gaspi_memory_description_t description);
""")
def use(call: Call) -> Sequence[Outcome]:
    """gaspi_segment_bind, gaspi_segment_register and gaspi_barrier in one."""
    state = _bind(call)
    return timed(call, 4, done(call, *arrive_all(call, call.known(3), state)))


@PROTOTYPES.calls("gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t segment);")
def delete(call: Call) -> Outcome:
    call.rests_on(Kind.FREED_MEMORY, call.name)
    number = call.known(0)
    segment(call, number)
    deleted = cast("tuple[int, ...]", call.state.get("gaspi.deleted", ()))
    left = {other: size for other, size in segments(call).items() if other != number}
    state: dict[str, Hashable] = {"gaspi.segments": tuple(sorted(left.items()))}
    return done(call, state=state | {"gaspi.deleted": tuple(sorted({*deleted, number}))})


@PROTOTYPES.calls("gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment, gaspi_pointer_t *pointer);")
def pointer(call: Call) -> Outcome:
    return done(call, stores=[(1, segment(call, call.known(0)), Pointer(VOID))])


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_segment_size(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_size_t *size);
""")
def size(call: Call) -> Outcome:
    number, rank = call.known(0), call.known(1)
    found = segments(call).get(number, 0) if rank == call.rank else call.published(rank, f"gaspi.size.{number}")
    return done(call, stores=[(2, Known(cast(int, found or 0)), ULONG)])


@PROTOTYPES.calls("gaspi_return_t gaspi_segment_avail_local(gaspi_segment_id_t *segment);")
def available(call: Call) -> Outcome:
    """The least number of a segment that this rank has none of, which GPI-2 gives; deleted ones do not come back."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    taken = {*segments(call), *cast("tuple[int, ...]", call.state.get("gaspi.deleted", ()))}
    return done(call, stores=[(0, Known(next(number for number in count() if number not in taken)), UCHAR)])


@PROTOTYPES.calls("gaspi_return_t gaspi_segment_list(gaspi_number_t number, gaspi_segment_id_t *list);")
def list_(call: Call) -> Outcome:
    address = target(call, 1)
    numbers = list(segments(call))[: call.known(0)]
    stores = tuple((call.moved(address, place), Known(number), UCHAR) for place, number in enumerate(numbers))
    return Outcome((), Known(0), stores)
