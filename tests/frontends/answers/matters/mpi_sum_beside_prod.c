// nodes: 2
// One rank adds to what the other one multiplies: MPI does not promise that a sum and a product exclude each other.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    mine[0] = 1;
    MPI_Win_fence(0, win);
    int value = 2 + me;
    if (me == 0)
        MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
#ifdef REPAIRED
    MPI_Win_fence(0, win);
#endif
    if (me == 1)
        MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_PROD, win);
    MPI_Win_fence(0, win);
    if (me == 0)
        printf("%d\n", mine[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
