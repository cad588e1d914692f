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
    MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &w);
    memset(b, 0, 16);
    MPI_Win_fence(0, w);
    short s[4] = {1, 2, 3, 4};
    if (me == 0) MPI_Put(s, 4, MPI_SHORT, 1, 1, 4, MPI_SHORT, w);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) printf("%d", b[1]);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
