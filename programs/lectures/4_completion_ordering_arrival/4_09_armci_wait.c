// expect: not robust
// nodes: 2
// races: 1 pair
// ARMCI_Wait says that the source may be used again: load -> put -> wait -> barrier -> load.
#include <armci.h>
#include <assert.h>
#include <mpi.h>

int main(int argc, char *argv[])
{
    int me, nproc, x = 7;
    void *base[64];
    armci_hdl_t handle;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nproc);
    ARMCI_Init();
    ARMCI_Malloc(base, sizeof(int));
    int *y = base[me];
    const int right = (me + 1) % nproc;

    ARMCI_INIT_HANDLE(&handle);
    ARMCI_NbPut(&x, base[right], sizeof(int), right, &handle);
    ARMCI_Wait(&handle);
    armci_msg_barrier();
    assert(*y == 7);
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
