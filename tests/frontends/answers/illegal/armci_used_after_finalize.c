// nodes: 2
// ARMCI is finalised before its memory is given back.
#include <armci.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, *base[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ARMCI_Init();
    ARMCI_Malloc((void **)base, sizeof(int));
#ifndef REPAIRED
    ARMCI_Finalize();
#endif
    ARMCI_Free(base[me]);
#ifdef REPAIRED
    ARMCI_Finalize();
#endif
    MPI_Finalize();
    return 0;
}
