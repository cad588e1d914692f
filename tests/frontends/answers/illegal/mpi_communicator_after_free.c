// nodes: 2
// The barrier is on a communicator that has been freed.
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm copy;
    (void)value;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
#ifdef REPAIRED
    MPI_Barrier(copy);
#endif
    MPI_Comm_free(&copy);
#ifndef REPAIRED
    MPI_Barrier(copy);
#endif
    MPI_Finalize();
    return 0;
}
