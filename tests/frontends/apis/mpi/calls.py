# ruff: noqa: E501
"""The program in which the tests of MPI make calls."""

from __future__ import annotations

from tests.frontends.apis.lowering import processes

PRELUDE = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int mem[4], x, y, a[4], b[4], flag; static double da[4], db[4]; static long l;
int main(int argc, char **argv) { int me, n; MPI_Win w, w2; MPI_Request r, rs[2]; MPI_Status st; MPI_Group g, g2; MPI_Comm c; MPI_Datatype t;
MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
%s
return 0; }"""


def lowered(call: str, nodes: int = 2) -> str:
    """What ``call`` becomes on rank 0, where all ranks are locked unless it begins epochs itself. Such a lock is no
    command as long as nobody locks exclusively."""
    if not any(each in call for each in ("MPI_Win_lock", "MPI_Win_fence", "MPI_Win_start", "MPI_Finalize")):
        call = f"MPI_Win_lock_all(0, w); {call}"
    return " ".join(processes(PRELUDE.replace("%s", call), nodes)[0])
