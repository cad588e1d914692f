// expect: robust
// nodes: 2
// races: none
// Every rank writes one element of its row to every rank with a notification of its own, and takes them as they come.
// Notifications come after their payload; no cell is written twice.
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
  SUCCESS_OR_DIE(gaspi_segment_create(0, 2 * num * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  int *row = base;

  for (int i = 0; i < num; i++)
    row[i] = 10 * rank + i;
  for (int i = 0; i < num; i++)
    SUCCESS_OR_DIE(gaspi_write_notify(0, i * sizeof(int), i, 0, (num + rank) * sizeof(int), sizeof(int), rank, 1,
                                      0, GASPI_BLOCK));
  for (int n = 0; n < num; n++) {
    gaspi_notification_id_t id;
    gaspi_notification_t value;
    SUCCESS_OR_DIE(gaspi_notify_waitsome(0, 0, num, &id, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_notify_reset(0, id, &value));
    assert(row[num + id] == 10 * id + rank);
  }
  SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
