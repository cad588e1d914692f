// expect: robust
// nodes: 2
// races: none
// Accumulates of all ranks into one cell commute in value, and each is atomic. They are complete before the barrier:
// accumulate -> barrier -> load.
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

  int one = 1, mine = me + 1;
  ARMCI_Acc(ARMCI_ACC_INT, &one, &mine, base[0], sizeof(int), 0);
  ARMCI_Barrier();
  assert(me > 0 || cells[0] == nproc * (nproc + 1) / 2);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
