// expect: not robust
// nodes: 2
// races: 1 pair
// unified: undefined
// separate: undefined
// Figure 9 (a) of Hoefler et al., 2014: the result of a get is read before the get is complete.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    int y = 1, x = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&y, sizeof y, sizeof y, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Get(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        printf("%d\n", x);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
