// nodes: 2
// A ticket is drawn by ARMCI_Rmw while another process accumulates to the counter, which may be lost.
#include <stdio.h>
#include <mpi.h>
#include <armci.h>

int main(int argc, char **argv)
{
    int me, ticket = 0, one = 1;
    void *counter[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ARMCI_Init();
    ARMCI_Malloc(counter, sizeof(int));
    *(int *)counter[me] = 0;
    ARMCI_Barrier();
    if (me == 0)
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &ticket, counter[0], 1, 0);
    else
#ifdef REPAIRED
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &ticket, counter[0], 1, 0);
#else
        ARMCI_Acc(ARMCI_ACC_INT, &one, &one, counter[0], sizeof(int), 0);
#endif
    ARMCI_Barrier();
    if (me == 0)
        printf("%d\n", *(int *)counter[0]);
    ARMCI_Free(counter[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
