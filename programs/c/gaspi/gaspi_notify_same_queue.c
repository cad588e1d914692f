// expect: robust
// nodes: 2
// races: none
// Where people go wrong, 7, repaired: the notification is in the queue of the write, to the same rank, and so comes
// after it, both elements. write -> notification -> waitsome -> load.
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

int main(int argc, char *argv[])
{
  gaspi_rank_t rank, num;
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, 8 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  int *cells = base;

  if (rank == 0) {
    cells[0] = 1;
    cells[1] = 2;
    SUCCESS_OR_DIE(gaspi_write(0, 0, 1, 0, 2 * sizeof(int), 2 * sizeof(int), 0, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_notify(0, 1, 0, 1, 0, GASPI_BLOCK));
  } else {
    gaspi_notification_id_t id;
    gaspi_notification_t value;
    SUCCESS_OR_DIE(gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
    assert(cells[2] == 1 && cells[3] == 2);
  }

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
