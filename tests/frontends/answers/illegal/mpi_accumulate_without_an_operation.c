// nodes: 2
// MPI_NO_OP is for calls that fetch.
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
#ifdef REPAIRED
    MPI_Accumulate(&value, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, MPI_SUM, window);
#else
    MPI_Accumulate(&value, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, MPI_NO_OP, window);
#endif
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
