// expect: not robust
// nodes: 2
// races: 1 pair
// The source of a write is read some time after the call. Here it is changed before it has been waited for: store of 2
// -> write by the conflict on the source, write -> store by program order.
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
  const gaspi_rank_t right = (rank + 1) % num, left = (rank + num - 1) % num;

  gaspi_notification_id_t id;
  cells[0] = 1;
  SUCCESS_OR_DIE(gaspi_write_notify(0, 0, right, 0, sizeof(int), sizeof(int), 0, 1, 0, GASPI_BLOCK));
  cells[0] = 2;
  SUCCESS_OR_DIE(gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK));
  assert(cells[1] == 1 && left < num);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
