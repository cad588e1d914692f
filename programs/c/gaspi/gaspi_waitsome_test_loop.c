// expect: robust
// nodes: 2
// races: none
// Both ranks ask for the notification until it is there. An answer that it is not depends on nothing, and the slot is set
// after the data: write -> notification -> waitsome -> load.
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
  const gaspi_rank_t peer = (rank + 1) % num;

  gaspi_notification_id_t id;
  gaspi_notification_t value;
  gaspi_return_t answer;
  cells[0] = 10 + rank;
  SUCCESS_OR_DIE(gaspi_write_notify(0, 0, peer, 0, sizeof(int), sizeof(int), 0, 1, 0, GASPI_BLOCK));
  do {
    answer = gaspi_notify_waitsome(0, 0, 1, &id, GASPI_TEST);
  } while (answer == GASPI_TIMEOUT);
  SUCCESS_OR_DIE(answer);
  SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
  printf("%d: %d\n", rank, cells[1]);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
