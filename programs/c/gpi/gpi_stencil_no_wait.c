// expect: not robust
// nodes: 4
// races: 1 pair
// The stencil of gpi_stencil.c without the wait before the barrier, which completes nothing: load of a ghost cell ->
// write -> barrierGPI -> load.
#include <GPI.h>
#include <assert.h>
#include <stdlib.h>

#define CELLS 2 /* of each rank, without the ghost cells */
#define STEPS 2
#define ROW (CELLS + 2)

static int rank, num;
static int *field; /* two rows that take turns: [ghost, cells ..., ghost] */

static unsigned long offset_of(int row, int cell)
{
  return (row * ROW + cell) * sizeof(int);
}

static void send_border(int neighbour, int row, int from, int to)
{
  if (neighbour < 0 || neighbour >= num)
    return;
  if (writeDmaGPI(offset_of(row, from), offset_of(row, to), sizeof(int), neighbour, GPIQueue0) != 0)
    exit(EXIT_FAILURE);
}

static void exchange(int row)
{
  send_border(rank - 1, row, 1, CELLS + 1);
  send_border(rank + 1, row, CELLS, 0);
  barrierGPI();
}

static void relax(int row)
{
  const int *old = field + row * ROW;
  int *new = field + (1 - row) * ROW;
  for (int i = 1; i <= CELLS; i++)
    new[i] = (old[i - 1] + 2 * old[i] + old[i + 1]) / 4;
}

int main(int argc, char *argv[])
{
  if (startGPI(argc, argv, "", 2 * ROW * sizeof(int)) != 0)
    exit(EXIT_FAILURE);
  rank = getRankGPI();
  num = getNodeCountGPI();
  field = getDmaMemPtrGPI();

  for (int i = 1; i <= CELLS; i++)
    field[i] = 16 * (rank + 1);
  for (int step = 0; step < STEPS; step++) {
    const int row = step % 2;
    exchange(row);
    relax(row);
    if (rank == 0)
      gpi_printf("step %d\n", step);
  }
  barrierGPI();
  gpi_printf("rank %d: %d %d\n", rank, field[(STEPS % 2) * ROW + 1], field[(STEPS % 2) * ROW + CELLS]);
  shutdownGPI();
  return EXIT_SUCCESS;
}
