// expect: robust
// expect with failed polls counted: not robust
// nodes: 2
// races: none
// As poll_fetch_and_op with a get: flag and get are of one word. put -> flush -> put of the flag -> get -> load. Counted:
// get (rank 0) -> put of its flag (rank 1) -> get (rank 1) -> put of its flag (rank 0) -> get (rank 0).
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
    int peer = 1 - rank, one = 1, seen;
    MPI_Put(&one, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
    MPI_Win_flush(peer, win);
    MPI_Put(&one, 1, MPI_INT, peer, 1, 1, MPI_INT, win);
    do {
        MPI_Get(&seen, 1, MPI_INT, rank, 1, 1, MPI_INT, win);
        MPI_Win_flush(rank, win);
    } while (seen == 0);
    printf("%d: %d of %d\n", rank, shared[0], size);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
