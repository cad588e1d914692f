"""GASPI, `setup`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.call_steps import NotAllowed
from pgasrob.frontends.apis.gaspi import API
from pgasrob.frontends.apis.gaspi.header import BLOCK
from pgasrob.frontends.c.values import Address, ObjectId
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    lowered,
    variable,
)

SEGMENT = {"gaspi.segments": ((0, 64), (1, 64))}

OUT = variable("out")

WRITE = (0, 0, 1, 1, 8, 8)
"""Eight bytes from the beginning of segment 0 to offset 8 of segment 1 of rank 1."""

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("gaspi_proc_init", (BLOCK,), ["return 0"]),
    ("gaspi_proc_term", (BLOCK,), ["return 0"]),
    ("gaspi_proc_rank", (OUT,), ["*('out',)+0 = 0", "return 0"]),
    ("gaspi_proc_num", (OUT,), ["*('out',)+0 = 2", "return 0"]),
    ("gaspi_segment_num", (OUT,), ["*('out',)+0 = 2", "return 0"]),
    ("gaspi_segment_register", (0, 1, BLOCK), ["return 0"]),
    ("gaspi_queue_size", (0, OUT), ["*('out',)+0 = 0", "return 0"]),
    ("gaspi_wait", (0, BLOCK), ["return 0"]),
    ("gaspi_printf", (Address(ObjectId("string", ("text",)), 0),), []),
]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments, state=SEGMENT) == [expected]


def test_waiting_is_local_and_for_what_was_posted() -> None:
    rank = Rank(API)
    rank.state |= SEGMENT
    rank.call("gaspi_write", *WRITE, 3, BLOCK)
    assert rank.call("gaspi_wait", 2, BLOCK) == ["return 0"]
    assert rank.call("gaspi_wait", 3, BLOCK) == ["wait_local(queue_3)", "return 0"]
    assert rank.call("gaspi_wait", 3, BLOCK) == ["return 0"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gaspi_wait", (0, 0)),
    ],
)
def test_a_timeout_may_pass(name: str, arguments: tuple[Argument, ...]) -> None:
    """And nothing has happened then."""
    done, passed = lowered(API, name, *arguments, state=SEGMENT)
    assert done[-1] == "return 0" and passed == ["return 1"]


def test_something_may_be_in_a_queue_or_nothing() -> None:
    rank = Rank(API)
    rank.state |= SEGMENT
    rank.call("gaspi_write", *WRITE, 0, BLOCK)
    sizes = [rank.call("gaspi_queue_size", 0, OUT, outcome=each)[0] for each in (0, 1)]
    assert sizes == ["*('out',)+0 = 0", "*('out',)+0 = 1"]
    rank.call("gaspi_wait", 0, BLOCK)
    assert rank.call("gaspi_queue_size", 0, OUT) == ["*('out',)+0 = 0", "return 0"]


def test_queues_are_created_after_those_that_are_there() -> None:
    rank = Rank(API)
    rank.state |= SEGMENT
    with pytest.raises(NotAllowed, match="queue 8: queues 0 to 7 are there"):
        rank.call("gaspi_write", *WRITE, 8, BLOCK)
    assert rank.call("gaspi_queue_create", OUT, BLOCK) == ["*('out',)+0 = 8", "return 0"]
    assert rank.call("gaspi_write", *WRITE, 8, BLOCK)[0] == "write(gaspi_0+0, 1, gaspi_1+8, queue_8)"
