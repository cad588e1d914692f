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
    double *b;
    MPI_Win w;
    MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &w);
    b[0] = b[1] = 0;
    MPI_Win_fence(0, w);
    double v = 1.0;
    if (me == 0) MPI_Put(&v, 8, MPI_CHAR, 1, 8, 8, MPI_CHAR, w);
    MPI_Win_fence(0, w);
    if (me == 1) assert(b[1] == 1.0);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
