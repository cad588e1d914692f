// expect: robust
// nodes: 2
// races: none
// illegal: mpi-sync-unlocked
// unified: defined
// separate: defined
// Figure 7 (b) of Hoefler et al., 2014: a barrier orders what the processes do, win_sync and unlock the memory.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    int x = 5, v = 7;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 1) {
        x = 0;
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Get(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        printf("%d\n", v);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
