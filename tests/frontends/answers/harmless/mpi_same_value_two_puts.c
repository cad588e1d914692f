// nodes: 3
// Both put 9 into one place.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    int nine = 9;
    MPI_Win_fence(0, win);
    if (me > 0)
        MPI_Put(&nine, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (me == 0)
        printf("%d\n", mine[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
