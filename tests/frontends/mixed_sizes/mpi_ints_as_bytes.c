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
    int v[2] = {5, 6}, r[2];
    if (me == 0) MPI_Send(v, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (me == 1) { MPI_Recv(r, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); assert(r[0] == 5 && r[1] == 6); }
    MPI_Finalize();
    return 0;
}
