// nodes: 2
// The handle of the first put is used for the second one before it has been waited for.
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
    armci_hdl_t handle;
    int values[2] = {1, 2};
    ARMCI_Barrier();
    if (me == 1) {
        ARMCI_INIT_HANDLE(&handle);
        ARMCI_NbPut(&values[0], &base[0][0], sizeof(int), 0, &handle);
#ifdef REPAIRED
        ARMCI_Wait(&handle);
        ARMCI_INIT_HANDLE(&handle);
#endif
        ARMCI_NbPut(&values[1], &base[0][1], sizeof(int), 0, &handle);
        ARMCI_Wait(&handle);
    }
    ARMCI_Barrier();
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
