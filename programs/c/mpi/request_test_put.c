// expect: not robust
// nodes: 2
// races: 1 pair
// A test of the request of a put says that it is complete at the origin; the message may come before the data.
// load -> put -> test -> send -> receive -> load.
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
    int peer = 1 - rank, item = 10 + rank, done = 0, got;
    MPI_Request request;
    MPI_Rput(&item, 1, MPI_INT, peer, 0, 1, MPI_INT, win, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&item, 1, MPI_INT, peer, 0, &got, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d: %d of %d\n", rank, shared[0], size);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
