"""GASNet, `gasnet_ex`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gasnet import API
from pgasrob.frontends.apis.gasnet.header import DEFER, GROUP, LOCAL, NOT_READY, NOW, PUTS
from pgasrob.frontends.c.values import Handle, Known
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    Refused,
    lowered,
    variable,
)

HERE, THERE, OUT = variable("x"), variable("y", 8, owner=1), variable("out")

TEAM = Handle("gasnet.TM")

FIRST = Handle("gasnet.handle", (0,))

GIVES = f"return {FIRST}"

WRITTEN = ["write(x+0, 1, y+8, blocking)", "wait(blocking)"]

READ = ["read(x+0, 1, y+8, blocking)", "wait(blocking)"]

SET = ["update(set, 7, 1, y+8, blocking) as plain", "wait(blocking)"]

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("gex_Client_Init", (OUT, OUT, OUT, OUT, None, None, 0), [
        *(f"*('out',)+0 = {Handle(f'gasnet.{kind}')}" for kind in ("Client", "EP", "TM")),
        "return 0",
    ]),
    ("gex_TM_QueryRank", (TEAM,), ["return 0"]),
    ("gex_TM_QuerySize", (TEAM,), ["return 2"]),
    ("gex_RMA_PutBlocking", (TEAM, 1, THERE, HERE, 4, 0), [*WRITTEN, "return 0"]),
    ("gex_RMA_GetBlocking", (TEAM, HERE, 1, THERE, 4, 0), [*READ, "return 0"]),
    ("gex_RMA_PutNB", (TEAM, 1, THERE, HERE, 4, NOW, 0), ["put(x+0, 1, y+8, handle_0)", GIVES]),
    ("gex_RMA_PutNB", (TEAM, 1, THERE, HERE, 4, DEFER, 0), ["write(x+0, 1, y+8, handle_0)", GIVES]),
    ("gex_RMA_PutNBI", (TEAM, 1, THERE, HERE, 4, NOW, 0), ["put(x+0, 1, y+8, implicit_puts)", "return 0"]),
    ("gex_RMA_PutNBI", (TEAM, 1, THERE, HERE, 4, GROUP, 0), ["write(x+0, 1, y+8, implicit_groups)", "return 0"]),
    ("gex_RMA_GetNB", (TEAM, HERE, 1, THERE, 4, 0), ["read(x+0, 1, y+8, handle_0)", GIVES]),
    ("gex_RMA_PutBlockingVal", (TEAM, 1, THERE, 7, 4, 0), [*SET, "return 0"]),
    ("gex_RMA_GetBlockingVal", (TEAM, 1, THERE, 4, 0), ["value <- fetch(1, y+8) as plain", "return ucast32(value)"]),
    ("gex_NBI_Wait", (PUTS, 0), ["return 0"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments) == [expected]


def test_a_local_event_waits_for_the_source() -> None:
    rank = Rank(API)
    assert rank.call("gex_RMA_PutNB", TEAM, 1, THERE, HERE, 4, OUT, 0) == [
        "write(x+0, 1, y+8, handle_0)",
        f"*('out',)+0 = {Handle('gasnet.leaf', (0,))}",
        GIVES,
    ]
    assert rank.call("gex_Event_Wait", Handle("gasnet.leaf", (0,))) == ["wait_local(handle_0)"]
    assert rank.call("gex_Event_Test", FIRST, outcome=1) == [f"return {NOT_READY}"]
    assert rank.call("gex_Event_Wait", FIRST) == ["wait(handle_0)"]
    assert rank.call("gex_Event_Wait", Known(0)) == []


def test_the_number_of_a_local_event_stays_taken_until_that_is_waited_for() -> None:
    rank = Rank(API)
    leaf = Handle("gasnet.leaf", (0,))
    rank.call("gex_RMA_PutNB", TEAM, 1, THERE, HERE, 4, OUT, 0)
    rank.call("gex_Event_Wait", FIRST)
    assert rank.call("gex_RMA_PutNB", TEAM, 1, THERE, HERE, 4, DEFER, 0)[0] == "write(x+0, 1, y+8, handle_1)"
    assert rank.call("gex_Event_Wait", leaf) == []
    assert rank.call("gex_RMA_PutNB", TEAM, 1, THERE, HERE, 4, DEFER, 0)[0] == "write(x+0, 1, y+8, handle_0)"


def test_the_local_side_of_implicit_puts_is_that_of_a_group() -> None:
    rank = Rank(API)
    rank.call("gex_RMA_PutNBI", TEAM, 1, THERE, HERE, 4, DEFER, 0)
    assert rank.call("gex_NBI_Wait", LOCAL, 0) == ["return 0"]
    rank.call("gex_RMA_PutNBI", TEAM, 1, THERE, HERE, 4, GROUP, 0)
    assert rank.call("gex_NBI_Wait", LOCAL, 0) == ["wait_local(implicit_groups)", "return 0"]
    assert rank.call("gex_NBI_Wait", PUTS, 0) == ["wait(implicit_groups)", "wait(implicit_puts)", "return 0"]


def test_a_barrier_of_the_team_is_an_event() -> None:
    rank = Rank(API)
    (result,) = rank.call("gex_Coll_BarrierNB", TEAM, 0)
    assert result == f"return {Handle('gasnet.barrier')}"
    assert rank.call("gex_Event_Wait", Handle("gasnet.barrier")) == ["barrier(gasnet_barrier)"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gex_RMA_PutNBI", (TEAM, 1, THERE, HERE, 4, OUT, 0), "local side"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(Refused, match=message):
        lowered(API, name, *arguments)
