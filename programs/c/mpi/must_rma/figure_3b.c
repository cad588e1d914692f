// expect: not robust
// nodes: 2
// races: 1 pair
// A put and a get use one buffer at the same time (Schwitanski et al. 2022, Figures 3b and 5b).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, buf = 0, x[2] = {0, 0};
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(x, sizeof x, sizeof x[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        buf = 42;
        MPI_Put(&buf, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Get(&buf, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    printf("%d %d\n", buf, x[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
