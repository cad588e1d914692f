// expect: not robust
// nodes: 2
// races: 1 pair
// Where people go wrong, 3: ARMCI_Wait says that the source may be used again, not that the put has arrived. load ->
// ARMCI_NbPut -> armci_msg_barrier -> load.
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
  int *source = ARMCI_Malloc_local(sizeof(int));
  *source = me + 1;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_NbPut(source, (int *) base[right] + 1, sizeof(int), right, &handle);
  ARMCI_Wait(&handle);
  armci_msg_barrier();
  assert(cells[1] == left + 1);
  ARMCI_Free_local(source);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
