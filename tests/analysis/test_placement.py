"""The placement of steps in parts: what later commands of a rank have to know of it."""

from __future__ import annotations

import pytest

from pgasrob.analysis.placement import Kind, Placement, Slot, fenced, lower_bounds, part_of, placed, wait_is_over
from pgasrob.program.core import EVERY_QUEUE, Access, Cell, Fence, Step, Transfer, Wait
from tests.support import instance

PROGRAM = instance("write(x, 0, x, q); write(x, 0, x, u);")  # q is FIFO, u unordered
FIFO, UNORDERED = 0, 1
KINDS = ("read", "write")


def operation(kind: str, queue: int, target: int = 0) -> Transfer[Cell, int]:
    writes = kind == "write"
    first = Step("popa", Access(0, True, False), 0, local=writes)
    return Transfer(target, queue, (first, Step("popb", Access(1, False, True), 1, local=not writes, fenced=writes)))


def after(kind: str, queue: int, *parts: int) -> Placement:
    return placed(PROGRAM, (), operation(kind, queue), parts)


def bounds(placement: Placement, kind: str, queue: int, target: int = 0) -> list[int]:
    return lower_bounds(PROGRAM, placement, operation(kind, queue, target))


def test_a_slot_of_every_queue_stands_for_all() -> None:
    placement = ((Slot(1, Kind.FENCED, 2), 3), (Slot(4, Kind.FENCED, 2), 4), (Slot(4, Kind.BOUND, 2), 2))
    assert [part_of(placement, Slot(queue, Kind.FENCED, 2)) for queue in (EVERY_QUEUE, 1, 4, 5)] == [4, 3, 4, 1]
    assert part_of(placement, Slot(EVERY_QUEUE, Kind.FENCED, 1)) == 1
    assert part_of(placement, Slot(4, Kind.BOUND, 2)) == 2


def test_a_fence_keeps_a_bound_whose_reason_is_forgotten() -> None:
    placement = ((Slot(UNORDERED, Kind.BOUND, 0), 2),)
    assert fenced(placement, Fence(UNORDERED, None)) == placement
    later = ((Slot(UNORDERED, Kind.FENCED, 0), 3), *placement)
    assert dict(fenced(later, Fence(UNORDERED, 0)))[Slot(UNORDERED, Kind.BOUND, 0)] == 3


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_kept_of_an_operation_that_is_not_delayed(kind: str) -> None:
    assert after(kind, FIFO, 1, 1) == after(kind, UNORDERED, 1, 1) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_fifo_bounds_stage_by_stage_whatever_the_target(kind: str) -> None:
    assert bounds(after(kind, FIFO, 1, 2), "write", FIFO, target=7) == [1, 2]
    assert bounds(after(kind, FIFO, 2, 3), "read", FIFO) == [2, 3]
    assert bounds(after(kind, FIFO, 2, 3), "read", UNORDERED) == [1, 1]


def test_an_unordered_queue_bounds_nothing_without_a_fence() -> None:
    assert bounds(after("write", UNORDERED, 2, 2), "write", UNORDERED) == [1, 1]


@pytest.mark.parametrize(("target", "bound"), [(None, 2), (0, 2), (1, 1)])
def test_a_fence_bounds_later_writes_to_its_target(target: int | None, bound: int) -> None:
    placement = fenced(after("write", UNORDERED, 1, 2), Fence(UNORDERED, target))
    assert bounds(placement, "write", UNORDERED) == [1, bound]
    assert bounds(placement, "write", UNORDERED, target=1) == [1, 1]
    assert bounds(placement, "read", UNORDERED) == [1, 1]


def test_a_fence_orders_no_reads() -> None:
    placement = after("read", UNORDERED, 1, 2)
    assert fenced(placement, Fence(UNORDERED, None)) == placement


@pytest.mark.parametrize("queue", [FIFO, UNORDERED])
@pytest.mark.parametrize(
    ("kind", "parts", "wait", "wait_local"),
    [
        ("write", (1, 1), True, True),
        ("write", (1, 2), False, True),  # the source has been read
        ("write", (2, 2), False, False),
        ("read", (1, 2), False, False),  # the data has not arrived
    ],
)
def test_when_waits_are_over(kind: str, parts: tuple[int, int], wait: bool, wait_local: bool, queue: int) -> None:
    placement = after(kind, queue, *parts)
    assert wait_is_over(placement, Wait(queue, local=False)) == wait
    assert wait_is_over(placement, Wait(queue, local=True)) == wait_local
    assert wait_is_over(placement, Wait(1 - queue, local=False))
