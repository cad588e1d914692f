// expect: robust
// nodes: 2
// races: none
// One vector put carries two pieces to one process and a blocking get brings them back after the fence: put -> fence ->
// get.
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

  int source[2] = {1, 2}, back[2];
  void *from[2] = {&source[0], &source[1]};
  void *to[2] = {(int *) base[right] + 4, (int *) base[right] + 6};
  armci_giov_t vector;
  vector.src_ptr_array = from;
  vector.dst_ptr_array = to;
  vector.bytes = sizeof(int);
  vector.ptr_array_len = 2;
  ARMCI_PutV(&vector, 1, right);
  ARMCI_Fence(right);
  ARMCI_Get((int *) base[right] + 4, &back[0], sizeof(int), right);
  ARMCI_Get((int *) base[right] + 6, &back[1], sizeof(int), right);
  assert(back[0] == 1 && back[1] == 2 && left < nproc && cells[0] == 0);

  ARMCI_Free(base[me]);
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
