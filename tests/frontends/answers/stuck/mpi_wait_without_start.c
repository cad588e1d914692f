// nodes: 2
// Rank 0 waits for an access epoch that rank 1 does not make when it has nothing to send.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Group all, other;
    int peer = 1 - me, value = 3, nothing = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    if (me == 0) {
        mine[0] = 0;
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
        printf("%d\n", mine[0]);
    } else {
#ifndef REPAIRED
        if (!nothing)
#endif
        {
            MPI_Win_start(other, 0, win);
            if (!nothing)
                MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
