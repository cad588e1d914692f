"""GPI: what every call lowers to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gpi import API
from tests.frontends.apis.recorder import Argument, Rank, Refused, lowered, variable

CALLS: list[tuple[str, tuple[Argument, ...], list[list[str]]]] = [
    ("startGPI", (1, variable("argv"), variable("text"), 64), [["return 0"]]),
    ("getRankGPI", (), [["return 0"]]),
    ("getNodeCountGPI", (), [["return 2"]]),
    ("getDmaMemPtrGPI", (), [["return &('gpi', 'dma')+0"]]),
    ("barrierGPI", (), [["barrier(barrierGPI)"]]),
    ("writeDmaGPI", (0, 8, 4, 1, 2), [["write(gpi_dma+0, 1, gpi_dma+8, fifo_queue_2_to_1)", "return 0"]]),
    ("readDmaGPI", (0, 8, 4, 1, 2), [["read(gpi_dma+0, 1, gpi_dma+8, fifo_queue_2_to_1)", "return 0"]]),
    ("waitDmaGPI", (2,), [["return 0"]]),
    ("atomicFetchAddCntGPI", (5, 3), [["count <- fetch_add(0, counter 3+0, 5)", "return count"]]),
    ("atomicFetchAddTileCntGPI", (5,), [["count <- fetch_add(0, counter tile+0, 5)", "return count"]]),
    ("atomicCmpSwapCntGPI", (1, 2, 3), [["count <- compare_swap(0, counter 3+0, 1, 2)", "return count"]]),
    ("atomicResetCntGPI", (3,), [["count <- swap(0, counter 3+0, 0)", "return 0"]]),
    (
        "globalResourceLockGPI",
        (),
        [
            ["await_add(0, mem[global resource lock+0] == 0, 1)", "return 0"],
            ["lock <- fetch(0, global resource lock+0)", "if lock: return -1", "else: again"],
        ],
    ),
    ("globalResourceUnlockGPI", (), [["lock <- swap(0, global resource lock+0, 0)", "return 0"]]),
    ("shutdownGPI", (), [[]]),
]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[list[str]]) -> None:
    assert lowered(API, name, *arguments) == expected


def test_a_queue_is_waited_for_whatever_the_rank() -> None:
    rank = Rank(API, nodes=3)
    for target in (1, 2):
        rank.call("writeDmaGPI", 0, 8, 4, target, 0)
    rank.call("writeDmaGPI", 0, 8, 4, 1, 1)
    assert rank.call("waitDmaGPI", 0) == ["wait(fifo_queue_0_to_1)", "wait(fifo_queue_0_to_2)", "return 1"]
    assert rank.call("waitDmaGPI", 0) == ["return 0"]
    assert rank.call("waitDmaGPI", 1) == ["wait(fifo_queue_1_to_1)", "return 1"]


def test_something_may_be_in_a_queue_or_nothing() -> None:
    rank = Rank(API)
    assert rank.call("openDMARequestsGPI", 0) == ["return 0"]
    rank.call("writeDmaGPI", 0, 8, 4, 1, 0)
    assert [rank.call("openDMARequestsGPI", 0, outcome=each) for each in (0, 1)] == [["return 0"], ["return 1"]]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("writeDmaGPI", (0, 8, 8, 1, 0), "2 elements in a queue that keeps the order"),
        ("writeDmaGPI", (0, 8, 4, 1, 8), "no queue 8"),
        ("atomicFetchAddCntGPI", (1, 8), "no counter 8"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(Refused, match=message):
        lowered(API, name, *arguments)
