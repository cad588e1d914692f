// expect: not robust
// nodes: 2
// races: 1 pair
// Two puts to one place may arrive in either order.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, five = 5, two = 2, x = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(&five, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Put(&two, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    if (rank == 1)
        printf("%d\n", x);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
