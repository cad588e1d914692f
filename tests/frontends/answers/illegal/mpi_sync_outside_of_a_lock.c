// nodes: 2
// shared-memory: all
// MPI_Win_sync, for the store in a shared window, is outside of an epoch of locks.
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, *mine;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
#ifdef REPAIRED
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
#endif
    *mine = me;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef REPAIRED
    MPI_Win_unlock_all(window);
#endif
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
