// expect: robust
// nodes: 4
// races: none
// A one-dimensional stencil with two rows that take turns. Borders are complete on the other side before the barrier of
// their step; the row of step s is written again in step s + 2, after another barrier.
#include <armci.h>
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 2 /* of each process, without the ghost cells */
#define STEPS 2
#define ROW (CELLS + 2)

static int me, nproc;
static int **base; /* two rows of every process that take turns: [ghost, cells ..., ghost] */

static int *cell_of(int process, int row, int cell)
{
  return base[process] + row * ROW + cell;
}

/* Start to send the cell at one end of `row` to the ghost cell of a neighbour. */
static void send_border(int neighbour, int row, int from, int to, armci_hdl_t *handle)
{
  ARMCI_INIT_HANDLE(handle);
  if (ARMCI_NbPut(cell_of(me, row, from), cell_of(neighbour, row, to), sizeof(int), neighbour, handle) != 0)
    ARMCI_Error("put failed", row);
}

static void exchange(int row)
{
  armci_hdl_t handles[2];
  int sent = 0;
  if (me > 0)
    send_border(me - 1, row, 1, CELLS + 1, &handles[sent++]);
  if (me < nproc - 1)
    send_border(me + 1, row, CELLS, 0, &handles[sent++]);
  for (int i = 0; i < sent; i++)
    ARMCI_Wait(&handles[i]);
  ARMCI_AllFence();
  armci_msg_barrier();
}

static void relax(int row)
{
  for (int i = 1; i <= CELLS; i++) {
    const int left = *cell_of(me, row, i - 1), here = *cell_of(me, row, i), right = *cell_of(me, row, i + 1);
    *cell_of(me, 1 - row, i) = (left + 2 * here + right) / 4;
  }
}

static void check(int status, const char *what)
{
  if (status != 0) {
    fprintf(stderr, "%s failed with %d\n", what, status);
    ARMCI_Error("giving up", status);
  }
}

/* Process 0 collects what the others have with blocking gets. */
static void report(int row)
{
  if (me != 0)
    return;
  int sum = 0;
  for (int process = 0; process < nproc; process++) {
    int values[CELLS];
    check(ARMCI_Get(cell_of(process, row, 1), values, sizeof values, process), "ARMCI_Get");
    for (int i = 0; i < CELLS; i++)
      sum += values[i];
  }
  printf("%d cells, sum %d\n", nproc * CELLS, sum);
}

int main(int argc, char *argv[])
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);
  check(ARMCI_Init(), "ARMCI_Init");
  base = malloc(nproc * sizeof *base);
  check(ARMCI_Malloc((void **) base, 2 * ROW * sizeof(int)), "ARMCI_Malloc");

  for (int i = 1; i <= CELLS; i++)
    *cell_of(me, 0, i) = 16 * (me + 1);

  for (int step = 0; step < STEPS; step++) {
    const int row = step % 2;
    exchange(row);
    relax(row);
    if (me == 0)
      printf("step %d\n", step);
  }

  armci_msg_barrier();
  report(STEPS % 2);
  armci_msg_barrier();

  check(ARMCI_Free(base[me]), "ARMCI_Free");
  free(base);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
