// nodes: 2
// A lock by MPI_Compare_and_swap that nobody releases.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    int free_ = 0, taken = 1, seen = 1;
    mine[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    do {
        MPI_Compare_and_swap(&taken, &free_, &seen, MPI_INT, 0, 0, win);
        MPI_Win_flush(0, win);
    } while (seen != 0);
#ifdef REPAIRED
    MPI_Accumulate(&free_, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
#endif
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
