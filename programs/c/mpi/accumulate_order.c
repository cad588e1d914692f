// expect: robust
// nodes: 2
// races: none
// Accumulates of one origin to one place come in program order, also without a flush.
#include <assert.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, five = 5, two = 2, x = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Accumulate(&five, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Accumulate(&two, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    if (rank == 1)
        assert(x == 7);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
