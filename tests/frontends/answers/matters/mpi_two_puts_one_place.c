// nodes: 3
// Ranks 1 and 2 put into one place of rank 0 in one epoch.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_fence(0, win);
    if (me > 0)
#ifdef REPAIRED
        MPI_Put(&me, 1, MPI_INT, 0, me, 1, MPI_INT, win);
#else
        MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
#endif
    MPI_Win_fence(0, win);
    if (me == 0)
        printf("%d %d\n", mine[0], mine[1]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
