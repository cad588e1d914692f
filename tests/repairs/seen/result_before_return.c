// So does a rank that returns a failure.
// nodes: 2
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (me == 1) printf("result\n");
  MPI_Barrier(MPI_COMM_WORLD);  /* stays */
  if (me == 0) return 1;
  MPI_Finalize();
  return 0;
}
