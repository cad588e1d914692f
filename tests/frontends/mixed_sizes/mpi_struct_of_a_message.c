// nodes: 2
// right
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
struct T { float f; int i; };
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    struct T t = {1.5f, 7};
    char s[8], r[8];
    memcpy(s, &t, 8);
    if (me == 0) MPI_Send(s, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (me == 1) { MPI_Recv(r, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); struct T u; memcpy(&u, r, 8); assert(u.f == 1.5f && u.i == 7); }
    MPI_Finalize();
    return 0;
}
