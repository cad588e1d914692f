// expect: robust
// nodes: 2
// races: none
// unified: defined
// separate: undefined
// Figure 12 of Hoefler et al., 2014: a notification, then get, flush and an answer. In the separate model the value need
// not be in the public copy.
#include <mpi.h>
#include <stdio.h>

#define STEPS 2

int main(int argc, char **argv)
{
    int rank;
    int x = 0, value = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int step = 0; step < STEPS; step++) {
        if (rank == 0) {
            x = step + 1;
            MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Win_flush(0, win);
            printf("%d\n", value);
            MPI_Win_unlock(0, win);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
