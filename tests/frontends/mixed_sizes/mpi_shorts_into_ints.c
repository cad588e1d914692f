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
    MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &w);
    memset(b, 0, 16);
    MPI_Win_fence(0, w);
    short s[4] = {1, 2, 3, 4};
    if (me == 0) MPI_Put(s, 4, MPI_SHORT, 1, 1, 4, MPI_SHORT, w);
    MPI_Win_fence(0, w);
    if (me == 1) assert(b[1] == (2 << 16 | 1) && b[2] == (4 << 16 | 3));
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
