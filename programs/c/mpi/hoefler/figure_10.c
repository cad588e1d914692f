// expect: robust
// nodes: 2
// races: 1 pair
// synchronised: no (race)
// unified: undefined
// separate: undefined
// Figure 10 of Hoefler et al., 2014: nothing orders the processes, so that the put may come together with the store.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    int x = 0, one = 1;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    } else {
        x = 2;
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
