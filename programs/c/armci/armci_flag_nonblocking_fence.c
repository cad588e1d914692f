// expect: robust
// nodes: 2
// races: none
// The data are complete on the other side before the flag is put: ARMCI_NbPut -> ARMCI_Fence -> put of the flag -> load
// of the flag -> load.
#include <armci.h>
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
  int me, nproc;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);
  ARMCI_Init();
  void **base = malloc(nproc * sizeof *base);
  ARMCI_Malloc(base, 8 * sizeof(int));
  int *cells = base[me];

  if (me == 0) {
    int data = 42, flag = 1;
    ARMCI_NbPut(&data, (int *) base[1] + 2, sizeof(int), 1, NULL);
    ARMCI_WaitProc(1);
    ARMCI_Fence(1);
    ARMCI_Put(&flag, (int *) base[1] + 3, sizeof(int), 1);
  } else if (me == 1) {
    volatile int *flag = cells + 3;
    while (*flag == 0)
      ;
    assert(cells[2] == 42);
  }
  ARMCI_Barrier();

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
