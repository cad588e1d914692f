"""GASPI, `segments`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gaspi import API
from pgasrob.frontends.apis.gaspi.header import BLOCK
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
    ("gaspi_segment_ptr", (1, OUT), ["*('out',)+0 = &('gaspi', 1)+0", "return 0"]),
    ("gaspi_segment_size", (1, 0, OUT), ["*('out',)+0 = 64", "return 0"]),
    ("gaspi_segment_create", (2, 16, 0, BLOCK, 0), ["barrier(gaspi_segment_create)", "return 0"]),
    ("gaspi_segment_alloc", (2, 16, 0), ["return 0"]),
    ("gaspi_segment_use", (2, variable("x"), 16, 0, BLOCK, 0), ["barrier(gaspi_segment_use)", "return 0"]),
]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments, state=SEGMENT) == [expected]


def test_a_bound_segment_is_the_buffer() -> None:
    rank = Rank(API)
    rank.state |= SEGMENT
    rank.call("gaspi_segment_bind", 2, variable("x", 4), 16, 0)
    assert rank.call("gaspi_segment_ptr", 2, OUT) == ["*('out',)+0 = &('x',)+4", "return 0"]
    assert rank.call("gaspi_write", 2, 4, 1, 0, 0, 4, 0, BLOCK)[0] == "write(x+8, 1, gaspi_0+0, queue_0)"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gaspi_segment_create", (1, 8, 0, BLOCK, 0), "segment 1 exists already"),
        ("gaspi_segment_list", (1, None), "null pointer"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(Refused, match=message):
        lowered(API, name, *arguments, state=SEGMENT)
