// nodes: 2
// wrong
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int *b;
    MPI_Win w;
    MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &w);
    memset(b, 0, 16);
    MPI_Win_fence(0, w);
    char r[6] = {0};
    b[0] = me;
    b[1] = me;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    if (me == 0) { MPI_Get(r, 6, MPI_BYTE, 1, 0, 6, MPI_BYTE, w); printf("%d %d", r[0], r[4]); } MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
