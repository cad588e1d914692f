// Output of one rank on both sides, and other ranks that are silent.
// nodes: 3
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (me == 0) { printf("sizes: "); fflush(stdout); }
  MPI_Barrier(MPI_COMM_WORLD);  /* goes */
  if (me == 0) printf("%d\n", n);
  MPI_Finalize();
  return 0;
}
