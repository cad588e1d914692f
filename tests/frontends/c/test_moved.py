"""Numbers that collectives move: sizes and counts that the root, or every rank, gives are known on all ranks behind."""

from __future__ import annotations

import pytest

from pgasrob import SourceError, check
from pgasrob.frontends.lower import parse_c

MPI = """#include <mpi.h>
#include <stdlib.h>
#include <assert.h>
#define W MPI_COMM_WORLD
int main(int argc, char **argv) {
    int rank, size, n = 0, at = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
    NUMBER
    int *memory = malloc(n * sizeof(int));
    MPI_Win window;
    MPI_Win_create(memory, n * sizeof(int), sizeof(int), MPI_INFO_NULL, W, &window);
    MPI_Win_fence(0, window);
    int one = 1;
    if (rank == 0) MPI_Put(&one, 1, MPI_INT, 1, n - 1, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
"""
SHMEM = """#include <shmem.h>
#include <stdlib.h>
#include <assert.h>
static long pSync[SHMEM_REDUCE_SYNC_SIZE], counts[8], mine;
static int source, n, pWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
int main(void) {
    shmem_init();
    int rank = shmem_my_pe(), size = shmem_n_pes();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    NUMBER
    int *memory = shmem_malloc(n * sizeof(int));
    shmem_int_p(memory + n - 1, 1, (rank + 1) % size);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
"""
KNOWN = {
    "a broadcast": (MPI, "if (rank == 0) n = 4; MPI_Bcast(&n, 1, MPI_INT, 0, W);"),
    "from the last rank": (MPI, "if (rank == size - 1) n = 4; MPI_Bcast(&n, 1, MPI_INT, size - 1, W);"),
    "the same everywhere": (MPI, "n = 4; MPI_Bcast(&n, 1, MPI_INT, 0, W);"),
    "several broadcasts": (
        MPI,
        """
        int m = 0, k = 0; if (rank == 0) { n = 4; m = 2; k = 7; } MPI_Bcast(&m, 1, MPI_INT, 0, W);
        MPI_Bcast(&k, 1, MPI_INT, 0, W); MPI_Bcast(&n, 1, MPI_INT, 0, W); n = n + m + k; assert(n == 13);""",
    ),
    "more than there are cells for": (
        MPI,
        """int k = 0; for (int i = 1; i < 12; i++) { if (rank == 0) k = i;
        MPI_Bcast(&k, 1, MPI_INT, 0, W); n += k; } assert(n == 66);""",
    ),
    "ints of a struct": (
        MPI,
        """struct { int a, b[2]; } p = {0, {0, 0}}; if (rank == 0) { p.a = 1; p.b[1] = 3; }
        MPI_Bcast(&p, 3, MPI_INT, 0, W); n = p.a + p.b[1];""",
    ),
    "a greatest": (
        MPI,
        "int mine = 2 + rank; MPI_Allreduce(&mine, &n, 1, MPI_INT, MPI_MAX, W); assert(n == size + 1);",
    ),
    "a sum": (
        MPI,
        "int mine = 2 + rank; MPI_Allreduce(&mine, &n, 1, MPI_INT, MPI_SUM, W); assert(n == (size == 2 ? 5 : 9));",
    ),
    "the third of three": (
        MPI,
        """int some[3] = {5 + rank, 6, 2 + rank}; for (int i = 0; i < 3; i++)
        MPI_Allreduce(&some[i], &n, 1, MPI_INT, MPI_MAX, W); assert(n == size + 1);""",
    ),
    "gathered": (
        MPI,
        """int mine = 2 + rank, all[8]; MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, W);
        for (int i = 0; i < size; i++) n += all[i]; assert(n == (size == 2 ? 5 : 9));""",
    ),
    "a scan": (MPI, "int mine = 2; MPI_Scan(&mine, &n, 1, MPI_INT, MPI_SUM, W); assert(n == 2 + 2 * rank);"),
    "scattered": (
        MPI,
        """int all[8]; if (rank == 0) for (int i = 0; i < size; i++) all[i] = 2 + i;
        MPI_Scatter(all, 1, MPI_INT, &n, 1, MPI_INT, 0, W); assert(n == 2 + rank);""",
    ),
    "reduced and broadcast": (
        MPI,
        """int mine = 2; MPI_Reduce(&mine, &n, 1, MPI_INT, MPI_SUM, 0, W);
        MPI_Bcast(&n, 1, MPI_INT, 0, W);""",
    ),
    "a greatest of OpenSHMEM": (
        SHMEM,
        """source = rank + 2;
        shmem_int_max_to_all(&n, &source, 1, 0, 0, size, pWrk, pSync);""",
    ),
    "a team's sum": (SHMEM, "source = 2; shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &n, &source, 1);"),
}
OPEN = {
    "from memory that others set": (
        MPI,
        """
        static int there; MPI_Win w; MPI_Win_create(&there, 4, 4, MPI_INFO_NULL, W, &w);
        MPI_Win_fence(0, w); int four = 4; if (rank == 1) MPI_Put(&four, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
        MPI_Win_fence(0, w); MPI_Bcast(&there, 1, MPI_INT, 0, W); n = there;""",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_number_that_is_moved_is_known(name: str) -> None:
    template, number = KNOWN[name]
    for nodes in (2, 3):
        found = check(parse_c(template.replace("NUMBER", number)), nodes)
        assert (found.verdict, found.deadlock, found.faults) == ("robust", False, "none"), nodes
        assert found.assertions != "violated", nodes


@pytest.mark.parametrize("name", OPEN)
def test_another_is_not(name: str) -> None:
    template, number = OPEN[name]
    with pytest.raises(SourceError, match="not known here"):
        parse_c(template.replace("NUMBER", number)).program(2)
