// expect: robust
// nodes: 2
// races: none
// The wait for a get means that the data is there. Neighbours are asked while nobody changes anything.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, got[2], x;
    MPI_Win win;
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    x = 10 * rank;
    MPI_Win_create(&x, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Rget(&got[0], 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win, &requests[0]);
    MPI_Rget(&got[1], 1, MPI_INT, (rank + size - 1) % size, 0, 1, MPI_INT, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    printf("%d %d\n", got[0], got[1]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
