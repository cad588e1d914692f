// expect: robust
// nodes: 2
// races: none
// Where people go wrong, 9, repaired: both sides reset the slot they have waited for. Every acknowledgement is for the
// latest item, so items do not meet: write -> waitsome -> load -> acknowledgement -> next write.
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
  gaspi_notification_id_t id;
  gaspi_notification_t value;

  for (int i = 0; i < 3; i++) {
    if (rank == 0) {
      if (i > 0) {
        SUCCESS_OR_DIE(gaspi_notify_waitsome(0, 1, 1, &id, GASPI_BLOCK));
        SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
      }
      cells[0] = i + 1;
      SUCCESS_OR_DIE(gaspi_write_notify(0, 0, 1, 0, sizeof(int), sizeof(int), 0, 1, 0, GASPI_BLOCK));
      SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
    } else {
      SUCCESS_OR_DIE(gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK));
      SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
      printf("item %d\n", cells[1]);
      SUCCESS_OR_DIE(gaspi_notify(0, 0, 1, 1, 0, GASPI_BLOCK));
    }
  }

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
