// nodes: 2
// There is one mutex on each process, number 0.
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
    ARMCI_Create_mutexes(1);
#ifdef REPAIRED
    int mutex = 0;
#else
    int mutex = 1;
#endif
    ARMCI_Lock(mutex, 0);
    if (me == 1)
        ARMCI_Put(&value, base[0], sizeof(int), 0);
    ARMCI_Fence(0);
    ARMCI_Unlock(mutex, 0);
    ARMCI_Barrier();
    ARMCI_Destroy_mutexes();
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
