// expect: robust
// nodes: 2
// races: none
// armci_notify comes after all earlier calls to its process, whatever they were: put -> armci_notify ->
// armci_notify_wait -> load.
#include <armci.h>
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int armci_notify(int proc);
int armci_notify_wait(int proc, int *count);

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

  int count, value = me + 1;
  ARMCI_Put(&value, (int *) base[right] + 1, sizeof(int), right);
  ARMCI_NbPut(&value, (int *) base[right] + 2, sizeof(int), right, NULL);
  armci_notify(right);
  armci_notify_wait(left, &count);
  assert(cells[1] == left + 1 && cells[2] == left + 1);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
