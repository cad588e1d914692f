// nodes: 2
// The memory is given back twice.
#include <armci.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, *base[8], value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ARMCI_Init();
    ARMCI_Malloc((void **)base, 4 * sizeof(int));
    ARMCI_Barrier();
    (void)value;
    ARMCI_Free(base[me]);
#ifndef REPAIRED
    ARMCI_Free(base[me]);
#endif
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
