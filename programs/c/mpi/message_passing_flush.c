// expect: robust
// nodes: 2
// races: none
// A flush completes the data at the target before the flag is put.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, *shared;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    shared[0] = shared[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    if (rank == 0) {
        int data = 42, flag = 1;
        MPI_Put(&data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        MPI_Put(&flag, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
    } else if (rank == 1) {
        volatile int *flag = &shared[1];
        while (*flag == 0)
            MPI_Win_sync(win);
        printf("%d\n", shared[0]);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
