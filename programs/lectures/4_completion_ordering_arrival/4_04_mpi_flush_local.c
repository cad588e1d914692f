// expect: not robust
// nodes: 2
// races: 1 pair
// MPI_Win_flush_local completes the put at the origin: x may be used again. load -> put -> flush_local -> barrier ->
// load.
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
    MPI_Win_lock_all(0, win);
    MPI_Put(&x, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_flush_local_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    assert(y == 7);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
