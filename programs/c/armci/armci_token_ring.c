// expect: robust
// nodes: 3
// races: none
// A token and a word of data go around: the data are put before the token, and blocking puts to one process are
// ordered. put -> put of the token -> load of the token -> load.
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

  volatile int *token = cells;
  if (me != 0)
    while (*token == 0)
      ;
  const int data = me == 0 ? 1 : cells[1] + 1;
  ARMCI_PutValueInt(data, (int *) base[right] + 1, right);
  ARMCI_PutValueInt(1, base[right], right);
  if (me == 0) {
    while (*token == 0)
      ;
    assert(cells[1] == nproc && left == nproc - 1);
  }

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
