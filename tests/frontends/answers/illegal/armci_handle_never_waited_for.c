// nodes: 2
// Nobody waits for the put before the source goes out of scope.
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
    int value = 1;
    ARMCI_Barrier();
    if (me == 1) {
        ARMCI_INIT_HANDLE(&handle);
        ARMCI_NbPut(&value, &base[0][0], sizeof(int), 0, &handle);
#ifdef REPAIRED
        ARMCI_Wait(&handle);
#endif
    }
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
