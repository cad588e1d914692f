// expect: robust
// nodes: 2
// races: none
// Two messages are received when a test says that both are there. It may say no at any time, which depends on nothing.
// put -> flush -> send -> test -> load.
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
    int peer = 1 - rank, item = 10 + rank, done = 0, got[2];
    MPI_Request requests[2];
    MPI_Irecv(&got[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Put(&item, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
    MPI_Win_flush(peer, win);
    MPI_Send(&item, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
    MPI_Send(&item, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
    while (!done)
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    printf("%d: %d of %d\n", rank, shared[0], size);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
