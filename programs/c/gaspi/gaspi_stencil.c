// expect: robust
// nodes: 4
// races: none
// A one-dimensional stencil with two rows that take turns: borders go to the neighbours' ghost cells with a
// notification each. A rank sends the border of step s + 1 only after both borders of step s have come, so its
// neighbours have left step s - 1, whose row it writes.
#include <GASPI.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SUCCESS_OR_DIE(call) \
  do { \
    const gaspi_return_t result = (call); \
    if (result != GASPI_SUCCESS) { \
      fprintf(stderr, "%s failed: %i [%s:%i]\n", #call, result, __FILE__, __LINE__); \
      exit(EXIT_FAILURE); \
    } \
  } while (0)

#define CELLS 1 /* of each rank, without the ghost cells */
#define STEPS 3
#define ROW (CELLS + 2)

enum { FROM_LEFT = 0, FROM_RIGHT = 1, NOTIFICATIONS = 2 };

static gaspi_rank_t rank, num;
static int *field; /* two rows that take turns: [ghost, cells ..., ghost] */

static gaspi_offset_t offset_of(int row, int cell)
{
  return (row * ROW + cell) * sizeof(int);
}

/* Before a queue would overflow it is waited for. */
static void wait_if_queue_full(gaspi_queue_id_t queue, gaspi_number_t requests)
{
  gaspi_number_t size, max;
  SUCCESS_OR_DIE(gaspi_queue_size_max(&max));
  SUCCESS_OR_DIE(gaspi_queue_size(queue, &size));
  if (size + requests > max)
    SUCCESS_OR_DIE(gaspi_wait(queue, GASPI_BLOCK));
}

/* Send the cell at one end of `row` to the ghost cell of a neighbour. */
static void send_border(gaspi_rank_t neighbour, int row, int from, int to, int side)
{
  const gaspi_queue_id_t queue = 0;
  const gaspi_notification_id_t id = row * NOTIFICATIONS + side;
  wait_if_queue_full(queue, 2);
  SUCCESS_OR_DIE(gaspi_write_notify(0, offset_of(row, from), neighbour, 0, offset_of(row, to), sizeof(int),
                                    id, 1, queue, GASPI_BLOCK));
}

static void receive_border(int row, int side)
{
  const gaspi_notification_id_t expected = row * NOTIFICATIONS + side;
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  SUCCESS_OR_DIE(gaspi_notify_waitsome(0, expected, 1, &id, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
  assert(id == expected && value == 1);
}

static void exchange(int row)
{
  if (rank > 0)
    send_border(rank - 1, row, 1, CELLS + 1, FROM_RIGHT);
  if (rank < num - 1)
    send_border(rank + 1, row, CELLS, 0, FROM_LEFT);
  if (rank > 0)
    receive_border(row, FROM_LEFT);
  if (rank < num - 1)
    receive_border(row, FROM_RIGHT);
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
  gaspi_pointer_t base;
  int sum = 0;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, 2 * ROW * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  field = base;

  for (int i = 1; i <= CELLS; i++)
    field[i] = 16 * (rank + 1);
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));

  for (int step = 0; step < STEPS; step++) {
    const int row = step % 2;
    exchange(row);
    relax(row);
    if (rank == 0)
      gaspi_printf("step %d\n", step);
  }

  SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
  for (int i = 1; i <= CELLS; i++)
    sum += field[(STEPS % 2) * ROW + i];
  printf("rank %d: %d\n", rank, sum);
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
