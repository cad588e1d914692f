// nodes: 2
// The handle holds anything when it is used first.
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
    armci_hdl_t handle;
#ifdef REPAIRED
    ARMCI_INIT_HANDLE(&handle);
#endif
    if (me == 1) {
        ARMCI_NbPut(&value, base[0], sizeof(int), 0, &handle);
        ARMCI_Wait(&handle);
    }
    ARMCI_Barrier();
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
