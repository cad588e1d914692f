// expect: robust
// nodes: 2
// races: none
// The second fence of MPI completes what its callers have issued, and nobody leaves it before all have come.
#include <assert.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, x = 7, y = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&y, sizeof y, sizeof y, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    assert(y == 7);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
