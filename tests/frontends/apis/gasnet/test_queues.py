"""GASNet, `queues`: what calls lower to."""

from __future__ import annotations

from pgasrob.frontends.apis.gasnet import API
from tests.frontends.apis.recorder import (
    World,
    lowered,
    variable,
)

HERE, THERE, OUT = variable("x"), variable("y", 8, owner=1), variable("out")


def test_an_aligned_segment_has_the_same_address_everywhere() -> None:
    world = World()
    assert lowered(API, "gasnet_put", 1, variable("y"), HERE, 4, world=world)[0][0] == "write(x+0, 1, y+0, blocking)"
