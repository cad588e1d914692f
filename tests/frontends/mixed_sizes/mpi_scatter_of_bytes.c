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
    int v[2] = {5, 6}, r = 0;
    MPI_Scatter(v, 4, MPI_CHAR, &r, 4, MPI_CHAR, 0, MPI_COMM_WORLD);
    assert(r == 5 + me);
    MPI_Finalize();
    return 0;
}
