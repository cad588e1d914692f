// expect: robust
// nodes: 2
// races: none
// Where people go wrong, 6, repaired: both pieces are the payload of one gaspi_write_list_notify. write -> notification
// -> waitsome -> load for each of them.
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
    gaspi_segment_id_t from[2] = {0, 0}, to[2] = {0, 0};
    gaspi_offset_t source[2] = {0, sizeof(int)}, target[2] = {2 * sizeof(int), 3 * sizeof(int)};
    gaspi_size_t size[2] = {sizeof(int), sizeof(int)};
    cells[0] = 1;
    cells[1] = 2;
    SUCCESS_OR_DIE(gaspi_write_list_notify(2, from, source, 1, to, target, size, 0, 0, 1, 0, GASPI_BLOCK));
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
