// expect: robust
// nodes: 2
// races: none
// Read, add and write under an exclusive lock; the flush brings the value before it is used.
#include <assert.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, value, total = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&total, sizeof total, sizeof total, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    value++;
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        assert(total == size);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
