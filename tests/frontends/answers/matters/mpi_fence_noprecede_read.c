// nodes: 2
// The fence at the beginning need not be a barrier, so rank 1 may have put its value or not when rank 0 looks.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    int one = 1;
    mine[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (me == 1)
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
#ifdef REPAIRED
    MPI_Win_fence(0, win);
#endif
    if (me == 0)
        printf("%d\n", mine[0]);
#ifndef REPAIRED
    MPI_Win_fence(0, win);
#endif
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
