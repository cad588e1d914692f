"""GASNet, `rma`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.call_steps import NotAllowed
from pgasrob.frontends.apis.gasnet import API
from pgasrob.frontends.apis.gasnet.header import NOT_READY
from pgasrob.frontends.c.values import Handle
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    Refused,
    lowered,
    variable,
)

HERE, THERE, OUT = variable("x"), variable("y", 8, owner=1), variable("out")

FIRST = Handle("gasnet.handle", (0,))

GIVES = f"return {FIRST}"

WRITTEN = ["write(x+0, 1, y+8, blocking)", "wait(blocking)"]

READ = ["read(x+0, 1, y+8, blocking)", "wait(blocking)"]

SET = ["update(set, 7, 1, y+8, blocking) as plain", "wait(blocking)"]

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
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


def test_a_value_with_a_handle_arrives_in_a_cell() -> None:
    rank = Rank(API)
    handle = Handle("gasnet.valget", (0, 4))
    assert rank.call("gasnet_get_nb_val", 1, THERE, 4) == ["read(value_0+0, 1, y+8, handle_0)", f"return {handle}"]
    assert rank.call("gasnet_wait_syncnb_valget", handle) == [
        "wait(handle_0)",
        "value <- mem[value_0+0]",
        "return ucast32(value)",
    ]
    with pytest.raises(NotAllowed, match="has been waited for"):
        rank.call("gasnet_wait_syncnb_valget", handle)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gasnet_put", (0, THERE, HERE, 4), "not an address of rank"),
        ("gasnet_put", (1, THERE, THERE, 4), "an address of rank 1"),
        ("gasnet_put_val", (1, THERE, 7, 3), "3 bytes"),
        ("gasnet_memset", (1, THERE, 7, 4), "not 0"),
        ("gasnet_end_nbi_accessregion", (), "no access region"),
        ("gasnet_wait_syncnb", (5,), "not a known handle"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises((NotAllowed, Refused), match=message):
        lowered(API, name, *arguments)
