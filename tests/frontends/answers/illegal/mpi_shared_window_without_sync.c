// nodes: 2
// shared-memory: all
// A barrier orders the store and the load of another rank, but MPI_Win_sync alone makes memory consistent.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, unit, *mine, *first;
    MPI_Aint size;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &first);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (me == 0)
        *mine = 7;
#ifdef REPAIRED
    MPI_Win_sync(window);
#endif
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef REPAIRED
    MPI_Win_sync(window);
#endif
    if (me == 1)
        printf("%d\n", *first);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
