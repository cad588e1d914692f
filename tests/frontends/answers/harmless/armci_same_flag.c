// nodes: 3
// Both raise the flag of process 0.
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
    int one = 1;
    ARMCI_Barrier();
    if (me > 0)
        ARMCI_Put(&one, &base[0][0], sizeof(int), 0);
    ARMCI_Barrier();
    if (me == 0)
        printf("%d\n", base[0][0]);
    ARMCI_Barrier();
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
