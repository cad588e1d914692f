// nodes: 2
// A ticket lock whose holder does not pass it on.
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
    int ticket = 0, serving = -1, nothing = 0;
    ARMCI_Barrier();
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &ticket, &base[0][0], 1, 0);
    do {
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &serving, &base[0][1], 0, 0);
    } while (serving != ticket);
#ifdef REPAIRED
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &nothing, &base[0][1], 1, 0);
#endif
    (void)nothing;
    ARMCI_Barrier();
    ARMCI_Free(base[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
