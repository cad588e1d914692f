"""GASNet, `setup`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gasnet import API
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    lowered,
    variable,
)

HERE, THERE, OUT = variable("x"), variable("y", 8, owner=1), variable("out")

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("gasnet_init", (None, None), ["return 0"]),
    ("gasnet_attach", (None, 0, 4096, 0), ["barrier(gasnet_attach)", "return 0"]),
    ("gasnet_attach", (OUT, 2, 4096, 0), ["barrier(gasnet_attach)", "return 0"]),
    ("gasnet_hsl_lock", (OUT,), ["return 0"]),
    ("gasnet_mynode", (), ["return 0"]),
    ("gasnet_nodes", (), ["return 2"]),
    ("gasnet_exit", (0,), ["exit", "end"]),
    ("gasnet_AMPoll", (), ["return 0"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments) == [expected]


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
