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
    float *b;
    MPI_Win w;
    MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &w);
    b[0] = b[1] = 0.3f;
    MPI_Win_fence(0, w);
    float v = 0.1f * (me + 1);
    MPI_Accumulate(&v, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_SUM, w);
    MPI_Win_fence(0, w);
    printf("%g", b[0]);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
