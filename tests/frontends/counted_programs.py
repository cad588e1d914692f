"""C programs that are meant for some numbers of nodes, for `test_fitting_counts.py`: size checks of many forms in every
API, and programs that look as if they had one."""

from __future__ import annotations

from typing import NamedTuple


class Counted(NamedTuple):
    """A program: ``chosen`` is the number of nodes that it is put on, and ``why`` and ``text`` say why 2 are not
    enough; both None where they are."""

    text: str
    chosen: int
    why: str | None
    at: str | None


MPI = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {{
    int me, n, in = 0, one = 1;
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    {check}
    MPI_Win_create(&in, sizeof in, sizeof in, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_fence(0, w);
    {body}
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}}
"""
PUT = "MPI_Put(&one, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, w);"
SHMEM = """#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#define LEAVE(text) do {{ fprintf(stderr, "%s\\n", text); shmem_global_exit(3); }} while (0)
int x, y;
{before}
int main(void) {{
    int one = 1;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    {check}
    {body}
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}}
"""
SHMEM_PUT = "shmem_int_p(&x, one, (me + 1) % n);"


def mpi(check: str, body: str = PUT) -> str:
    """A program with MPI with this size ``check`` and ``body``."""
    return MPI.format(check=check, body=body)


def shmem(check: str, body: str = SHMEM_PUT, before: str = "") -> str:
    """The same with OpenSHMEM, and something ``before`` its `main`."""
    return SHMEM.format(check=check, body=body, before=before)


PROGRAMS = {
    "not equal, MPI_Abort": Counted(mpi("if (n != 3) MPI_Abort(MPI_COMM_WORLD, 1);"), 3, "leaves", "n != 3"),
    "less, exit": Counted(mpi("if (n < 4) exit(1);"), 4, "leaves", "n < 4"),
    "odd is needed": Counted(mpi("if (n % 2 == 0) { MPI_Finalize(); return 1; }"), 3, "leaves", "n % 2 == 0"),
    "rank 0 says why": Counted(
        mpi('if (n != 5) { if (me == 0) printf("5 processes\\n"); MPI_Finalize(); exit(0); }'), 5, "leaves", "n != 5"
    ),
    "rank 0 ends all before a collective": Counted(
        mpi("if (me == 0 && n < 3) MPI_Abort(MPI_COMM_WORLD, 2);"), 3, "error", None
    ),
    "rank 0 ends all": Counted(shmem("if (me == 0 && n < 3) shmem_global_exit(2);"), 3, "leaves", "n < 3"),
    "a message of several lines": Counted(
        shmem('if (n != 3) { for (int i = 0; i < 2; i++) printf("%d\\n", n + i); return 2; }'), 3, "leaves", "n != 3"
    ),
    "behind a broadcast": Counted(
        mpi("MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD); if (n != 3) MPI_Abort(MPI_COMM_WORLD, 1);"),
        3, "leaves", "n != 3",
    ),
    "behind a barrier": Counted(
        mpi("MPI_Barrier(MPI_COMM_WORLD); if (n <= 2) { MPI_Finalize(); return 0; }"), 3, "leaves", "n <= 2"
    ),
    "a rank by number": Counted(
        mpi("", "if (me == 0) MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, w);"), 3, "error", None
    ),
    "all in an if": Counted(mpi("if (n == 4) {", PUT + " }" ), 2, None, None)._replace(
        text=mpi("if (n == 4) { int t = 0;", PUT).replace("MPI_Finalize();", "} MPI_Finalize();"),
        chosen=4, why="silent", at="n == 4",
    ),
    "only from rank 2 on": Counted(
        mpi("for (int i = 0; i < 2; i++) rand();", "if (me >= 2) MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, w);"),
        3, "silent", "MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, w)",
    ),
    "eight": Counted(shmem("if (n != 8) exit(1);"), 8, "leaves", "n != 8"),
    "one of two failures, behind a broadcast": Counted(
        mpi("MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD); if (n < 3) { if (rand() % 2) exit(1); exit(2); }"),
        3, "leaves", "n < 3",
    ),
    "a macro": Counted(shmem('if (n != 3) LEAVE("no");'), 3, "leaves", "n != 3"),
    "a helper": Counted(
        shmem("need(n, 6);", before="static void need(int n, int k) { if (n != k) exit(EXIT_FAILURE); }"),
        6, "leaves", "n != k",
    ),
    "a switch": Counted(
        shmem("switch (n) { case 5: case 7: break; default: shmem_global_exit(1); }"), 5, "leaves", "case 5"
    ),
    "a power of two": Counted(
        shmem("int p = 1; while (p < n) p *= 2; if (p != n || n < 4) shmem_global_exit(1);"), 4, "leaves", "n < 4"
    ),
    "a square": Counted(
        shmem("int q = 1; while (q * q < n) q++; if (q * q != n) { shmem_finalize(); return 1; }"),
        4, "leaves", "q * q != n",
    ),
    "an assertion": Counted(shmem("assert(n == 3);"), 3, "asserts", "assert(n == 3)"),
    "a rank that is not there": Counted(
        shmem("", "if (me == 0) shmem_int_p(&y, one, 3);"), 4, "names", "shmem_int_p(&y, one, 3)"
    ),
    "neighbours of a chain": Counted(
        shmem("", "if (me > 0 && me < n - 1) shmem_int_p(&x, one, me + 1);"), 3, "silent", "me < n - 1"
    ),
    # not of this kind
    "more are needed than there are": Counted(shmem("if (n < 2) shmem_global_exit(1);"), 2, None, None),
    "a phase for more": Counted(
        shmem("", SHMEM_PUT + " shmem_barrier_all(); if (n == 2) { shmem_finalize(); return 0; }"
               " shmem_int_p(&y, 1, 2);"),
        2, None, None,
    ),
    "no count is right": Counted(shmem("", "shmem_int_p(&x, one, n);"), 2, None, None),
    "a bug at the end": Counted(shmem("", "if (me == 1) shmem_int_p(&x, one, me + n);"), 2, None, None),
    "no communication": Counted(shmem("", "x = me;"), 2, None, None),
    "a status at the end": Counted(shmem("", SHMEM_PUT).replace("return 0;\n}", "exit(n == 2);\n}"), 2, None, None),
    "another status at the end": Counted(
        shmem("", SHMEM_PUT).replace("return 0;\n}", "return n == 2 ? 1 : 0;\n}"), 2, None, None
    ),
    "an exit at the end": Counted(
        shmem("", SHMEM_PUT).replace("return 0;\n}", "if (n != 2) return 0;\n exit(1);\n}"), 2, None, None
    ),
    "an exit before a phase for more": Counted(
        shmem("", SHMEM_PUT + " shmem_barrier_all(); if (n == 2) exit(0); shmem_int_p(&y, 1, 2);"), 2, None, None
    ),
    "rank 0 leaves the others alone": Counted(shmem("if (me == 0 && n < 3) exit(1);"), 2, None, None),
    "data leaves": Counted(
        shmem("", SHMEM_PUT + " shmem_barrier_all(); if (x != 7) shmem_global_exit(1);"), 2, None, None
    ),
    "an assertion that fails everywhere": Counted(shmem("assert(n == 0);"), 2, None, None),
    "an assertion behind a put": Counted(shmem("", SHMEM_PUT + " assert(n == 3);"), 2, None, None),
    "two algorithms": Counted(
        shmem("", "if (n == 2) { shmem_int_p(&x, one, 1 - me); shmem_barrier_all(); exit(1); } " + SHMEM_PUT),
        2, None, None,
    ),
    "GASPI": Counted(
        """#include <GASPI.h>
#include <stdlib.h>
int main(void) {
    gaspi_rank_t me, n;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&me);
    gaspi_proc_num(&n);
    if (n != 3) { gaspi_proc_term(GASPI_BLOCK); return EXIT_FAILURE; }
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_write(0, 0, (me + 1) % n, 0, 8, 8, 0, GASPI_BLOCK);
    gaspi_wait(0, GASPI_BLOCK);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
""", 3, "leaves", "n != 3",
    ),
    "ARMCI": Counted(
        """#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    void *at[8];
    double one = 1;
    armci_msg_init(&argc, &argv);
    int me = armci_msg_me(), n = armci_msg_nproc();
    ARMCI_Init();
    if (n < 3 || n > 8) ARMCI_Error("3 to 8 processes", n);
    ARMCI_Malloc(at, sizeof(double));
    ARMCI_Put(&one, at[(me + 1) % n], sizeof one, (me + 1) % n);
    ARMCI_AllFence();
    armci_msg_barrier();
    ARMCI_Finalize();
    armci_msg_finalize();
    return 0;
}
""", 3, "leaves", "n < 3",
    ),
    "GASNet": Counted(
        """#include <gasnet.h>
int main(int argc, char **argv) {
    int one = 1;
    gasnet_init(&argc, &argv);
    gasnet_attach(0, 0, 4096, 0);
    gasnet_seginfo_t s[8];
    gasnet_getSegmentInfo(s, 8);
    int me = gasnet_mynode(), n = gasnet_nodes();
    if (n & (n - 1) || n == 2) gasnet_exit(1);
    gasnet_put((me + 1) % n, s[(me + 1) % n].addr, &one, sizeof one);
    gasnet_barrier_notify(0, 0);
    gasnet_barrier_wait(0, 0);
    gasnet_exit(0);
}
""", 4, "leaves", "n == 2",
    ),
}  # fmt: skip
