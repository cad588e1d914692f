// expect: robust
// nodes: 2
// races: none
// Where people go wrong, 2, repaired: ARMCI_Barrier fences all processes before it arrives, so every put is complete:
// put -> barrier -> load. The source may be changed at once, it has been captured.
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
  const int right = (me + 1) % nproc, left = (me + nproc - 1) % nproc;

  int value = me + 1;
  ARMCI_Put(&value, (int *) base[right] + 1, sizeof(int), right);
  value = 0;
  ARMCI_Barrier();
  assert(cells[1] == left + 1 && value == 0);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
