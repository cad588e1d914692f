// nodes: 3
// Processes 1 and 2 put into one place of process 0.
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
    ARMCI_Barrier();
    if (me > 0)
#ifdef REPAIRED
        ARMCI_Put(&me, &base[0][me], sizeof(int), 0);
#else
        ARMCI_Put(&me, &base[0][0], sizeof(int), 0);
#endif
    ARMCI_Barrier();
    if (me == 0)
        printf("%d %d\n", base[0][0], base[0][1]);
    ARMCI_Barrier();
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
