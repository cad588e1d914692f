// expect: not robust
// nodes: 2
// races: 1 pair
// Message passing with MPI_Put: nothing orders two puts of one epoch, and the flag may overtake the data.
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, data = 42, flag = 1, seen = 0, *cells;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    cells[0] = cells[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    if (rank == 0) {
        MPI_Put(&data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Put(&flag, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    } else if (rank == 1) {
        while (*(volatile int *)&cells[1] == 0)
            MPI_Win_sync(win);
        MPI_Win_sync(win);
        seen = cells[0];
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return seen;
}
