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
    double *b;
    MPI_Win w;
    MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &w);
    b[0] = b[1] = 0;
    MPI_Win_fence(0, w);
    double v = 0.1;
    if (me == 1) MPI_Accumulate(&v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, w);
    else b[0] = 0.7;
    MPI_Win_fence(0, w);
    printf("%g", b[0]);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
