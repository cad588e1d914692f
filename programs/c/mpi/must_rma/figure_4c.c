// expect: robust
// nodes: 3
// races: 1 pair
// synchronised: no (race)
// Two origins put to one place under shared locks (Schwitanski et al. 2022, Figure 4c).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, buf = 0, x = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        buf = rank == 0 ? 42 : 1;
        MPI_Put(&buf, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        printf("%d\n", x);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
