// nodes: 2
// The memory of MPI_Win_allocate goes with its window.
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int *base;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
#ifdef REPAIRED
    value = base[0];
#endif
    MPI_Win_free(&window);
#ifndef REPAIRED
    value = base[0];
#endif
    MPI_Finalize();
    return 0;
}
