// expect: robust
// nodes: 3
// races: none
// Ranks 0 and 1 form a group, notify each other and meet in its barrier; rank 2 goes its own way. What is loaded after
// the barrier was stored before it: store -> barrier -> read -> load.
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

  if (rank < 2) {
    gaspi_group_t pair;
    int sum, mine = rank + 1;
    SUCCESS_OR_DIE(gaspi_group_create(&pair));
    SUCCESS_OR_DIE(gaspi_group_add(pair, 0));
    SUCCESS_OR_DIE(gaspi_group_add(pair, 1));
    SUCCESS_OR_DIE(gaspi_group_commit(pair, GASPI_BLOCK));
    cells[0] = mine;
    SUCCESS_OR_DIE(gaspi_barrier(pair, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_read(0, sizeof(int), 1 - rank, 0, 0, sizeof(int), 0, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));
    SUCCESS_OR_DIE(gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, pair, GASPI_BLOCK));
    assert(cells[0] + cells[1] == 3 && sum == 3);
    SUCCESS_OR_DIE(gaspi_group_delete(pair));
  }

  SUCCESS_OR_DIE(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
