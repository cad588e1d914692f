// expect: not robust
// nodes: 2
// races: 2 pairs
// ARMCI_Unlock promises no fence: the next holder may get the counter before the put has arrived, and an update is
// lost. get (next holder) -> put -> unlock -> lock -> get.
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

  int value;
  ARMCI_Create_mutexes(1);
  ARMCI_Lock(0, 0);
  ARMCI_Get(base[0], &value, sizeof(int), 0);
  value++;
  ARMCI_Put(&value, base[0], sizeof(int), 0);
  ARMCI_Unlock(0, 0);
  ARMCI_Barrier();
  assert(me > 0 || cells[0] == nproc);
  ARMCI_Destroy_mutexes();

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
