"""ARMCI, `ordering`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.armci import API
from pgasrob.frontends.apis.armci.ordering import MUTEXES
from pgasrob.frontends.apis.call_steps import NotAllowed
from tests.frontends.apis.recorder import Argument, Rank, Refused, lowered, variable

HERE, THERE = variable("x"), variable("y", 8, owner=1)
"""A buffer here and an address of process 1."""

HANDLE, OUT = variable("handle"), variable("out")

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("ARMCI_Rmw", (0, OUT, THERE, 3, 1), [
        "old <- fetch_add(1, y+8, 3) as int by rmw",
        "*('out',)+0 = old",
        "return 0",
    ]),
    ("ARMCI_Rmw", (3, OUT, THERE, 0, 1), [
        "value <- mem[out+0]",
        "old <- swap(1, y+8, value) as long by rmw",
        "*('out',)+0 = old",
        "return 0",
    ]),
    ("ARMCI_Lock", (2, 1), ["await_add(1, mem[mutex 2+0] == 0, 1)"]),
    ("ARMCI_Create_mutexes", (3,), ["return 0"]),
    ("armci_notify", (1,), ["notify_all(add, 1, 1, notification by 0+0, fifo_notify_1)"]),
    ("armci_notify_wait", (1, None), ["await_add(0, mem[notification by 1+0] > 0, -1)"]),
    ("armci_msg_barrier", (), ["barrier(armci_msg_barrier)"]),
    ("ARMCI_Barrier", (), ["barrier(ARMCI_Barrier)"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments, state={MUTEXES: 3}) == [expected]


def test_waits_are_local_and_fences_wait_for_puts() -> None:
    rank = Rank(API)
    rank.call("ARMCI_Put", HERE, THERE, 4, 1)
    rank.call("ARMCI_NbPut", HERE, THERE, 4, 1, HANDLE)
    rank.call("ARMCI_NbGet", THERE, HERE, 4, 1, HANDLE)
    rank.call("ARMCI_NbPut", HERE, THERE, 4, 1, None)
    handle = "handle_global_handle_0"
    assert rank.call("ARMCI_Wait", HANDLE) == [
        f"wait_local({handle}_get_to_1)",
        f"wait_local({handle}_put_to_1)",
        "return 0",
    ]
    assert rank.call("ARMCI_Wait", HANDLE) == ["return 0"]
    assert rank.call("ARMCI_WaitAll") == ["wait_local(implicit_put_to_1)", "return 0"]
    assert rank.call("ARMCI_Fence", 0) == []
    assert rank.call("ARMCI_Barrier") == [
        f"wait({handle}_put_to_1)",
        "wait(implicit_put_to_1)",
        "wait(put_to_1)",
        "barrier(ARMCI_Barrier)",
    ]
    assert rank.call("ARMCI_AllFence") == []


def test_a_fence_takes_no_notice_of_gets() -> None:
    rank = Rank(API)
    rank.call("ARMCI_NbGet", THERE, HERE, 4, 1, None)
    assert rank.call("ARMCI_Fence", 1) == []
    assert rank.call("ARMCI_WaitProc", 0) == ["return 0"]
    assert rank.call("ARMCI_WaitProc", 1) == ["wait_local(implicit_get_to_1)", "return 0"]


def test_a_test_gives_0_when_complete() -> None:
    rank = Rank(API)
    rank.call("ARMCI_NbPut", HERE, THERE, 4, 1, HANDLE)
    assert rank.call("ARMCI_Test", HANDLE, outcome=1) == ["return 1"]
    assert rank.call("ARMCI_Test", HANDLE) == ["wait_local(handle_global_handle_0_put_to_1)", "return 0"]
    assert lowered(API, "ARMCI_Test", HANDLE) == [["return 0"]]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("ARMCI_Rmw", (7, OUT, THERE, 1, 1), "no operation"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises((NotAllowed, Refused), match=message):
        lowered(API, name, *arguments)


def test_a_mutex_is_given_back_by_who_has_locked_it() -> None:
    rank = Rank(API)
    with pytest.raises(NotAllowed, match="no mutexes"):
        rank.call("ARMCI_Lock", 2, 1)
    rank.call("ARMCI_Create_mutexes", 3)
    rank.call("ARMCI_Lock", 2, 1)
    assert rank.call("ARMCI_Unlock", 2, 1) == ["mutex <- fetch_add(1, mutex 2+0, -1)"]
    with pytest.raises(NotAllowed, match="not locked"):
        rank.call("ARMCI_Unlock", 2, 1)
    rank.call("ARMCI_Lock", 2, 1)
    with pytest.raises(NotAllowed, match="not locked"):
        rank.call("ARMCI_Unlock", 2, 0)
