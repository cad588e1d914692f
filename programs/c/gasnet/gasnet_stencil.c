// expect: robust
// nodes: 4
// races: none
// A one-dimensional stencil with two rows that take turns. Borders have arrived before the barrier of their step; the
// row of step s is written again in step s + 2, after another barrier.
#include <gasnet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SAFE(call) \
  do { \
    const int status = (call); \
    if (status != GASNET_OK) { \
      fprintf(stderr, "%s failed with %d\n", #call, status); \
      gasnet_exit(1); \
    } \
  } while (0)

#define CELLS 2 /* of each rank, without the ghost cells */
#define STEPS 2
#define ROW (CELLS + 2)

static gasnet_node_t me, nodes;
static gasnet_seginfo_t *segments;
/* In each segment two rows that take turns: [ghost, cells ..., ghost]. */

static int *cell_of(gasnet_node_t node, int row, int cell)
{
  return (int *) segments[node].addr + row * ROW + cell;
}

static void barrier(void)
{
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}

/* Start to send the cell at one end of `row` to the ghost cell of a neighbour. */
static gasnet_handle_t send_border(gasnet_node_t neighbour, int row, int from, int to)
{
  return gasnet_put_nb_bulk(neighbour, cell_of(neighbour, row, to), cell_of(me, row, from), sizeof(int));
}

static void exchange(int row)
{
  gasnet_handle_t handles[2] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  if (me > 0)
    handles[0] = send_border(me - 1, row, 1, CELLS + 1);
  if (me < nodes - 1)
    handles[1] = send_border(me + 1, row, CELLS, 0);
  gasnet_wait_syncnb_all(handles, 2);
  barrier();
}

static void relax(int row)
{
  for (int i = 1; i <= CELLS; i++) {
    const int left = *cell_of(me, row, i - 1), here = *cell_of(me, row, i), right = *cell_of(me, row, i + 1);
    *cell_of(me, 1 - row, i) = (left + 2 * here + right) / 4;
  }
}

/* Rank 0 collects what the others have with implicit gets. */
static void report(int row)
{
  int sum = 0;
  if (me != 0)
    return;
  for (gasnet_node_t node = 0; node < nodes; node++) {
    int values[CELLS];
    gasnet_get_nbi_bulk(values, node, cell_of(node, row, 1), CELLS * sizeof(int));
    gasnet_wait_syncnbi_gets();
    for (int i = 0; i < CELLS; i++)
      sum += values[i];
  }
  printf("%d cells, sum %d\n", (int) nodes * CELLS, sum);
}

int main(int argc, char *argv[])
{
  SAFE(gasnet_init(&argc, &argv));
  SAFE(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0));
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  if (gasnet_getMaxLocalSegmentSize() < 2 * ROW * sizeof(int))
    gasnet_exit(1);
  segments = malloc(nodes * sizeof *segments);
  SAFE(gasnet_getSegmentInfo(segments, nodes));

  for (int i = 1; i <= CELLS; i++)
    *cell_of(me, 0, i) = 16 * (me + 1);

  for (int step = 0; step < STEPS; step++) {
    const int row = step % 2;
    exchange(row);
    relax(row);
    if (me == 0)
      printf("step %d\n", step);
  }

  barrier();
  report(STEPS % 2);
  barrier();
  gasnet_exit(0);
  return 0;
}
