// nodes: 3
// Rank 1 puts what rank 2 gets, both with shared locks and nothing between them.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    int value = 5, seen = 0;
    if (me == 0)
        mine[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
#ifdef REPAIRED
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (me == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
        printf("%d\n", seen);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
