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
    double d = me ? 0 : 2.5;
    MPI_Bcast(&d, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    assert(d == 2.5);
    MPI_Finalize();
    return 0;
}
