"""Which slots are live."""

from __future__ import annotations

from pgasrob.frontends.c.code import LoopHead, Move
from pgasrob.frontends.c.liveness import live_slots
from tests.frontends.c.compiler.net import unit


def test_liveness() -> None:
    found = unit("int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }").functions["f"]
    live = live_slots(found)
    head = next(index for index, each in enumerate(found.code) if isinstance(each, LoopHead))
    assert {found.slots[slot].name for slot in live[head]} == {"n", "s"}
    assert live[0] == frozenset(found.parameters)
    assert not any(isinstance(each, Move) for each in found.code)
