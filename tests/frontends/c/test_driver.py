"""How often the machine runs every rank: once to learn, once to write, and again only where the first tells it less."""

from __future__ import annotations

import pytest

from pgasrob.frontends.c import driver
from pgasrob.frontends.lower import load_c
from pgasrob.program.corpus import corpus

PASSES = {
    "openshmem/put_quiet_get.c": 2,
    "openshmem/broadcast.c": 2,
    "openshmem/mcs_lock.c": 2,
    "mpi/lock_exclusive.c": 2,
    "mpi/message_passing_flush.c": 3,
    "mpi/collectives.c": 2,
    "gaspi/gaspi_lock.c": 2,
    "armci/armci_token_ring.c": 2,
}


@pytest.mark.parametrize("path", PASSES)
def test_passes(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes, one_pass = [], driver._one_pass

    def noted(world: driver.World, version: int) -> object:
        passes.append(version)
        return one_pass(world, version)

    monkeypatch.setattr(driver, "_one_pass", noted)
    load_c(corpus() / "c" / path).program()
    assert len(passes) == PASSES[path]
