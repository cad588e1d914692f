// nodes: 2
// right
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
    int v = 0x01020304;
    if (me == 0) MPI_Put(&v, 1, MPI_INT, 1, 2, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    if (me == 1) assert(b[0] == 0x03040000 && b[1] == 0x0102);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
