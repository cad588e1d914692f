// expect: not robust
// nodes: 2
// races: 1 pair
// Where people go wrong, 10: a blocking get waits for its own data only, and the put before it may arrive after the get
// has looked: get -> put by the conflict, put -> get by program order.
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

  int data = 0;
  ARMCI_PutValueInt(me + 1, (int *) base[right] + 1, right);
  ARMCI_Get((int *) base[right] + 1, &data, sizeof(int), right);
  assert(data == me + 1 && left < nproc && cells[0] == 0);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
