"""GASNet, `barriers`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.call_steps import NotAllowed
from pgasrob.frontends.apis.gasnet import API
from pgasrob.frontends.c.writer import UNDISTURBED
from tests.frontends.apis.recorder import (
    Argument,
    Rank,
    Refused,
    lowered,
)


def test_a_barrier_whose_halves_are_together() -> None:
    rank = Rank(API)
    assert rank.call("gasnet_barrier_notify", 0, 1) == []
    assert rank.call("gasnet_barrier_wait", 0, 1) == ["barrier(gasnet_barrier)", "return 0"]
    assert (0, "gasnet.split") not in rank.world.published


def test_a_barrier_with_something_between_its_halves() -> None:
    """It is told to all, and the machine runs again."""
    rank = Rank(API)
    rank.call("gasnet_barrier_notify", 0, 1)
    rank.state[UNDISTURBED] = False
    rank.call("gasnet_barrier_wait", 0, 1)
    assert rank.world.published[0, "gasnet.split"] is True
    again = Rank(API)
    again.world = rank.world
    assert [line.split("(")[0] for line in again.call("gasnet_barrier_notify", 0, 1)] == ["await_add"]
    assert [line.split("(")[0] for line in again.call("gasnet_barrier_wait", 0, 1)] == ["await", "return 0"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gasnet_barrier_wait", (0, 1), "not been notified"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises((NotAllowed, Refused), match=message):
        lowered(API, name, *arguments)
