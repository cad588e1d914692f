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
    float v = 0.1f * (me + 1), s = 0;
    MPI_Allreduce(&v, &s, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    printf("%g", s);
    MPI_Finalize();
    return 0;
}
