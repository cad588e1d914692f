"""How often the machine runs all ranks: once to learn, once to write, and again only where the first tells it less; and
how often it begins anew since some do other things than the others."""

from __future__ import annotations

import pytest

from pgasrob.frontends.c import driver
from pgasrob.frontends.lower import CProgram, load_c, parse_c
from pgasrob.program.corpus import corpus

PASSES = {
    "openshmem/put_quiet_get.c": (2, 0),
    "openshmem/broadcast.c": (2, 0),
    "openshmem/mcs_lock.c": (2, 0),
    "mpi/lock_exclusive.c": (2, 0),
    "mpi/message_passing_flush.c": (2, 0),
    "mpi/collectives.c": (2, 0),
    "gaspi/gaspi_lock.c": (2, 0),
    "armci/armci_token_ring.c": (2, 0),
}


WINDOWS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, errors = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int count = 1; count <= 128; count *= 2) {
    int *to; MPI_Win window;
    int *from = malloc(count * sizeof(int));
    MPI_Win_allocate(count * size * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &to, &window);
    for (int i = 0; i < count; i++) from[i] = rank * count + i;
    MPI_Win_fence(0, window);
    for (int t = 0; t < size; t++)
      MPI_Put(from, count, MPI_INT, t, rank * count, count, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < size * count; i++)
      if (to[i] != i && ++errors < 10) printf("error at %d\\n", i);
    MPI_Win_free(&window);
    free(from);
  }
  MPI_Finalize();
  return errors;
}
"""


def passes_of(program: CProgram, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many passes there are until ``program`` is lowered on its default number of nodes, and how many more have
    begun and parted ranks."""
    begun, done, one_pass = [], [], driver._one_pass

    def noted(world: driver.World, version: int) -> object:
        begun.append(version)
        processes = one_pass(world, version)
        done.append(version)
        return processes

    monkeypatch.setattr(driver, "_one_pass", noted)
    program.program()
    return len(done), len(begun) - len(done)


@pytest.mark.parametrize("path", PASSES)
def test_passes(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes_of(load_c(corpus() / "c" / path), monkeypatch) == PASSES[path]


def test_a_rank_that_begins_anew_does_not_keep_the_others_from_their_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rank 1 publishes of its windows is what rank 0 needs to come to the next ones. Loops are first kept
    soon, then late and not at all."""
    assert passes_of(parse_c(WINDOWS), monkeypatch) == (12, 2)
