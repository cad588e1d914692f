"""GASPI, `collectives`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gaspi import API
from pgasrob.frontends.apis.gaspi.header import BLOCK
from pgasrob.frontends.c.values import Known
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    Refused,
    lowered,
    variable,
)

SEGMENT = {"gaspi.segments": ((0, 64), (1, 64))}

OUT = variable("out")

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("gaspi_barrier", (0, BLOCK), ["barrier(gaspi_barrier)", "return 0"]),
]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments, state=SEGMENT) == [expected]


def test_a_barrier_that_is_called_with_a_timeout_has_two_halves() -> None:
    rank = Rank(API)
    halves = rank.call("gaspi_barrier", 0, 0, outcome=1)
    assert halves[0].startswith("await_add(1, ") and halves[-1] == "return 1"
    rest = rank.call("gaspi_barrier", 0, BLOCK)
    assert [line.split("(")[0] for line in rest] == ["await", "return 0"]


def test_a_reduction_that_times_out_has_contributed() -> None:
    rank = Rank(API)
    rank.world.contents[variable("x")] = Known(5)
    first = rank.call("gaspi_allreduce", variable("x"), OUT, 1, 2, 0, 0, 0, outcome=1)
    assert [line.split("(")[0] for line in first] == ["mem[gaspi_all_contribution_0_0+0] <- 5", "await_add", "return 1"]
    rest = rank.call("gaspi_allreduce", variable("x"), OUT, 1, 2, 0, 0, BLOCK)
    assert rest[0].startswith("await(") and rest[-1] == "return 0"
    assert not any(line.startswith(("await_add", "mem[")) for line in rest)
    following = rank.call("gaspi_allreduce", variable("x"), OUT, 1, 2, 0, 0, BLOCK)
    assert following[0].startswith("mem[") and "contribution_1_0" in following[0]


def test_groups() -> None:
    """A barrier of some ranks counts at the first of them; one of all is a barrier."""
    rank = Rank(API, nodes=3)
    assert rank.call("gaspi_group_create", OUT) == ["*('out',)+0 = 1", "return 0"]
    for member in (0, 2):
        rank.call("gaspi_group_add", 1, member)
    rank.call("gaspi_group_commit", 1, BLOCK)
    assert rank.call("gaspi_group_size", 1, OUT) == ["*('out',)+0 = 2", "return 0"]
    assert rank.call("gaspi_group_ranks", 1, OUT) == ["*('out',)+0 = 0", "*('out',)+2 = 2", "return 0"]
    assert all(line.startswith("await_add(0, ") for line in rank.call("gaspi_barrier", 1, BLOCK)[:-1])
    with pytest.raises(Refused, match="no group 2"):
        rank.call("gaspi_barrier", 2, BLOCK)


def test_an_allreduction_gathers_from_all() -> None:
    found = lowered(API, "gaspi_allreduce", variable("x"), OUT, 1, 2, 0, 0, BLOCK)
    (commands,) = found
    assert (
        "barrier(gaspi_allreduce of 1)" in commands
        and commands[-1] == "return 0"
        and commands[-2].startswith("*('out',)+0 = ")
    )


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gaspi_allreduce", (OUT, OUT, 1, 9, 0, 0, BLOCK), "reduction"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(Refused, match=message):
        lowered(API, name, *arguments, state=SEGMENT)


def test_passive_messages_come_from_anyone() -> None:
    send = lowered(API, "gaspi_passive_send", 0, 0, 1, 4, BLOCK, state=SEGMENT)
    assert send[0][0] == "message <- mem[gaspi_0+0]" and len(send) == 1
    receive = lowered(API, "gaspi_passive_receive", 0, 0, OUT, 4, BLOCK, state=SEGMENT)
    assert len(receive) == 2
    for sender, found in enumerate(receive):
        assert found[-2:] == [f"*('out',)+0 = {sender}", "return 0"]
