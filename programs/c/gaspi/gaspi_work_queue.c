// expect: robust
// nodes: 2
// races: none
// Ranks draw task numbers from a counter on rank 0 and read the task from there. Tasks do not change, each read is
// waited for, and results are added by atomics.
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

#define TASKS 2

int main(int argc, char *argv[])
{
  gaspi_rank_t rank, num;
  gaspi_pointer_t base;

  SUCCESS_OR_DIE(gaspi_proc_init(GASPI_BLOCK));
  SUCCESS_OR_DIE(gaspi_proc_rank(&rank));
  SUCCESS_OR_DIE(gaspi_proc_num(&num));
  SUCCESS_OR_DIE(gaspi_segment_create(0, (3 + TASKS) * sizeof(gaspi_atomic_value_t),
                                      GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  SUCCESS_OR_DIE(gaspi_segment_ptr(0, &base));
  gaspi_atomic_value_t *cells = base;

  if (rank == 0)
    for (int i = 0; i < TASKS; i++)
      cells[2 + i] = 10 * (i + 1);
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (;;) {
    gaspi_atomic_value_t task, sum;
    SUCCESS_OR_DIE(gaspi_atomic_fetch_add(0, 0, 0, 1, &task, GASPI_BLOCK));
    if (task >= TASKS)
      break;
    for (int i = 0; i < TASKS; i++)
      if (task == i) {
        SUCCESS_OR_DIE(gaspi_read(0, 8 * (2 + TASKS), 0, 0, 8 * (2 + i), 8, 0, GASPI_BLOCK));
        SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
        SUCCESS_OR_DIE(gaspi_atomic_fetch_add(0, 8, 0, cells[2 + TASKS], &sum, GASPI_BLOCK));
      }
  }
  SUCCESS_OR_DIE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  assert(rank > 0 || cells[1] == 30);

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
