// expect: robust
// nodes: 2
// synchronised: yes
// races: none
// The put goes to the peer, which has posted its window.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, *shared, one = 1;
    MPI_Win win;
    MPI_Group world, peers;
    int peer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    peer = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &peers);
    MPI_Win_post(peers, 0, win);
    MPI_Win_start(peers, 0, win);
    MPI_Put(&one, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    printf("%d\n", shared[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
