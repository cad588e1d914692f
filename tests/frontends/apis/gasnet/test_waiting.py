"""GASNet, `waiting`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gasnet import API
from pgasrob.frontends.c.values import Handle, Known
from tests.frontends.apis.recorder import (
    Rank,
    RecordedCall,
    Refused,
    outcomes,
    variable,
)

HERE, THERE, OUT = variable("x"), variable("y", 8, owner=1), variable("out")


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
