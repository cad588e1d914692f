// nodes: 2
// Process 1 gives back a mutex that it does not hold.
#include <armci.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, *base[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ARMCI_Init();
    ARMCI_Malloc((void **)base, 4 * sizeof(int));
    ARMCI_Create_mutexes(1);
    ARMCI_Barrier();
#ifdef REPAIRED
    ARMCI_Lock(0, 0);
#endif
    if (me == 1)
        base[1][0] = 1;
#ifdef REPAIRED
    ARMCI_Unlock(0, 0);
#else
    if (me == 1)
        ARMCI_Unlock(0, 0);
#endif
    ARMCI_Barrier();
    ARMCI_Destroy_mutexes();
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
