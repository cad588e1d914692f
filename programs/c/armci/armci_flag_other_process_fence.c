// expect: robust
// nodes: 3
// races: none
// The data at 1 are complete before the flag goes to 2: put -> fence -> put of the flag -> load of the flag -> get.
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
    ARMCI_PutValueInt(42, (int *) base[1], 1);
    ARMCI_Fence(1);
    ARMCI_PutValueInt(1, (int *) base[2], 2);
  } else if (me == 2) {
    volatile int *flag = cells;
    int data;
    while (*flag == 0)
      ;
    ARMCI_Get(base[1], &data, sizeof(int), 1);
    assert(data == 42);
  }

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
