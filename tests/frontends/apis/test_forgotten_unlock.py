"""A lock that nobody releases is found in every API, and the line in which a rank tries to take it for ever."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.render.verdict_json import to_json

SHMEM = """#include <shmem.h>
static int lock, serving, flag;
int main(void)
{
    shmem_init();
    TAKE
    RELEASE
    shmem_finalize();
    return 0;
}
"""

MPI = """#include <mpi.h>
int main(int argc, char **argv)
{
    int *base, one = 1, zero = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    base[0] = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    TAKE
    RELEASE
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
"""

GASPI = """#include <GASPI.h>
int main(int argc, char *argv[])
{
    gaspi_rank_t rank;
    gaspi_atomic_value_t old;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&rank);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    TAKE
    RELEASE
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
"""

ARMCI = """#include <stdlib.h>
#include <armci.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    int me, nproc, mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nproc);
    ARMCI_Init();
    void **base = malloc(nproc * sizeof *base);
    ARMCI_Malloc(base, 2 * sizeof(int));
    int *cells = base[me];
    cells[0] = 0;
    ARMCI_Barrier();
    TAKE
    RELEASE
    ARMCI_Barrier();
    ARMCI_Free(cells);
    free(base);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
"""

LOCKS = {
    "openshmem compare_swap": (
        SHMEM,
        "while (shmem_int_atomic_compare_swap(&lock, 0, 1, 0) != 0);",
        "shmem_int_atomic_set(&lock, 0, 0);",
    ),
    "openshmem swap": (
        SHMEM, "while (shmem_int_atomic_swap(&lock, 1, 0) == 1);", "shmem_int_atomic_set(&lock, 0, 0);",
    ),
    "openshmem ticket": (
        SHMEM,
        "int mine = shmem_int_atomic_fetch_inc(&lock, 0); while (shmem_int_atomic_fetch(&serving, 0) != mine);",
        "shmem_int_atomic_inc(&serving, 0);",
    ),
    "openshmem flag": (
        SHMEM, "while (!shmem_int_atomic_fetch(&flag, 0)) IF;", "",
    ),
    "mpi compare_and_swap": (
        MPI,
        "while (1) { int old; MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 0, 0, win); MPI_Win_flush(0, win);"
        " if (old == 0) break; }",
        "MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win); MPI_Win_flush(0, win);",
    ),
    "mpi fetch_and_op": (
        MPI,
        "int old = 1; while (old) { MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_REPLACE, win);"
        " MPI_Win_flush(0, win); }",
        "MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win); MPI_Win_flush(0, win);",
    ),
    "gaspi compare_swap": (
        GASPI,
        "do gaspi_atomic_compare_swap(0, 0, 0, 0, rank + 1, &old, GASPI_BLOCK); while (old != 0);",
        "gaspi_atomic_compare_swap(0, 0, 0, rank + 1, 0, &old, GASPI_BLOCK);",
    ),
    "gaspi ticket": (
        GASPI,
        "gaspi_atomic_value_t mine; gaspi_atomic_fetch_add(0, 0, 0, 1, &mine, GASPI_BLOCK);"
        " do gaspi_atomic_fetch_add(0, 8, 0, 0, &old, GASPI_BLOCK); while (old != mine);",
        "gaspi_atomic_fetch_add(0, 8, 0, 1, &old, GASPI_BLOCK);",
    ),
    "armci swap": (
        ARMCI,
        "do { mine = 1; ARMCI_Rmw(ARMCI_SWAP, &mine, base[0], 1, 0); } while (mine == 1);",
        "mine = 0; ARMCI_Rmw(ARMCI_SWAP, &mine, base[0], 1, 0);",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_that_nobody_releases_is_a_deadlock(name: str) -> None:
    text, take, release = LOCKS[name]
    line = 1 + text[: text.index("TAKE")].count("\n")
    forgotten = text.replace("TAKE", take.replace(" IF", "")).replace("RELEASE", "")
    verdict = check(parse_c(forgotten), 2)
    assert verdict.deadlock is True, verdict.reason
    found = to_json(verdict)
    run = found["deadlock_run"]
    assert run is not None and found["deadlock_kind"] == "spins"
    spinning = [rank["loop"][0]["line"] for rank in run["standing"] if rank.get("loop")]
    assert spinning and set(spinning) == {line}
    if release:
        released = text.replace("TAKE", take).replace("RELEASE", release)
        assert check(parse_c(released), 2).deadlock is False
