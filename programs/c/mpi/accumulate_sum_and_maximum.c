// expect: not robust
// nodes: 2
// races: 1 pair
// As accumulate_histogram, but rank 1 takes maxima: a sum and a maximum conflict, and neither order of the bins is kept.
// accumulate to bin 1 (rank 0) -> to it (rank 1) -> to bin 0 (rank 1) -> to it (rank 0) -> to bin 1 (rank 0).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, *shared;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    shared[0] = shared[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    int one = 1;
    MPI_Op op = rank == 0 ? MPI_SUM : MPI_MAX;
    MPI_Accumulate(&one, 1, MPI_INT, 0, rank, 1, MPI_INT, op, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 1 - rank, 1, MPI_INT, op, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d %d of %d\n", shared[0], shared[1], size);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
