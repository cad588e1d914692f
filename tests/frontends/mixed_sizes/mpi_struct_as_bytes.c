// nodes: 2
// right
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
struct T { int a; double d; char c; };
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Datatype t;
    MPI_Type_contiguous(sizeof(struct T), MPI_BYTE, &t);
    MPI_Type_commit(&t);
    struct T v = {1, 0.5, 2}, r;
    if (me == 0) MPI_Send(&v, 1, t, 1, 0, MPI_COMM_WORLD);
    else if (me == 1) { MPI_Recv(&r, 1, t, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); assert(r.a == 1 && r.d == 0.5 && r.c == 2); }
    MPI_Finalize();
    return 0;
}
