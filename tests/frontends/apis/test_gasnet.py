"""GASNet 1.8 and GASNet-EX: what every call lowers to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gasnet import API
from pgasrob.frontends.apis.gasnet.header import DEFER, GROUP, LOCAL, NOT_READY, NOW, PUTS
from pgasrob.frontends.c.values import Handle, Known
from pgasrob.frontends.c.writer import UNDISTURBED
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    RecordedCall,
    Refused,
    World,
    lowered,
    outcomes,
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
    ("gasnet_init", (None, None), ["return 0"]),
    ("gasnet_attach", (None, 0, 4096, 0), ["barrier(gasnet_attach)", "return 0"]),
    ("gasnet_attach", (OUT, 2, 4096, 0), ["barrier(gasnet_attach)", "return 0"]),
    ("gasnet_hsl_lock", (OUT,), ["return 0"]),
    ("gasnet_mynode", (), ["return 0"]),
    ("gasnet_nodes", (), ["return 2"]),
    ("gasnet_exit", (0,), ["exit", "end"]),
    ("gasnet_AMPoll", (), ["return 0"]),
    ("gasnet_put", (1, THERE, HERE, 4), WRITTEN),
    ("gasnet_put_bulk", (1, THERE, HERE, 4), WRITTEN),
    ("gasnet_get", (HERE, 1, THERE, 4), READ),
    ("gasnet_put_nb", (1, THERE, HERE, 4), ["put(x+0, 1, y+8, handle_0)", GIVES]),
    ("gasnet_put_nb_bulk", (1, THERE, HERE, 4), ["write(x+0, 1, y+8, handle_0)", GIVES]),
    ("gasnet_get_nb", (HERE, 1, THERE, 4), ["read(x+0, 1, y+8, handle_0)", GIVES]),
    ("gasnet_put_nbi", (1, THERE, HERE, 4), ["put(x+0, 1, y+8, implicit_puts)"]),
    ("gasnet_put_nbi_bulk", (1, THERE, HERE, 4), ["write(x+0, 1, y+8, implicit_puts)"]),
    ("gasnet_get_nbi_bulk", (HERE, 1, THERE, 4), ["read(x+0, 1, y+8, implicit_gets)"]),
    ("gasnet_put_val", (1, THERE, 7, 4), SET),
    ("gasnet_put_nb_val", (1, THERE, 2**64 - 1, 4), ["update(set, -1, 1, y+8, handle_0) as plain", GIVES]),
    ("gasnet_put_nbi_val", (1, THERE, 7, 4), ["update(set, 7, 1, y+8, implicit_puts) as plain"]),
    ("gasnet_get_val", (1, THERE, 4), ["value <- fetch(1, y+8) as plain", "return ucast32(value)"]),
    ("gasnet_memset", (1, THERE, 0, 8), [
        "update(set, 0, 1, y+8, blocking) as plain",
        "update(set, 0, 1, y+12, blocking) as plain",
        "wait(blocking)",
    ]),
    ("gasnet_wait_syncnb", (0,), []),
    ("gasnet_wait_syncnbi_all", (), ["return 0"]),
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


def test_every_handle_has_a_queue_until_it_is_complete() -> None:
    rank = Rank(API)
    for number in range(2):
        assert rank.call("gasnet_put_nb", 1, THERE, HERE, 4)[0] == f"put(x+0, 1, y+8, handle_{number})"
    assert rank.call("gasnet_try_syncnb", FIRST, outcome=1) == [f"return {NOT_READY}"]
    assert rank.call("gasnet_wait_syncnb", FIRST) == ["wait(handle_0)"]
    assert rank.call("gasnet_put_nb", 1, THERE, HERE, 4)[0] == "put(x+0, 1, y+8, handle_0)"


def test_the_implicit_sets_are_two() -> None:
    rank = Rank(API)
    rank.call("gasnet_put_nbi", 1, THERE, HERE, 4)
    rank.call("gasnet_get_nbi", HERE, 1, THERE, 4)
    assert rank.call("gasnet_wait_syncnbi_gets") == ["wait(implicit_gets)", "return 0"]
    assert rank.call("gasnet_try_syncnbi_all", outcome=1) == [f"return {NOT_READY}"]
    assert rank.call("gasnet_wait_syncnbi_all") == ["wait(implicit_puts)", "return 0"]
    assert rank.call("gasnet_try_syncnbi_all") == ["return 0"]


def test_an_access_region_is_one_handle() -> None:
    rank = Rank(API)
    rank.call("gasnet_begin_nbi_accessregion")
    assert rank.call("gasnet_put_nbi", 1, THERE, HERE, 4) == ["put(x+0, 1, y+8, handle_0)"]
    assert rank.call("gasnet_end_nbi_accessregion") == [GIVES]
    assert rank.call("gasnet_wait_syncnbi_all") == ["return 0"]
    assert rank.call("gasnet_wait_syncnb", FIRST) == ["wait(handle_0)"]


def test_lists_of_handles() -> None:
    rank = Rank(API)
    for place in range(2):
        rank.call("gasnet_put_nb", 1, THERE, HERE, 4)
        rank.world.contents[variable("h", 8 * place)] = Handle("gasnet.handle", (place,))
    rank.world.contents[variable("h", 16)] = Known(0)
    call = RecordedCall("gasnet_wait_syncnb_some", (variable("h"), 3), state=rank.state, world=rank.world)
    assert len(outcomes(API, call)) == 3  # the first, the second, both
    assert rank.call("gasnet_wait_syncnb_some", variable("h"), 3, outcome=1) == [
        "wait(handle_1)",
        "*('h',)+8 = 0",
        "return 0",
    ]
    assert rank.call("gasnet_wait_syncnb_all", variable("h"), 3)[0] == "wait(handle_0)"


def test_a_barrier_whose_halves_are_together() -> None:
    rank = Rank(API)
    assert rank.call("gasnet_barrier_notify", 0, 1) == []
    assert rank.call("gasnet_barrier_wait", 0, 1) == ["barrier(gasnet_barrier)", "return 0"]
    assert not rank.world.published


def test_a_barrier_with_something_between_its_halves() -> None:
    """It is told to all, and the machine runs again."""
    rank = Rank(API)
    rank.call("gasnet_barrier_notify", 0, 1)
    rank.state[UNDISTURBED] = False
    rank.call("gasnet_barrier_wait", 0, 1)
    assert rank.world.published == {(0, "gasnet.split"): True}
    again = Rank(API)
    again.world = rank.world
    assert [line.split("(")[0] for line in again.call("gasnet_barrier_notify", 0, 1)] == ["await_add"]
    assert [line.split("(")[0] for line in again.call("gasnet_barrier_wait", 0, 1)] == ["await", "return 0"]


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


def test_any_set_of_handles_may_be_complete() -> None:
    rank = Rank(API)
    for place in range(3):
        rank.call("gasnet_put_nb", 1, THERE, HERE, 4)
        rank.world.contents[variable("h", 8 * place)] = Handle("gasnet.handle", (place,))
    call = RecordedCall("gasnet_wait_syncnb_some", (variable("h"), 3), state=rank.state, world=rank.world)
    assert sorted(len(outcome.stores) for outcome in outcomes(API, call)) == [1, 1, 1, 2, 2, 2, 3]
    call = RecordedCall("gasnet_wait_syncnb_some", (variable("h"), 9), state=rank.state, world=rank.world)
    for place in range(9):
        rank.world.contents[variable("h", 8 * place)] = Handle("gasnet.handle", (place,))
    with pytest.raises(Refused, match="any set"):
        outcomes(API, call)


def test_a_value_with_a_handle_arrives_in_a_cell() -> None:
    rank = Rank(API)
    handle = Handle("gasnet.valget", (0, 4))
    assert rank.call("gasnet_get_nb_val", 1, THERE, 4) == ["read(value_0+0, 1, y+8, handle_0)", f"return {handle}"]
    assert rank.call("gasnet_wait_syncnb_valget", handle) == [
        "wait(handle_0)",
        "value <- mem[value_0+0]",
        "return ucast32(value)",
    ]
    with pytest.raises(Refused, match="before"):
        rank.call("gasnet_wait_syncnb_valget", handle)


def test_a_barrier_of_the_team_is_an_event() -> None:
    rank = Rank(API)
    (result,) = rank.call("gex_Coll_BarrierNB", TEAM, 0)
    assert result == f"return {Handle('gasnet.barrier')}"
    assert rank.call("gex_Event_Wait", Handle("gasnet.barrier")) == ["barrier(gasnet_barrier)"]


def test_segments_of_all_ranks() -> None:
    rank = Rank(API)
    rank.call("gasnet_attach", None, 0, 4096, 0)
    rank.world.published[1, "gasnet.size"] = 8192
    assert rank.call("gasnet_getSegmentInfo", variable("table"), 2) == [
        "*('table',)+0 = &('gasnet', 'segment')+0",
        "*('table',)+8 = 4096",
        "*('table',)+16 = &('gasnet', 'segment')+0 of 1",
        "*('table',)+24 = 8192",
        "return 0",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gasnet_put", (0, THERE, HERE, 4), "no address of rank"),
        ("gasnet_put", (1, THERE, THERE, 4), "an address of rank 1"),
        ("gasnet_put_val", (1, THERE, 7, 3), "3 bytes"),
        ("gasnet_memset", (1, THERE, 7, 4), "not 0"),
        ("gasnet_barrier_wait", (0, 1), "not been notified"),
        ("gasnet_end_nbi_accessregion", (), "no access region"),
        ("gasnet_wait_syncnb", (5,), "no known handle"),
        ("gex_RMA_PutNBI", (TEAM, 1, THERE, HERE, 4, OUT, 0), "local side"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(Refused, match=message):
        lowered(API, name, *arguments)


def test_an_aligned_segment_has_the_same_address_everywhere() -> None:
    world = World()
    assert lowered(API, "gasnet_put", 1, variable("y"), HERE, 4, world=world)[0][0] == "write(x+0, 1, y+0, blocking)"
