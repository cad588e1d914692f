// expect: robust
// nodes: 2
// races: none
// Tasks are drawn with a fetch-and-add, which is blocking, and the results go to cells of their own, complete before
// the barrier.
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

  int task;
  for (;;) {
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &task, base[0], 1, 0);
    if (task >= 3)
      break;
    for (int i = 0; i < 3; i++)
      if (task == i)
        ARMCI_PutValueInt(10 * i, (int *) base[0] + 1 + i, 0);
  }
  ARMCI_Barrier();
  assert(me > 0 || cells[1] + cells[2] + cells[3] == 30);
  if (nproc > 1000)
    cells[0] = 0;

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
