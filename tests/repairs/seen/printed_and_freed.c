// The memory that is printed is freed behind it.
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
  int *x = malloc(sizeof(int));
  *x = 0;
  MPI_Win win;
  MPI_Win_create(x, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  if (me == 0) {
    int one = 1;
    MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(1, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);  /* stays */
  if (me == 1) printf("%d\n", *x);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(x);
  MPI_Finalize();
  return 0;
}
