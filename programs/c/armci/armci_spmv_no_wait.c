// expect: not robust
// nodes: 2
// races: 3 pairs
// The product of armci_spmv.c without the wait for the gets: a row may be computed before its entries of x have come.
// load -> get by the conflict on the landing place, get -> load by program order.
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 4 /* of each process */
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define MOST_PROCESSES 64
#define IN_A_ROW 3

/* The rows of this process in CSR form; columns are those of the whole matrix. */
typedef struct {
  int start[ROWS + 1];
  int column[ROWS * IN_A_ROW];
  double value[ROWS * IN_A_ROW];
} matrix_t;

/* Each row has its diagonal and two entries elsewhere. */
static void make_rows(matrix_t *matrix, int me, int nproc)
{
  const int all = ROWS * nproc;
  int next = 0;

  for (int row = 0; row < ROWS; row++) {
    const int global = me * ROWS + row;
    const int columns[IN_A_ROW] = {global, (global + ROWS + row) % all, (7 * global + 3) % all};
    matrix->start[row] = next;
    for (int i = 0; i < IN_A_ROW; i++) {
      int known = 0;
      for (int k = matrix->start[row]; k < next; k++)
        known |= matrix->column[k] == columns[i];
      if (known)
        continue;
      matrix->column[next] = columns[i];
      matrix->value[next] = i == 0 ? 0.5 : 0.25;
      next++;
    }
  }
  matrix->start[ROWS] = next;
}

int main(int argc, char *argv[])
{
  static matrix_t matrix;
  static double y[ROWS];
  void *of[MOST_PROCESSES];
  int me, nproc;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);
  ARMCI_Init();
  if (nproc > MOST_PROCESSES)
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  ARMCI_Malloc(of, ROWS * sizeof(double));
  double *const x = of[me];
  double *const entries = ARMCI_Malloc_local(ROWS * IN_A_ROW * sizeof(double));

  make_rows(&matrix, me, nproc);
  for (int row = 0; row < ROWS; row++)
    x[row] = me == 0 ? 1.0 : 0.0;
  ARMCI_Barrier();

  for (int round = 0; round < ROUNDS; round++) {
    for (int k = 0; k < matrix.start[ROWS]; k++) {
      const int owner = matrix.column[k] / ROWS;
      double *const remote = (double *) of[owner] + matrix.column[k] % ROWS;
      ARMCI_NbGet(remote, &entries[k], sizeof(double), owner, NULL);
    }
    for (int row = 0; row < ROWS; row++) {
      y[row] = 0.0;
      for (int k = matrix.start[row]; k < matrix.start[row + 1]; k++)
        y[row] += matrix.value[k] * entries[k];
    }
    ARMCI_Barrier();
    for (int row = 0; row < ROWS; row++)
      x[row] = y[row];
    ARMCI_Barrier();
  }

  double sum = 0.0;
  for (int row = 0; row < ROWS; row++)
    sum += x[row];
  printf("process %d: %g\n", me, sum);
  ARMCI_Free_local(entries);
  ARMCI_Free(of[me]);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
