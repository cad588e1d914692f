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
    "bytes": (
        MPI,
        """struct { int a; double d; char c; long b[2]; } p = {0, 0, 0, {0, 0}};
        if (rank == 0) { p.a = 1; p.b[1] = 3; p.c = 5; }
        MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, W); n = p.a + p.b[1]; assert(p.c == 5 && p.d == 0);""",
    ),
    "bytes that are looked at later": (
        MPI,
        """struct { int a; char c[3]; long b; } p, q; for (int i = 0; i < sizeof p; i++) ((char *) &p)[i] = 0;
        if (rank == 0) { p.a = 4; p.b = -1; } MPI_Bcast(&p, sizeof p, MPI_CHAR, 0, W);
        n = p.a; q = p; assert(q.b == -1 && q.c[1] == 0);""",
    ),
    "a broadcast of OpenSHMEM": (
        SHMEM,
        """if (rank == 0) source = 4; shmem_broadcast32(&n, &source, 1, 0, 0, 0, size, pSync);
        if (rank == 0) n = source;""",
    ),
    "a broadcast of 64 bits": (
        SHMEM,
        """if (rank == 0) mine = 4; shmem_broadcast64(counts, &mine, 1, 0, 0, 0, size, pSync);
        n = rank ? counts[0] : mine;""",
    ),
    "a broadcast to a team": (
        SHMEM,
        """static int a[3], b[3]; if (rank == size - 1) { a[0] = 1; a[1] = rank; a[2] = 4; }
        shmem_int_broadcast(SHMEM_TEAM_WORLD, b, a, 3, size - 1); n = b[0] + b[2]; assert(b[1] == size - 1);""",
    ),
    "a broadcast in place": (SHMEM, "if (rank == 0) n = 4; shmem_int_broadcast(SHMEM_TEAM_WORLD, &n, &n, 1, 0);"),
    "a broadcast of a struct": (
        SHMEM,
        """static struct { int a; long b; } p, q; if (rank == 0) { p.a = 1; p.b = 3; }
        shmem_broadcastmem(SHMEM_TEAM_WORLD, &q, &p, sizeof p, 0); n = q.a + q.b;""",
    ),
    "collected by all": (
        SHMEM,
        """for (int k = 1; k < 3; k++) { mine = k + rank; shmem_fcollect64(counts, &mine, 1, 0, 0, size, pSync); }
        for (int i = 0; i < size; i++) n += counts[i]; assert(n == (size == 2 ? 5 : 9));""",
    ),
    "collected by a team": (
        SHMEM,
        """mine = 2 + rank; shmem_long_collect(SHMEM_TEAM_WORLD, counts, &mine, 1);
        for (int i = 0; i < size; i++) n += counts[i]; assert(n == (size == 2 ? 5 : 9));""",
    ),
    "from all to all": (
        SHMEM,
        """static int a[4] = {2, 2, 2, 2}, b[4]; shmem_int_alltoall(SHMEM_TEAM_WORLD, b, a, 1); n = b[1];""",
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
    "one number after the other": (
        SHMEM,
        """for (int i = 1; i < 3; i++) { if (rank == 0) source = i; shmem_barrier_all();
        shmem_int_broadcast(SHMEM_TEAM_WORLD, &n, &source, 1, 0); shmem_barrier_all(); }""",
    ),
    "another number before": (
        SHMEM,
        "n = 1; if (rank == 0) source = 4; shmem_int_broadcast(SHMEM_TEAM_WORLD, &n, &source, 1, 0);",
    ),
    "another number is put later": (
        SHMEM,
        """if (rank == 0) source = 4; shmem_int_broadcast(SHMEM_TEAM_WORLD, &n, &source, 1, 0);
        shmem_barrier_all(); if (rank == 0) shmem_int_p(&n, 5, 1); shmem_barrier_all();""",
    ),
    "another number is put somewhere": (
        SHMEM,
        """static int b[4]; if (rank == 0) source = 4; shmem_int_broadcast(SHMEM_TEAM_WORLD, b, &source, 1, 0);
        shmem_barrier_all(); shmem_int_p(b + source % 3, 5, 1); shmem_barrier_all(); n = b[0];""",
    ),
    "added to": (
        SHMEM,
        """if (rank == 0) source = 4; shmem_int_broadcast(SHMEM_TEAM_WORLD, &n, &source, 1, 0);
        shmem_barrier_all(); shmem_int_atomic_add(&n, 0, 1); shmem_barrier_all();""",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_number_that_is_moved_is_known(name: str) -> None:
    template, number = KNOWN[name]
    for nodes in (2, 3):
        found = check(parse_c(template.replace("NUMBER", number)), nodes, effect=False)
        assert (found.verdict, found.deadlock, found.faults) == ("robust", False, "none"), nodes
        assert found.assertions != "violated", nodes


def test_what_is_read_before_it_arrives_is_not_known() -> None:
    number = """if (rank == 0) source = 4; shmem_barrier_all(); int before = BEFORE;
        shmem_int_broadcast(SHMEM_TEAM_WORLD, &n, &source, 1, 0); assert(before == 0);"""
    found = check(parse_c(SHMEM.replace("NUMBER", number.replace("BEFORE", "n"))), 2)
    assert (found.verdict, found.assertions) == ("robust", "violated")
    found = check(parse_c(SHMEM.replace("NUMBER", number.replace("BEFORE", "0"))), 2)
    assert found.assertions != "violated"


@pytest.mark.parametrize("name", OPEN)
def test_another_is_not(name: str) -> None:
    template, number = OPEN[name]
    with pytest.raises(SourceError, match="not known here"):
        parse_c(template.replace("NUMBER", number)).program(2)
