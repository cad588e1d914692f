// nodes: 2
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
/* two puts that do not wait bring two values */
int main(int argc, char **argv) {
    int me;
    MPI_Init(&argc, &argv);
    ARMCI_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    void *memory[2];
    ARMCI_Malloc(memory, 2 * sizeof(int));
    if (me == 1) {
        int five = 5, six = 6;
        armci_hdl_t one, two;
        ARMCI_INIT_HANDLE(&one);
        ARMCI_INIT_HANDLE(&two);
        ARMCI_NbPut(&five, memory[0], sizeof five, 0, &one);
        ARMCI_NbPut(&six, memory[0], sizeof six, 0, &two);
        ARMCI_Wait(&one);
        ARMCI_Wait(&two);
        ARMCI_Fence(0);
    }
    ARMCI_Barrier();
    if (me == 0) printf("%d\n", *(int *)memory[0]);
    ARMCI_Free(memory[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
