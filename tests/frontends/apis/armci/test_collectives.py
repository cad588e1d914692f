"""ARMCI, `collectives`: what calls lower to."""

from __future__ import annotations

from pgasrob.frontends.apis.armci import API
from pgasrob.frontends.c.values import Known
from tests.frontends.apis.recorder import World, lowered, variable

HERE, THERE = variable("x"), variable("y", 8, owner=1)
"""A buffer here and an address of process 1."""


def test_collectives() -> None:
    world = World(contents={variable("op"): Known(ord("+")), variable("op", 1): Known(0), HERE: Known(3)})
    (sums,) = lowered(API, "armci_msg_igop", HERE, 1, variable("op"), world=world)
    assert "barrier(armci_msg_igop of 1)" in sums and sums[-1].startswith("*('x',)+0 = ")
    (root,) = lowered(API, "armci_msg_bcast", HERE, 4, 0)
    assert root[0] == "data <- mem[x+0]" and not any(line.startswith("await_add") for line in root)
    (other,) = lowered(API, "armci_msg_bcast", HERE, 4, 0, rank=1)
    assert other[-1] == "mem[x+0] <- message"
