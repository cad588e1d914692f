// expect: robust
// nodes: 2
// races: none
// Every rank puts its row as a column into the others, one strided put for each, and completes them before the barrier:
// put -> ARMCI_Barrier -> load.
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

  int row[2] = {10 * me, 10 * me + 1};
  int from_stride[1] = {sizeof(int)}, to_stride[1] = {2 * sizeof(int)}, count[2] = {sizeof(int), 2};
  for (int p = 0; p < nproc; p++)
    ARMCI_PutS(row, from_stride, (int *) base[p] + me, to_stride, count, 1, p);
  ARMCI_Barrier();
  for (int p = 0; p < nproc; p++)
    assert(cells[p] == 10 * p && cells[2 + p] == 10 * p + 1);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
