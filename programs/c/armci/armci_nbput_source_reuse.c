// expect: not robust
// nodes: 2
// races: 1 pair
// The source of a nonblocking put is read some time after the call: store of 2 -> ARMCI_NbPut by the conflict on the
// source, ARMCI_NbPut -> store by program order.
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

  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  cells[0] = 1;
  ARMCI_NbPut(cells, (int *) base[right] + 1, sizeof(int), right, &handle);
  cells[0] = 2;
  ARMCI_Barrier();
  printf("%d from %d\n", cells[1], left);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
