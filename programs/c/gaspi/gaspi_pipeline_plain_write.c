// expect: not robust
// nodes: 3
// races: 1 pair
// The pipeline of gaspi_pipeline.c with data and notification in two queues. gaspi_wait between them is local, so the
// row may come after its notification: load -> write -> gaspi_notify -> waitsome -> load.
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

#define ROWS 3

int main(int argc, char *argv[])
{
  gaspi_rank_t rank, num;
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, 2 * ROWS * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  int *cells = base;

  /* Row by row the ranks add their own number to what comes from the left. */
  for (int row = 0; row < ROWS; row++) {
    if (rank > 0) {
      gaspi_notification_id_t id;
      gaspi_notification_t value;
      SUCCESS_OR_DIE(gaspi_notify_waitsome(0, row, 1, &id, GASPI_BLOCK));
      SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
    }
    cells[ROWS + row] = cells[row] + rank + 1;
    if (rank < num - 1) {
      SUCCESS_OR_DIE(gaspi_write(0, (ROWS + row) * sizeof(int), rank + 1, 0, row * sizeof(int), sizeof(int), 0,
                                 GASPI_BLOCK));
      SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
      SUCCESS_OR_DIE(gaspi_notify(0, rank + 1, row, 1, 1, GASPI_BLOCK));
    }
  }
  if (rank == num - 1)
    for (int row = 0; row < ROWS; row++)
      assert(cells[ROWS + row] == num * (num + 1) / 2);
  SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
